r"""MaxSim against every post of a collection by small codes, on a CPU.

The same blocks as of :mod:`~mathamr_kedro.search.engines.scan_torch`, of the codes of
:mod:`~mathamr_kedro.search.engines.codes`, vector by vector::

    posts a (2 vectors), b (3)       rows   a0 b0 | a1 b1 | a1 b2

A product of 8-bit integers takes a fourth of the memory of one in single precision, and
less than a third of its time where the processor has instructions for it (AVX-512 VNNI,
AMX). Bits take an eighth of that again; they are unpacked block by block, which costs
half as much as the product.
"""

from __future__ import annotations

import torch
from torch import Tensor

from mathamr_kedro.ragged import RaggedVectors
from mathamr_kedro.search.engines.codes import Codec, CodeType
from mathamr_kedro.search.engines.scan_torch import (
    COLUMNS,
    TOKENS,
    BlockScanner,
    share_weights,
)


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
        columns: int = COLUMNS,
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
        weights = shares * asked.scale
        scores = (shares @ asked.base)[:, None].repeat(1, len(self.order))
        parts = [part.T.contiguous() for part in asked.codes.split(TOKENS)]
        most = max(part.shape[1] for part in parts)
        room = torch.empty(self._columns * most, dtype=torch.int32)
        for block in self._blocks:
            out = scores[:, block.first : block.last]
            codes = self._codec.unpack(block.matrix)
            for number, part in enumerate(parts):
                width = part.shape[1]
                products = room[: len(codes) * width].view(len(codes), width)
                torch._int_mm(codes, part, out=products)
                best = products.view(block.longest, -1, width).amax(0)
                mine = weights[:, number * TOKENS : number * TOKENS + width]
                out.addmm_(mine, best.T.float())
        return scores

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
