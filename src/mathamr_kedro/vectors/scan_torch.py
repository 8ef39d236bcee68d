r"""Exact MaxSim of ragged queries against every post of a collection, by torch.

.. math:: \tilde{S}(Q, D) = \frac{1}{|q|} \sum_i \max_j q_i^\top d_j
          \quad (3.4, 3.7)

Posts are sorted by their number of vectors and cut into blocks. A block stores first
the first vectors of all its posts, then all second ones, ..., number by number::

    posts a (2 vectors), b (3)          columns  a0 b0 | a1 b1 | a1 b2
    a has no third vector: one of its   row 0    number 0 of each vector
    own again changes no maximum        row 1    number 1 of each vector

One product of the query with a block, the elementwise maximum of its parts, and the
mean over the query's vectors are then all there is to do, without masks, each in long
contiguous runs: three calls of the linear algebra that torch brings, and no compiler.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from mathamr_kedro.base.ragged import RaggedVectors
from mathamr_kedro.model.maxsim import match_posts

COLUMNS = 12_288
"""Vectors in a block: products of 16 query vectors then stay in the L2 cache."""
_FILLED = 0.25
"""Share of a block that may repeat vectors."""
TOKENS = 64
"""Query vectors at once."""


class VectorChain:
    """Rows of one file behind those of another, without copying."""

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


class _Block(NamedTuple):
    """The packed vectors of some posts."""

    matrix: Tensor
    """(k, longest * posts)"""
    longest: int
    first: int
    last: int


class BlockScanner(ABC):
    """Posts in blocks, ready to be scanned."""

    def __init__(self, posts: RaggedVectors[Tensor], columns: int) -> None:
        self.posts: RaggedVectors[Tensor] | VectorChain = posts
        lengths = posts.lengths
        self.order = torch.argsort(lengths, stable=True)
        """(N,) the post at each place of the scores."""
        rising = lengths[self.order].cpu().numpy()
        cuts = _cut_blocks(rising, columns)
        self._blocks = [self._make_block(posts, a, b) for a, b in cuts]
        sizes = (b.longest * (b.last - b.first) for b in self._blocks)
        self._columns = max(sizes, default=0)

    def _make_block(
        self, posts: RaggedVectors[Tensor], first: int, last: int
    ) -> _Block:
        chosen = self.order[first:last]
        lengths = posts.lengths[chosen]
        longest = int(lengths[-1])
        turn = torch.arange(longest, device=chosen.device)[:, None]
        index = posts.ptr[chosen] + torch.minimum(turn, lengths - 1)
        matrix = self._pack(posts.vectors[index.flatten()])
        return _Block(matrix, longest, first, last)

    @abstractmethod
    def _pack(self, vectors: Tensor) -> Tensor:
        """Return (longest * posts, k) vectors as a block holds them."""

    @abstractmethod
    def scan(self, queries: RaggedVectors[Tensor]) -> Tensor:
        """(Q, N) scores of all posts, in the order of :attr:`order`."""

    @abstractmethod
    def slack(self, queries: RaggedVectors[Tensor]) -> float:
        """Return how far a score may be from the true one, at most."""

    def score_pairs(
        self, queries: RaggedVectors[Tensor], which: Tensor, chosen: Tensor
    ) -> Tensor:
        """(M,) float64 scores of single pairs of query and post."""
        turns = torch.arange(len(queries) + 1, device=which.device)
        bounds = torch.searchsorted(which, turns).tolist()
        scores = torch.empty(len(which), dtype=torch.float64, device=which.device)
        # One query after another: a long one costs the others neither time nor room.
        for mine, (a, b) in zip(queries.split(1), pairwise(bounds), strict=True):
            posts = self.posts.take(chosen[a:b]).to(chosen.device, torch.float64)
            scores[a:b] = match_posts(mine.vectors.double(), posts).mean(1)
        return scores

    def num_bytes(self) -> int:
        """Return the memory that the blocks take."""
        return sum(b.matrix.nbytes for b in self._blocks)


class TorchScanner(BlockScanner):
    """Posts in blocks of single precision."""

    def __init__(self, posts: RaggedVectors[Tensor], columns: int = COLUMNS) -> None:
        super().__init__(posts, columns)

    def _pack(self, vectors: Tensor) -> Tensor:
        return vectors.float().T.contiguous()

    def scan(self, queries: RaggedVectors[Tensor]) -> Tensor:
        """(Q, N) scores of all posts, in the order of :attr:`order`."""
        weights = share_weights(queries)
        tokens = queries.vectors.float()
        scores = weights.new_zeros(len(queries), len(self.order))
        room = tokens.new_empty(min(len(tokens), TOKENS) * self._columns)
        for block in self._blocks:
            out = scores[:, block.first : block.last]
            for a in range(0, len(tokens), TOKENS):
                some = tokens[a : a + TOKENS]
                best = _best_products(some, block, room)
                out.addmm_(weights[:, a : a + TOKENS], best)
        return scores

    def slack(self, queries: RaggedVectors[Tensor]) -> float:
        """Return how far a score may be from the true one, at most.

        A sum of n products of vectors of length 1 in single precision is off by at
        most n 2^-24.
        """
        terms = queries.vectors.shape[1] + queries.longest + 4
        return terms * 2.0**-24


def _cut_blocks(lengths: np.ndarray, columns: int) -> Iterator[tuple[int, int]]:
    """Cut rising lengths so that posts times the longest is at most ``columns``.

    What shorter posts are filled up with stays below a fourth of a block.
    """
    first = 0
    while first < len(lengths):
        most = max(1, columns // int(lengths[first]))
        window = lengths[first : first + most]
        sizes = np.arange(1, len(window) + 1) * window
        fits = (sizes <= columns) & (sizes <= np.cumsum(window) / (1 - _FILLED))
        last = first + (len(window) if fits.all() else max(1, int(fits.argmin())))
        yield first, last
        first = last


def _best_products(tokens: Tensor, block: _Block, room: Tensor) -> Tensor:
    """(t, posts) the best product of each query vector with each post."""
    count, width = len(tokens), block.matrix.shape[1]
    products = room[: count * width].view(count, width)
    torch.mm(tokens, block.matrix, out=products)
    if block.longest == 1:
        return products
    return products.view(count, block.longest, block.last - block.first).amax(1)


def share_weights(queries: RaggedVectors[Tensor]) -> Tensor:
    """(Q, T) 1/|q| if the vector belongs to the query, else 0."""
    owner = queries.owners()
    weights = queries.vectors.new_zeros(len(queries), len(owner))
    columns = torch.arange(len(owner), device=owner.device)
    weights[owner, columns] = 1.0 / queries.lengths[owner].float()
    return weights
