r"""Vectors as small codes, of eight bits or of one bit a number.

.. math:: d \approx o + A (s \odot c), \quad
          q^\top d \approx q^\top o + (A^\top q \odot s)^\top c

Offset :math:`o`, axes :math:`A` and scale :math:`s` are the same for all vectors, so
what they do to a product is done to the query alone::

    int8        c in -127 .. 127    o the middle of the numbers there are, s their
                                    width, a number for each dimension (A = 1)
    principal   c in -127 .. 127    the same along half as many axes, those in which
                                    vectors differ most
    binary      c in 0, 1           whether a number is above the mean; o and s from
                                    the mean and the mean distance from it (A = 1)

A product of codes is one of integers: the query is rounded to eight bits as well, and
its scale is applied to the result.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
import torch
from torch import Tensor

CodeType: TypeAlias = Literal["int8", "principal", "binary"]

_LARGEST = 127
_MIDDLE = 0.5
_AT_ONCE = 1 << 16
"""Vectors looked at together."""
_SMALLEST = 1e-12
"""Scale of a dimension in which all vectors are equal."""


class QueryCodes(NamedTuple):
    """Query vectors, ready to be multiplied with codes."""

    codes: Tensor
    """(t, m) int8"""
    scale: Tensor
    """(t,) what a product of codes counts"""
    base: Tensor
    """(t,) product with the offset"""
    loss: Tensor
    """(t,) length of what was rounded off: a product with a code is off by at most
    that times the length of the code"""


class Codec(NamedTuple):
    """How vectors become codes, and what that costs."""

    kind: CodeType
    offset: Tensor
    scale: Tensor
    axes: Tensor | None = None
    """(k, m) of length 1; ``None``: the dimensions themselves"""

    @classmethod
    def fit(cls, vectors: Tensor, kind: CodeType) -> Codec:
        """Find offset and scale of some vectors; they may be mapped from a file."""
        parts = vectors.split(_AT_ONCE)
        if kind == "int8":
            middle, width = _fit_range(parts)
            return cls(kind, middle, width)
        if kind == "principal":
            # Some are enough for that; what lies farther out is rounded inwards.
            some = vectors[:: -(-len(vectors) // _AT_ONCE)].float()
            mean, axes = _fit_axes(some)
            middle, width = _fit_range([(some - mean) @ axes])
            return cls(kind, mean + axes @ middle, width, axes)
        zero = torch.zeros(vectors.shape[1], dtype=torch.float64)
        mean = sum((p.double().sum(0) for p in parts), zero) / len(vectors)
        apart = sum(((p - mean).abs().sum(0) for p in parts), zero) / len(vectors)
        spread = apart.float().clamp(min=_SMALLEST)
        return cls(kind, mean.float() - spread, 2 * spread)

    def encode(self, vectors: Tensor) -> Tensor:
        """(P, m) int8 codes, or (P, ceil(k / 8)) uint8 with a bit for each."""
        scaled = self._turn(vectors.float() - self.offset) / self.scale
        if self.kind != "binary":
            return scaled.round_().clamp_(-_LARGEST, _LARGEST).to(torch.int8)
        return torch.from_numpy(np.packbits((scaled > _MIDDLE).numpy(), axis=1))

    def unpack(self, stored: Tensor) -> Tensor:
        """(P, m) int8 codes as they are multiplied."""
        if self.kind != "binary":
            return stored
        bits = np.unpackbits(stored.numpy(), axis=1, count=len(self.scale))
        return torch.from_numpy(bits.view(np.int8))

    def decode(self, codes: Tensor) -> Tensor:
        """(P, k) the vectors that unpacked codes stand for."""
        scaled = self.scale * codes
        return self.offset + (scaled if self.axes is None else scaled @ self.axes.T)

    def encode_queries(self, queries: Tensor) -> QueryCodes:
        """Round (t, k) query vectors, with the scale of the codes in them."""
        queries = queries.float()
        folded = self._turn(queries) * self.scale
        scale = folded.abs().amax(1).clamp(min=_SMALLEST) / _LARGEST
        codes = (folded / scale[:, None]).round()
        loss = (folded - scale[:, None] * codes).norm(dim=1)
        return QueryCodes(codes.to(torch.int8), scale, queries @ self.offset, loss)

    def _turn(self, vectors: Tensor) -> Tensor:
        """(P, m) numbers along the axes."""
        return vectors if self.axes is None else vectors @ self.axes


def _fit_range(parts: Sequence[Tensor]) -> tuple[Tensor, Tensor]:
    """(m,) the middle of the numbers of each dimension, and what a code counts."""
    low = torch.stack([p.amin(0) for p in parts]).amin(0).float()
    high = torch.stack([p.amax(0) for p in parts]).amax(0).float()
    width = (high - low) / (2 * _LARGEST)
    return (low + high) / 2, width.clamp(min=_SMALLEST)


def _fit_axes(vectors: Tensor) -> tuple[Tensor, Tensor]:
    """(k,) the mean, and (k, ceil(k / 2)) the main eigenvectors of the covariance."""
    mean = vectors.mean(0)
    centred = vectors - mean
    _, axes = torch.linalg.eigh(centred.T @ centred)  # in the order of rising values
    return mean, axes.flip(1)[:, : (vectors.shape[1] + 1) // 2].contiguous()
