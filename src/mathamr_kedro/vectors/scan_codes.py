r"""MaxSim against every post of a collection by small codes, on a CPU.

The same blocks as of :mod:`~mathamr_kedro.vectors.scan_torch`, of the codes of
:mod:`~mathamr_kedro.vectors.codes`, vector by vector::

    posts a (2 vectors), b (3)       rows   a0 b0 | a1 b1 | a1 b2

A product of 8-bit integers takes a fourth of the memory of one in single precision, and
less than a third of its time where the processor has instructions for it (AVX-512 VNNI,
AMX). Along half as many axes both halve again. Bits take an eighth of the memory; they
are unpacked block by block, which costs half as much as the product.
"""

from __future__ import annotations

import torch
from torch import Tensor

from mathamr_kedro.base.ragged import RaggedVectors
from mathamr_kedro.vectors.codes import Codec, CodeType
from mathamr_kedro.vectors.scan_torch import (
    COLUMNS,
    TOKENS,
    BlockScanner,
    share_weights,
)

_COLUMNS = 4 * COLUMNS
"""Vectors in a block: products of smaller ones take no longer than their calls do."""
_EVEN = 16
"""Query vectors in a multiple of this many take half the time of a few less."""


class CodeScanner(BlockScanner):
    """Posts in blocks of codes.

    Args:
        posts: on a CPU.
        kind: of the codes.
        columns: vectors in a block.
        pooled: fewer vectors of the same posts, to be scanned in their place.
        loss: how far these may be from what they stand for.
    """

    def __init__(
        self,
        posts: RaggedVectors[Tensor],
        kind: CodeType = "int8",
        columns: int = _COLUMNS,
        pooled: RaggedVectors[Tensor] | None = None,
        loss: float = 0.0,
    ) -> None:
        packed = posts if pooled is None else pooled
        self._codec = Codec.fit(packed.vectors, kind)
        self._loss = self._longest = 0.0
        super().__init__(posts, packed, columns)
        self._loss += loss  # of the codes, found while packing, and of pooling

    def _pack(self, vectors: Tensor) -> Tensor:
        stored = self._codec.encode(vectors)
        codes = self._codec.unpack(stored).float()
        apart = (vectors - self._codec.decode(codes)).norm(dim=1)
        self._loss = max(self._loss, float(apart.max()))
        self._longest = max(self._longest, float(codes.norm(dim=1).max()))
        return stored

    def scan(self, queries: RaggedVectors[Tensor]) -> Tensor:
        """(Q, N) scores of all posts, in the order of :attr:`order`."""
        asked = self._codec.encode_queries(queries.vectors)
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
        """(N, t) the best product of each post with each of (m, t) query vectors."""
        width = codes.shape[1]
        best = torch.empty(len(self.order), width, dtype=torch.int32)
        room = torch.empty(self._columns * width, dtype=torch.int32)
        for block in self._blocks:
            posts = self._codec.unpack(block.matrix)
            products = room[: len(posts) * width].view(len(posts), width)
            torch._int_mm(posts, codes, out=products)
            several = products.view(block.longest, -1, width)
            torch.amax(several, 0, out=best[block.first : block.last])
        return best

    def slack(self, queries: RaggedVectors[Tensor]) -> float:
        """Return how far a score may be from the true one, at most.

        A product with a query of length 1 is off by no more than a vector is from what
        its code stands for; rounding the query comes on top, and sums in single
        precision.
        """
        loss = self._codec.encode_queries(queries.vectors).loss
        rounding = float((share_weights(queries) @ loss).max()) * self._longest
        terms = queries.vectors.shape[1] + queries.longest + 4
        return self._loss + rounding + terms * 2.0**-22


def _fill_up(codes: Tensor) -> Tensor:
    """(m, t) query vectors as columns, zeros added where products are faster then."""
    count, width = codes.shape
    added = -count % _EVEN if count > 1 else 0
    return torch.cat([codes, codes.new_zeros(added, width)]).T.contiguous()
