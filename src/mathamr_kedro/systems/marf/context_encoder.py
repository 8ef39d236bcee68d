"""The context encoder: any encoder of transformers, token by token (3.1).

::

    text  ──tokenizer──>  ids  ──model──>  states of tokens, of length 1 each
                                            └─> their mean, of length 1 (candidates)

Needs torch and transformers alone; sentence-transformers' own folders can be read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from mathamr_kedro.base.errors import ConfigurationError, MalformedInputError

_EXTRA = 'pip install "mathamr-kedro[text]"'


class ContextEncoder(nn.Module):
    """Texts to ids of tokens, and these to vectors.

    Args:
        folder: of a model of transformers, with its weights and its tokenizer.

    Raises:
        ConfigurationError: the package is missing.
        MalformedInputError: the folder holds no such model.
    """

    def __init__(self, folder: Path) -> None:
        super().__init__()
        # in single precision, whatever the file has: half is for storage
        self.model = _load("AutoModel", folder, dtype=torch.float32)
        self.width: int = self.model.config.hidden_size
        self._tokenizer = _load("AutoTokenizer", folder)

    def forward(self, ids: Tensor, is_real: Tensor) -> Tensor:
        """(B, L, width) last states of tokens; those filled up mean nothing."""
        states: Tensor = self.model(
            input_ids=ids, attention_mask=is_real.long()
        ).last_hidden_state
        return states

    def split(
        self, texts: Sequence[str], max_tokens: int
    ) -> Iterator[NDArray[np.int32]]:
        """Yield the ids of each text, with the marks that the model expects."""
        found = self._tokenizer(list(texts), truncation=True, max_length=max_tokens)
        for ids in found["input_ids"]:
            # a model without marks has no token for an empty text, and MaxSim needs one
            yield np.array(ids or [0], dtype=np.int32)

    def save(self, folder: Path) -> None:
        """Write the model in half precision, and go on with what was written."""
        self.model.to(torch.float16).save_pretrained(folder)
        self.model.to(torch.float32)
        self._tokenizer.save_pretrained(folder)


def _load(kind: str, folder: Path, **options: Any) -> Any:
    try:  # takes seconds, and is an extra
        import transformers  # noqa: PLC0415
    except ImportError as exc:
        raise ConfigurationError(
            f"Expected the package transformers; {_EXTRA}"
        ) from exc
    transformers.utils.logging.disable_progress_bar()
    try:
        loaded = getattr(transformers, kind).from_pretrained(
            str(folder), local_files_only=True, **options
        )
    except (OSError, ValueError, KeyError) as exc:
        raise MalformedInputError(
            f"Expected a text model in {str(folder)!r} ({exc})"
        ) from exc
    return loaded
