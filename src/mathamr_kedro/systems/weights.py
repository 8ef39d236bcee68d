"""Weights of systems in files: arrays with a checksum, text encoders in folders."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from torch import nn

from mathamr_kedro.base.arrays import read_arrays, write_arrays
from mathamr_kedro.base.checksums import check_file, replace_checked_file
from mathamr_kedro.base.errors import (
    ConfigurationError,
    MalformedInputError,
    MissingInputError,
)


def save_weights(module: nn.Module, path: Path, half: bool = False) -> None:
    """Write the weights of a module, with ``half`` in half precision."""
    state = {name: value.detach().cpu() for name, value in module.state_dict().items()}
    kept = {name: v.half() if half else v for name, v in state.items()}
    with replace_checked_file(path) as part:
        write_arrays(part, {name: value.numpy() for name, value in kept.items()})


def load_weights(module: nn.Module, path: Path) -> None:
    """Fill a module with the weights of a file."""
    if not path.is_file():
        raise MissingInputError(
            f"Expected {path.name} in {str(path.parent)!r}; run the stage 'training'"
        )
    check_file(path, f"delete {str(path.parents[1])!r} and train again")
    arrays = read_arrays(path)
    module.load_state_dict({name: torch.from_numpy(v) for name, v in arrays.items()})


def autocast(device: torch.device) -> torch.autocast:
    """Compute products in bfloat16 on a GPU, and as ever on a CPU."""
    return torch.autocast(device.type, torch.bfloat16, device.type == "cuda")


class Transformer(nn.Module):
    """A model and its tokenizer, for systems that train or read single tokens.

    Raises:
        ConfigurationError: the package transformers is missing.
        MalformedInputError: the folder holds no such model.
    """

    def __init__(self, folder: Path) -> None:
        super().__init__()
        try:  # takes seconds, and is an extra
            from transformers import AutoModel, AutoTokenizer  # noqa: PLC0415
            from transformers.utils.logging import (  # noqa: PLC0415
                disable_progress_bar,
            )
        except ImportError as exc:
            raise ConfigurationError(
                'Expected the package transformers; pip install "mathamr-kedro[text]"'
            ) from exc
        disable_progress_bar()
        try:
            self.tokenizer: Any = AutoTokenizer.from_pretrained(
                folder, local_files_only=True
            )
            # in single precision, whatever the file has: half is for storage
            self.model: Any = AutoModel.from_pretrained(
                folder, local_files_only=True, dtype=torch.float32
            )
        except (OSError, ValueError, KeyError) as exc:
            raise MalformedInputError(
                f"Expected a text model in {str(folder)!r} ({exc})"
            ) from exc
        self.width = int(self.model.config.hidden_size)

    @property
    def device(self) -> torch.device:
        """The device that computes."""
        found: torch.device = self.model.device
        return found

    def save(self, folder: Path) -> None:
        """Write the model in half precision, for this class and for other tools."""
        state = {
            name: value.half() if value.is_floating_point() else value
            for name, value in self.model.state_dict().items()
        }
        self.model.save_pretrained(folder, state_dict=state)
        self.tokenizer.save_pretrained(folder)
