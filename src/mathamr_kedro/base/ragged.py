"""Vectors of posts or queries that have several each, without padding.

Three posts of three, one and two vectors::

    vectors          a0 a1 a2 b0 c0 c1        (P, k), one post after another
    ptr              0        3  4     6      (N + 1,) where each post starts
    columns["kind"]   0  1  2  2  0  2        what else is known of each vector

The arrays are all of NumPy or all of torch; the methods are the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Generic, TypeVar

import numpy as np
import torch
from numpy.typing import DTypeLike, NDArray
from torch import Tensor

from mathamr_kedro.base.errors import MalformedInputError

A = TypeVar("A", bound=Any)
"""``NDArray`` or ``Tensor``."""

_IN_CACHE = 4096
"""Rows that are computed at once in double precision."""


@dataclass(frozen=True, eq=False)
class RaggedVectors(Generic[A]):
    """Rows of several vectors each.

    Vectors before ``ptr[0]`` and from ``ptr[-1]`` on are spare and belong to no row;
    :meth:`join` expects none.
    """

    vectors: A
    ptr: A
    columns: Mapping[str, A] = field(default_factory=dict)

    @classmethod
    def of(cls, rows: Sequence[A]) -> RaggedVectors[A]:
        """Concatenate matrices, each a row.

        >>> RaggedVectors.of([np.eye(2), np.ones((1, 2))]).ptr.tolist()
        [0, 2, 3]
        """
        ends = np.cumsum([0] + [len(r) for r in rows], dtype=np.int64)
        vectors: Any = _concatenate(rows)
        ptr: Any = ends if isinstance(vectors, np.ndarray) else torch.from_numpy(ends)
        return cls(vectors, ptr)

    @classmethod
    def one_each(cls, vectors: A) -> RaggedVectors[A]:
        """Make a row of every vector."""
        return cls(vectors, _arange(len(vectors) + 1, vectors))

    @classmethod
    def join(cls, parts: Sequence[RaggedVectors[A]]) -> RaggedVectors[A]:
        """Concatenate rows; a single part is returned as it is."""
        first = parts[0]
        if len(parts) == 1:
            return first
        shifts = np.cumsum([0] + [len(p.vectors) for p in parts[:-1]]).tolist()
        moved = (p.ptr[1:] + s for p, s in zip(parts, shifts, strict=True))
        return cls(
            _concatenate([p.vectors for p in parts]),
            _concatenate([first.ptr[:1], *moved]),
            {
                name: _concatenate([p.columns[name] for p in parts])
                for name in first.columns
            },
        )

    def __len__(self) -> int:
        return len(self.ptr) - 1

    @property
    def lengths(self) -> A:
        """(N,) vectors of each row."""
        return self.ptr[1:] - self.ptr[:-1]

    @cached_property
    def host_ptr(self) -> NDArray[np.int64]:
        """``ptr`` in NumPy; kept by :meth:`to`, as copying it from a device blocks."""
        ptr = self.ptr
        return ptr if isinstance(ptr, np.ndarray) else ptr.cpu().numpy()

    @property
    def longest(self) -> int:
        """Vectors of the longest row."""
        return int(np.diff(self.host_ptr).max())

    def owners(self) -> A:
        """(P,) the row of each vector, if none is spare."""
        return _repeat(self.lengths)

    def to(
        self, device: torch.device | str, dtype: torch.dtype | None = None
    ) -> RaggedVectors[Tensor]:
        """Return tensors on a device, the vectors in another type if one is given."""
        moved = RaggedVectors(
            _as_tensor(self.vectors).to(device, dtype),
            _as_tensor(self.ptr).to(device),
            {name: _as_tensor(c).to(device) for name, c in self.columns.items()},
        )
        if "host_ptr" in self.__dict__ or _as_tensor(self.ptr).device.type == "cpu":
            moved.__dict__["host_ptr"] = self.host_ptr
        return moved

    def split(self, size: int) -> Iterator[RaggedVectors[A]]:
        """Yield the rows in batches of at most ``size``."""
        for start in range(0, len(self), size):
            yield self.slice(start, min(start + size, len(self)))

    def slice(self, start: int, stop: int) -> RaggedVectors[A]:
        """Return the rows from ``start`` to ``stop - 1``."""
        bounds = self.host_ptr[start : stop + 1]
        first, last = int(bounds[0]), int(bounds[-1])
        part = RaggedVectors(
            self.vectors[first:last],
            self.ptr[start : stop + 1] - first,
            {name: c[first:last] for name, c in self.columns.items()},
        )
        part.__dict__["host_ptr"] = bounds - first
        return part

    def take(self, rows: A) -> RaggedVectors[A]:
        """Return the rows at given places, in that order."""
        # Vector j of the result is vector ``start + (j - first)`` of its row, where
        # ``first`` is where the row starts in the result: its end less its length.
        starts = self.ptr[rows]
        lengths = self.ptr[rows + 1] - starts
        ends = lengths.cumsum(0)
        owner = _repeat(lengths)
        index = _arange(len(owner), owner) + (starts - ends + lengths)[owner]
        return RaggedVectors(
            self.vectors[index],
            _concatenate([_arange(1, ends), ends]),  # 0 first
            {name: column[index] for name, column in self.columns.items()},
        )

    def padded(self) -> tuple[Tensor, Tensor]:
        """(N, longest, k) tensors filled up with zeros, and which vectors are real."""
        vectors, ptr = _as_tensor(self.vectors), _as_tensor(self.ptr)
        place = torch.arange(self.longest, device=ptr.device)
        is_real = place < ptr.diff()[:, None]
        index = torch.where(is_real, ptr[:-1, None] + place, 0)
        return vectors[index].masked_fill(~is_real[..., None], 0.0), is_real


def _repeat(lengths: Any) -> Any:
    """0 as often as the first length says, 1 as often as the second, ..."""
    if isinstance(lengths, np.ndarray):
        return np.repeat(np.arange(len(lengths)), lengths)
    return torch.repeat_interleave(lengths)


def _arange(count: int, like: Any) -> Any:
    if isinstance(like, np.ndarray):
        return np.arange(count)
    return torch.arange(count, device=like.device)


def _concatenate(parts: Sequence[Any]) -> Any:
    if isinstance(parts[0], np.ndarray):
        return np.concatenate(parts)
    return torch.cat(list(parts))


def _as_tensor(array: Any) -> Tensor:
    return array if isinstance(array, Tensor) else torch.from_numpy(array)


def scale_to_length_one(
    vectors: NDArray[Any], dtype: DTypeLike = np.float32
) -> NDArray[Any]:
    """Divide each row of a matrix by its length, in double precision."""
    scaled = np.empty(vectors.shape, dtype)
    for a in range(0, len(vectors), _IN_CACHE):
        exact = np.asarray(vectors[a : a + _IN_CACHE], dtype=np.float64)
        lengths = np.sqrt(np.einsum("ij,ij->i", exact, exact))[:, None]
        bad = ~np.isfinite(lengths) | (lengths == 0)
        if bad.any():
            row = int(np.argmax(bad))
            raise MalformedInputError(
                f"Expected vectors with a direction (row {a + row} has length "
                f"{float(lengths.flat[row])!r})"
            )
        scaled[a : a + _IN_CACHE] = exact / lengths
    return scaled
