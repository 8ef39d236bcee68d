"""Weights of a system in a file of arrays (safetensors' format), with its checksum."""

from __future__ import annotations

from pathlib import Path

import torch
from torch import nn

from mathamr_kedro.base.arrays import read_arrays, write_arrays
from mathamr_kedro.base.checksums import check_file, replace_checked_file
from mathamr_kedro.base.errors import MissingInputError


def save_weights(module: nn.Module, path: Path, half: bool = False) -> None:
    """Write the weights of a module, with ``half`` in half precision."""
    state = {name: value.detach().cpu() for name, value in module.state_dict().items()}
    kept = {name: v.half() if half else v for name, v in state.items()}
    with replace_checked_file(path) as part:
        write_arrays(part, {name: value.numpy() for name, value in kept.items()})


def load_weights(module: nn.Module, path: Path) -> None:
    """Fill a module with the weights of a file.

    Raises:
        MissingInputError: there is no such file.
        DamagedFileError: it is not what was written.
    """
    if not path.is_file():
        raise MissingInputError(
            f"Expected {path.name} in {str(path.parent)!r}; run the stage 'training'"
        )
    check_file(path, f"delete {str(path.parents[1])!r} and train again")
    arrays = read_arrays(path)
    module.load_state_dict({name: torch.from_numpy(v) for name, v in arrays.items()})
