"""Vectors of the frozen encoders, computed once per shard and kept in half precision.

The fusion sees every post in every epoch; what the encoders say of it never changes.
Shards that are there are not computed again: a stopped training goes on.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812
from numpy.typing import NDArray
from torch import Tensor

from mathamr_kedro.base.arrays import Arrays, read_arrays, write_arrays
from mathamr_kedro.base.progress import report_progress
from mathamr_kedro.base.ragged import RaggedVectors
from mathamr_kedro.systems.marf.batches import encode_rows
from mathamr_kedro.systems.marf.context_encoder import ContextEncoder
from mathamr_kedro.systems.marf.formula_encoder import FormulaEncoder
from mathamr_kedro.systems.marf.post_shards import PostShards

_AT_ONCE = 128


class FrozenVectors:
    """Token vectors of the posts and formulas of prepared shards.

    Args:
        shards: posts as ids.
        folder: of the vectors.
        device: where those that are asked for go.
    """

    def __init__(self, shards: PostShards, folder: Path, device: torch.device) -> None:
        self._shards, self._folder, self._device = shards, folder, device

    @torch.no_grad()
    def write(self, context: ContextEncoder, formula: FormulaEncoder) -> None:
        """Compute what is not there yet."""
        self._folder.mkdir(exist_ok=True)
        numbers = range(len(self._shards.paths))
        for number in numbers:
            if self._path(number).is_file():
                continue
            arrays = self._shards.shard(number)
            text = _encode(context, arrays["text"], arrays["text_ptr"], scale=True)
            tokens = _encode(formula, arrays["formulas"], arrays["formula_ptr"])
            write_arrays(self._path(number), {"text": text, "formulas": tokens})

    def texts(self, rows: Sequence[int]) -> RaggedVectors[Tensor]:
        """Return the vectors of the tokens of posts, of length 1."""
        found = []
        for row in rows:
            shard, place = divmod(int(row), self._shards.posts_per_shard)
            start, end = self._shards.shard(shard)["text_ptr"][place : place + 2]
            found.append(self._vectors[shard]["text"][start:end])
        vectors = self._as_tensors(found)
        return RaggedVectors(F.normalize(vectors.vectors, dim=-1), vectors.ptr)

    def formulas(
        self, rows: Sequence[int], numbers: Sequence[int]
    ) -> RaggedVectors[Tensor]:
        """Return those of one formula of each post; none where it has no formula."""
        found = []
        for row, number in zip(rows, numbers, strict=True):
            shard, place = divmod(int(row), self._shards.posts_per_shard)
            arrays = self._shards.shard(shard)
            first, last = arrays["owners"][place : place + 2]
            start, end = 0, 0
            if first < last:
                start, end = arrays["formula_ptr"][first + number : first + number + 2]
            found.append(self._vectors[shard]["formulas"][start:end])
        return self._as_tensors(found)

    @cached_property
    def _vectors(self) -> list[Arrays]:
        return [read_arrays(self._path(n)) for n in range(len(self._shards.paths))]

    def _path(self, number: int) -> Path:
        return self._folder / f"vectors-{number:05d}.arrays"

    def _as_tensors(self, found: list[NDArray[np.float16]]) -> RaggedVectors[Tensor]:
        joined = RaggedVectors.of(found)
        return joined.to(self._device, torch.float32)


def _encode(
    encoder: ContextEncoder | FormulaEncoder,
    ids: NDArray[np.int32],
    ptr: NDArray[np.int64],
    scale: bool = False,
) -> NDArray[np.float16]:
    """Return the vectors of all rows of a shard, with ``scale`` of length 1."""
    rows = [ids[a:b] for a, b in pairwise(ptr)]
    parts = [np.zeros((0, encoder.width), dtype=np.float16)]
    starts = range(0, len(rows), _AT_ONCE)
    for start in report_progress(
        starts,
        "texts and formulas of a shard encoded",
        lambda a: min(_AT_ONCE, len(rows) - a),
        total=len(rows),
    ):
        found = encode_rows(encoder, rows[start : start + _AT_ONCE]).vectors
        found = F.normalize(found, dim=-1) if scale else found
        parts.append(found.half().cpu().numpy())
    return np.concatenate(parts)
