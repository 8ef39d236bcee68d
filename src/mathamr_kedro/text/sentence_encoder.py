"""Texts to vectors by a sentence encoder (package sentence-transformers)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812
from numpy.typing import NDArray

from mathamr_kedro.base.checksums import check_folder
from mathamr_kedro.base.errors import ConfigurationError, MalformedInputError
from mathamr_kedro.text.models import EXTRA, find_base

_BATCH = {"cpu": 32, "cuda": 512}
"""Texts that are encoded together, by device."""


class SentenceEncoder:
    """Texts to vectors of length 1, by a model in a folder.

    It computes in bfloat16 if the machine has matrix units for it: twice as fast on two
    cores, and cosines change by less than 0.01.
    """

    def __init__(self, folder: Path, device: str | None = None) -> None:
        device = device or ("cuda" if torch.cuda.is_available() else "cpu")
        self._model = load_model(folder, device)
        if has_matrix_units(device):
            self._model.bfloat16()

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """(N, k) vectors of length 1; texts beyond the model's length are cut."""
        width = self._model.get_embedding_dimension()
        vectors = np.zeros((len(texts), width or 0), dtype=np.float32)
        for rows, found in self.encode_batches(texts):
            vectors[rows] = found
        return vectors

    def encode_batches(
        self, texts: Sequence[str]
    ) -> Iterator[tuple[NDArray[np.int64], NDArray[np.float32]]]:
        """Yield positions and vectors of batches of texts, the longest first.

        A batch has texts of similar length, so the order is not that of the texts.
        """
        order = np.argsort([-len(text) for text in texts], kind="stable")
        size = _BATCH.get(self._model.device.type, 32)
        for start in range(0, len(texts), 4 * size):
            rows = order[start : start + 4 * size]
            vectors = self._model.encode(
                [texts[row] for row in rows],
                batch_size=size,
                show_progress_bar=False,
                convert_to_tensor=True,
            )
            yield rows, F.normalize(vectors.float()).cpu().numpy()


def has_matrix_units(device: str | torch.device) -> bool:
    """Tell whether a machine multiplies matrices faster in bfloat16."""
    if torch.device(device).type == "cuda":
        return True
    # Older versions of torch do not say what the processor has.
    known: dict[str, Any] = getattr(torch.cpu, "get_capabilities", dict)()
    return bool(known.get("amx_bf16"))


def load_model(folder: Path, device: str = "cpu") -> Any:
    """Return a model of sentence-transformers, in single precision.

    Args:
        folder: a model in its format, or of transformers (then the mean of the last
            states of its tokens is taken), or low-rank adapters of one in the format
            of peft, which are added to its weights.
        device: where to compute.

    Raises:
        ConfigurationError: a package is missing.
        MissingInputError: the model that adapters belong to is missing.
        MalformedInputError: the folder holds no such model.
    """
    try:  # takes seconds, and is an extra
        from sentence_transformers import SentenceTransformer  # noqa: PLC0415
        from transformers.utils.logging import (  # noqa: PLC0415
            disable_progress_bar,
        )
    except ImportError as exc:
        raise ConfigurationError(
            f"Expected the package sentence-transformers; {EXTRA}"
        ) from exc
    disable_progress_bar()
    base = find_base(folder)
    try:
        model = SentenceTransformer(
            str(base or folder),
            device=device,
            local_files_only=True,
            # whatever the file has: half is for storage
            model_kwargs={"dtype": torch.float32},
        )
        if base is not None:
            _add_adapters(model, folder)
    except (OSError, ValueError, KeyError) as exc:
        raise MalformedInputError(
            f"Expected a text model in {str(folder)!r} ({exc})"
        ) from exc
    return model


def _add_adapters(model: Any, folder: Path) -> None:
    """Merge adapters into the weights of their model, so that they cost no time."""
    try:
        from peft.tuners.tuners_utils import BaseTunerLayer  # noqa: PLC0415
    except ImportError as exc:
        raise ConfigurationError(f"Expected the package peft; {EXTRA}") from exc
    check_folder(folder, "install the package, or train it, again", whole=True)
    model.load_adapter(str(folder))
    for layer in model.modules():
        if isinstance(layer, BaseTunerLayer):
            layer.merge()
