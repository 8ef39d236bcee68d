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

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

ScanType: TypeAlias = Literal["float32", "bfloat16"]

COLUMNS = 12_288
"""Vectors in a block: products of 16 query vectors then stay in the L2 cache."""
_TOKENS = 64
"""Query vectors at once."""


class QueryBatch(NamedTuple):
    """The vectors of several queries, one query after another."""

    tokens: Tensor
    """(T, k) float32."""
    ptr: Tensor
    """(Q + 1,) int64, where each query starts."""
    bounds: NDArray[np.int64]
    """The same on the host: asking a device for it would wait."""

    @classmethod
    def of(cls, queries: Sequence[np.ndarray]) -> QueryBatch:
        """Put queries one after another."""
        lengths = [0] + [len(q) for q in queries]
        tokens = torch.from_numpy(np.concatenate(queries).astype(np.float32))
        bounds = np.cumsum(lengths, dtype=np.int64)
        return cls(tokens, torch.from_numpy(bounds), bounds)

    def __len__(self) -> int:
        return len(self.ptr) - 1

    def to(self, device: torch.device) -> QueryBatch:
        """Return the queries on a device."""
        return QueryBatch(self.tokens.to(device), self.ptr.to(device), self.bounds)

    def split(self, most: int) -> Iterator[QueryBatch]:
        """Yield the queries in batches of at most so many."""
        for a in range(0, len(self), most):
            part = slice(a, min(a + most, len(self)) + 1)
            first, last = self.bounds[part][[0, -1]].tolist()
            yield QueryBatch(
                self.tokens[first:last],
                self.ptr[part] - first,
                self.bounds[part] - first,
            )

    @property
    def longest(self) -> int:
        """Vectors of the longest query."""
        return int(np.diff(self.bounds).max())

    def weights(self) -> Tensor:
        """(Q, T) 1/|q| where the vector belongs to the query, else 0."""
        lengths = self.ptr.diff()
        owner = torch.repeat_interleave(lengths)
        weights = self.tokens.new_zeros(len(self), len(self.tokens))
        columns = torch.arange(len(self.tokens), device=self.tokens.device)
        weights[owner, columns] = 1.0 / lengths[owner].float()
        return weights

    def padded(self) -> Tensor:
        """(Q, longest, k) float64, shorter queries filled up with zeros."""
        lengths = self.ptr.diff()
        place = torch.arange(self.longest, device=lengths.device)
        index = (self.ptr[:-1, None] + place).clamp(max=len(self.tokens) - 1)
        tokens = self.tokens.double()[index]
        return tokens.masked_fill((place >= lengths[:, None])[..., None], 0.0)


class RaggedRows(NamedTuple):
    """The vectors of posts as they stand in the store."""

    rows: Tensor
    """(P, k)"""
    ptr: Tensor
    """(N + 1,) int64."""

    def __len__(self) -> int:
        return len(self.ptr) - 1


class _Block(NamedTuple):
    matrix: Tensor
    """(k, longest * posts)"""
    longest: int
    first: int
    last: int


class PackedPosts:
    """Posts in blocks, ready to be scanned."""

    def __init__(
        self, posts: RaggedRows, dtype: ScanType = "float32", columns: int = COLUMNS
    ) -> None:
        self.dtype: torch.dtype = getattr(torch, dtype)
        lengths = posts.ptr.diff()
        self.order = torch.argsort(lengths, stable=True)
        """(N,) the post at each place of the scores."""
        rising = lengths[self.order].cpu().numpy()
        cuts = list(_cut_blocks(rising, columns))
        self._blocks = [self._pack(posts, lengths, a, b) for a, b in cuts]
        self._room = max((b.matrix.shape[1] for b in self._blocks), default=0)

    def _pack(
        self, posts: RaggedRows, lengths: Tensor, first: int, last: int
    ) -> _Block:
        chosen = self.order[first:last]
        longest = int(lengths[chosen[-1]])
        turn = torch.arange(longest, device=chosen.device)[:, None]
        index = posts.ptr[chosen] + torch.minimum(turn, lengths[chosen] - 1)
        vectors = posts.rows[index.flatten()].to(self.dtype)  # (longest * posts, k)
        return _Block(vectors.T.contiguous(), longest, first, last)

    def scan(self, queries: QueryBatch) -> Tensor:
        """(Q, N) scores of all posts, in the order of :attr:`order`."""
        weights = queries.weights()
        tokens = queries.tokens.to(self.dtype)
        scores = weights.new_zeros(len(queries), len(self.order))
        room = tokens.new_empty(min(len(tokens), _TOKENS) * self._room)
        for block in self._blocks:
            out = scores[:, block.first : block.last]
            for a in range(0, len(tokens), _TOKENS):
                some = tokens[a : a + _TOKENS]
                best = _best_products(some, block, room)
                out.addmm_(weights[:, a : a + _TOKENS], best.float())
        return scores

    def slack(self, queries: QueryBatch) -> float:
        """Return how far a score may be from the true one, at most.

        A sum of n products of vectors of length 1 in single precision is off by at
        most n 2^-24; bfloat16 rounds query, post and product to 8 bits besides.
        """
        terms = queries.tokens.shape[1] + queries.longest + 4
        rounding = 0.0 if self.dtype == torch.float32 else 3.1 * 2.0**-9
        return terms * 2.0**-24 + rounding

    def num_bytes(self) -> int:
        """Return the memory that the blocks take."""
        return sum(b.matrix.nbytes for b in self._blocks)


def _cut_blocks(lengths: np.ndarray, columns: int) -> Iterator[tuple[int, int]]:
    """Cut rising lengths so that posts times the longest is at most ``columns``."""
    first = 0
    while first < len(lengths):
        most = max(1, columns // int(lengths[first]))
        window = lengths[first : first + most]
        fits = np.arange(1, len(window) + 1) * window <= columns
        last = first + max(1, int(fits.sum()))  # sizes rise: the first ones fit
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


def score_pairs(
    queries: QueryBatch, posts: RaggedRows, which: Tensor, chosen: Tensor
) -> Tensor:
    """(M,) float64 scores of single pairs of query and post.

    Args:
        queries: the queries.
        posts: the posts.
        which: (M,) query of each pair, rising.
        chosen: (M,) post of each pair.
    """
    lengths = posts.ptr[chosen + 1] - posts.ptr[chosen]
    pair = torch.repeat_interleave(lengths)
    starts = posts.ptr[chosen] - (lengths.cumsum(0) - lengths)
    index = torch.arange(len(pair), device=pair.device) + starts[pair]
    rows = posts.rows[index].double()
    similar = _multiply(rows, which[pair], queries.padded())
    best = torch.segment_reduce(similar, "max", lengths=lengths, unsafe=True)
    return best.sum(1) / queries.ptr.diff()[which]


def _multiply(rows: Tensor, query: Tensor, tokens: Tensor) -> Tensor:
    """(R, longest) products of each row with the vectors of its query."""
    similar = rows.new_empty(len(rows), tokens.shape[1])
    if rows.is_cuda:  # few launches
        step = 1 << 15
        for a in range(0, len(rows), step):
            part = slice(a, a + step)
            torch.bmm(
                tokens[query[part]], rows[part, :, None], out=similar[part, :, None]
            )
        return similar
    bounds = torch.searchsorted(query, torch.arange(len(tokens) + 1)).tolist()
    for mine, (a, b) in zip(tokens, pairwise(bounds), strict=True):
        if a < b:
            torch.mm(rows[a:b], mine.T, out=similar[a:b])
    return similar
