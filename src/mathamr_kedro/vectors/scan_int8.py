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

    def encode_queries(self, queries: Tensor) -> QueryCodes:
        """Round (t, k) query vectors, with the scale of the codes in them."""
        queries = queries.float()
        folded = queries * self.scale
        scale = folded.abs().amax(1).clamp(min=_SMALLEST) / _LARGEST
        codes = (folded / scale[:, None]).round().to(torch.int8)
        return QueryCodes(codes, scale, queries @ self.offset)


class Int8Scanner(BlockScanner):
    """Posts in blocks of codes."""

    def __init__(self, posts: RaggedVectors[Tensor], columns: int = _COLUMNS) -> None:
        self.codec = Codec.fit(posts.vectors)
        super().__init__(posts, columns)

    def _pack(self, vectors: Tensor) -> Tensor:
        return self.codec.encode(vectors)

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
        """Return infinity: a bound of what codes lose holds for too many posts."""
        return torch.inf


def _fill_up(codes: Tensor) -> Tensor:
    """(k, t) query vectors as columns, zeros added if products are faster then."""
    count, width = codes.shape
    added = -count % _EVEN if count > 1 else 0
    return torch.cat([codes, codes.new_zeros(added, width)]).T.contiguous()
