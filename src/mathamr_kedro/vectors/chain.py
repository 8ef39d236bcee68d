"""Vectors of several files as one collection, without a copy of them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from mathamr_kedro.base.ragged import RaggedVectors


class VectorChain:
    """Rows of one file behind those of another, without copying.

    Args:
        parts: of the files, as NumPy arrays, mapped or not.
    """

    def __init__(self, parts: Sequence[RaggedVectors[NDArray[Any]]]) -> None:
        self._parts = parts
        self._first = np.cumsum([0, *map(len, parts)])

    def __len__(self) -> int:
        return int(self._first[-1])

    def join(self) -> RaggedVectors[NDArray[Any]]:
        """Return all rows; those of several files are copied."""
        return RaggedVectors.join(self._parts)

    def take(self, rows: Tensor) -> RaggedVectors[Tensor]:
        """Return the rows at given places, in that order."""
        numbers = rows.numpy()
        owner = np.searchsorted(self._first, numbers, side="right") - 1
        order = np.argsort(owner, kind="stable")
        bounds = np.searchsorted(owner[order], np.arange(len(self._parts) + 1))
        taken = [
            part.take(numbers[order[a:b]] - first)
            for part, first, (a, b) in zip(
                self._parts, self._first.tolist(), pairwise(bounds), strict=False
            )
            if a < b
        ]
        if not taken:
            return self._parts[0].take(numbers).to("cpu")
        places = np.empty_like(order)
        places[order] = np.arange(len(order))
        return RaggedVectors.join(taken).take(places).to("cpu")
