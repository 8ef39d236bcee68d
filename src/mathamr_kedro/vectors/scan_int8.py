r"""MaxSim against every post of a collection by codes of eight bits, on a CPU.

.. math:: d \approx o + s \odot c, \quad
          q^\top d \approx q^\top o + (q \odot s)^\top c

Offset :math:`o`, the middle of the numbers of each dimension, and scale :math:`s`,
their width, are the same for all vectors, so what they do to a product is done to the
query only. A product of codes is one of integers: the query is rounded to eight bits
as well, and its scale is applied to the result.

The blocks are those of :mod:`~mathamr_kedro.vectors.scan_torch`, vector by vector::

    posts a (2 vectors), b (3)       rows   a0 b0 | a1 b1 | a1 b2

Codes take a fourth of the memory of single precision, and products of them less than a
third of the time if the processor has instructions for it (AVX-512 VNNI, AMX).
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from mathamr_kedro.base.ragged import RaggedVectors
from mathamr_kedro.vectors.scan_torch import (
    COLUMNS,
    TOKENS,
    BlockScanner,
    share_weights,
)

_LARGEST = 127
_AT_ONCE = 1 << 16
"""Vectors looked at together."""
_SMALLEST = 1e-12
"""Scale of a dimension in which all vectors are equal."""
_COLUMNS = 4 * COLUMNS
"""Vectors in a block: products of smaller ones take no longer than their calls do."""
_EVEN = 16
"""Query vectors in a multiple of this many take half the time of a few less."""


class QueryCodes(NamedTuple):
    """Query vectors, ready to be multiplied with codes."""

    codes: Tensor
    """(t, k) int8"""
    scale: Tensor
    """(t,) what a product of codes counts"""
    base: Tensor
    """(t,) product with the offset"""
    loss: Tensor
    """(t,) length of what was rounded off: a product with a code is off by at most
    that times the length of the code"""


class Codec(NamedTuple):
    """How vectors become codes."""

    offset: Tensor
    scale: Tensor

    @classmethod
    def fit(cls, vectors: Tensor) -> Codec:
        """Find offset and scale of some vectors; they may be mapped from a file."""
        parts = vectors.split(_AT_ONCE)
        low = torch.stack([p.amin(0) for p in parts]).amin(0).float()
        high = torch.stack([p.amax(0) for p in parts]).amax(0).float()
        width = (high - low) / (2 * _LARGEST)
        return cls((low + high) / 2, width.clamp(min=_SMALLEST))

    def encode(self, vectors: Tensor) -> Tensor:
        """(P, k) int8 codes."""
        scaled = (vectors.float() - self.offset) / self.scale
        return scaled.round_().clamp_(-_LARGEST, _LARGEST).to(torch.int8)

    def decode(self, codes: Tensor) -> Tensor:
        """(P, k) the vectors that codes encode."""
        return self.offset + self.scale * codes

    def encode_queries(self, queries: Tensor) -> QueryCodes:
        """Round (t, k) query vectors, with the scale of the codes in them."""
        queries = queries.float()
        folded = queries * self.scale
        scale = folded.abs().amax(1).clamp(min=_SMALLEST) / _LARGEST
        codes = (folded / scale[:, None]).round()
        loss = (folded - scale[:, None] * codes).norm(dim=1)
        return QueryCodes(codes.to(torch.int8), scale, queries @ self.offset, loss)


class Int8Scanner(BlockScanner):
    """Posts in blocks of codes."""

    def __init__(self, posts: RaggedVectors[Tensor], columns: int = _COLUMNS) -> None:
        self.codec = Codec.fit(posts.vectors)
        self._loss = self._longest = 0.0
        super().__init__(posts, columns)

    def _pack(self, vectors: Tensor) -> Tensor:
        stored = self.codec.encode(vectors)
        codes = stored.float()
        apart = (vectors - self.codec.decode(codes)).norm(dim=1)
        self._loss = max(self._loss, float(apart.max()))
        self._longest = max(self._longest, float(codes.norm(dim=1).max()))
        return stored

    def scan(self, queries: RaggedVectors[Tensor]) -> Tensor:
        """(Q, N) scores of all posts, in the order of :attr:`order`."""
        asked = self.codec.encode_queries(queries.vectors)
        shares = share_weights(queries)
        scores = (shares @ asked.base)[:, None].repeat(1, len(self.order))
        for codes, weights in zip(
            asked.codes.split(TOKENS),
            (shares * asked.scale).split(TOKENS, 1),
            strict=True,
        ):
            best = self._find_best(_fill_up(codes))
            scores.addmm_(weights, best[:, : len(codes)].T.float())
        return scores

    def _find_best(self, codes: Tensor) -> Tensor:
        """(N, t) the best product of each post with each of (k, t) query vectors."""
        width = codes.shape[1]
        best = torch.empty(len(self.order), width, dtype=torch.int32)
        room = torch.empty(self._columns * width, dtype=torch.int32)
        for block in self._blocks:
            products = room[: len(block.matrix) * width].view(-1, width)
            torch._int_mm(block.matrix, codes, out=products)
            several = products.view(block.longest, -1, width)
            torch.amax(several, 0, out=best[block.first : block.last])
        return best

    def slack(self, queries: RaggedVectors[Tensor]) -> float:
        """Return how far a score may be from the true one, at most.

        A product with a query of length 1 is off by no more than a vector is from what
        its code encodes; rounding the query comes on top, and sums in single
        precision.
        """
        loss = self.codec.encode_queries(queries.vectors).loss
        rounding = float((share_weights(queries) @ loss).max()) * self._longest
        terms = queries.vectors.shape[1] + queries.longest + 4
        return self._loss + rounding + terms * 2.0**-22


def _fill_up(codes: Tensor) -> Tensor:
    """(k, t) query vectors as columns, zeros added if products are faster then."""
    count, width = codes.shape
    added = -count % _EVEN if count > 1 else 0
    return torch.cat([codes, codes.new_zeros(added, width)]).T.contiguous()
