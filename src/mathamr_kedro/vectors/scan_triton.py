"""Exact MaxSim of many queries against every post on a CUDA device, in one kernel.

Posts are sorted by their number of vectors and cut into blocks of equal size. A block
stores first the first vectors of its posts, then the second ones, ...; short posts
repeat a vector of their own::

    block   posts a (2 vectors), b (3)      a0 b0  a1 b1  a1 b2

The vectors of queries are in groups of 16, filled up with zeros, which add nothing to
a sum of maxima. A program keeps the maxima of some groups over one block in registers:
no similarity is ever written to memory, only the sums.
"""
# ruff: noqa: PLR0913, PLR0917

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
import triton
import triton.language as tl
from torch import Tensor
from triton.runtime.errors import OutOfResources

from mathamr_kedro.base.ragged import RaggedVectors

_GROUP = 16
"""Query vectors whose maxima are summed at once: the smallest side of a product."""
_TURNS = 8
"""Vectors of a post in a program of pairs at once."""


class Tiling(NamedTuple):
    """How the work is cut for the device."""

    groups: int = 8
    """Groups of query vectors in a program."""
    posts: int = 64
    """Posts in a block."""
    warps: int = 4
    stages: int = 4

    def shrink(self) -> Tiling:
        """Return a tiling that needs less of the memory that a program has."""
        if self.stages > 1:
            return self._replace(stages=self.stages - 1)
        return self._replace(groups=self.groups // 2)


@triton.jit
def _maxsim_kernel(
    tokens,
    share,
    blocks,
    starts,
    longest,
    out,
    num_groups,
    num_columns,
    tiles,
    width: tl.constexpr,
    groups: tl.constexpr,
    group: tl.constexpr,
    posts: tl.constexpr,
    precision: tl.constexpr,
):
    """out[g, d] = share_g * sum over tokens t of group g of max_v tokens_t . d_v."""
    # Programs of one block follow each other, so that it is read from memory once; on
    # one axis, as others end at 65,535.
    first = tl.program_id(0) % tiles * groups
    block = tl.program_id(0) // tiles
    row = first * group + tl.arange(0, groups * group)
    k = tl.arange(0, width)
    mine = tl.load(
        tokens + row[:, None] * width + k[None, :],
        mask=(row < num_groups * group)[:, None],
        other=0.0,
    )
    column = tl.arange(0, posts)
    theirs = blocks + tl.load(starts + block) * width
    theirs += column[None, :] * width + k[:, None]
    best = tl.full([groups * group, posts], -1e30, dtype=tl.float32)
    for _ in range(tl.load(longest + block)):
        similar = tl.dot(mine, tl.load(theirs), input_precision=precision)
        best = tl.maximum(best, similar)
        theirs += posts * width
    total = tl.sum(tl.reshape(best, [groups, group, posts]), 1)
    g = first + tl.arange(0, groups)
    inside = g < num_groups
    total *= tl.load(share + g, mask=inside, other=0.0)[:, None]
    place = g[:, None].to(tl.int64) * num_columns + block * posts + column[None, :]
    tl.store(out + place, total, mask=inside[:, None])


@triton.jit
def _pair_kernel(
    tokens,
    token_ptr,
    rows,
    row_ptr,
    which,
    chosen,
    out,
    width: tl.constexpr,
    group: tl.constexpr,
    turns: tl.constexpr,
):
    """out[m] = MaxSim of query which[m] and post chosen[m] in double precision."""
    pair = tl.program_id(0)
    query, post = tl.load(which + pair), tl.load(chosen + pair)
    token, row = tl.load(token_ptr + query), tl.load(row_ptr + post)
    num_tokens = (tl.load(token_ptr + query + 1) - token).to(tl.int32)
    num_rows = (tl.load(row_ptr + post + 1) - row).to(tl.int32)
    t, v, k = tl.arange(0, group), tl.arange(0, turns), tl.arange(0, width)
    total = tl.zeros([group], dtype=tl.float64)
    for a in range(0, num_tokens, group):
        mine = tl.load(
            tokens + (token + a + t)[None, :] * width + k[:, None],
            mask=(a + t < num_tokens)[None, :],
            other=0.0,
        ).to(tl.float64)
        best = tl.full([group], -1e30, dtype=tl.float64)
        for b in range(0, num_rows, turns):
            # Behind the last vector of the post it comes again: no other maximum.
            nth = tl.minimum(b + v, num_rows - 1)
            theirs = tl.load(rows + (row + nth)[None, :] * width + k[:, None])
            # The numbers of a vector on the first axis: one thread adds them all up.
            products = mine[:, :, None] * theirs.to(tl.float64)[:, None, :]
            best = tl.maximum(best, tl.max(tl.sum(products, 0), 1))
        total += tl.where(a + t < num_tokens, best, 0.0)
    tl.store(out + pair, tl.sum(total, 0) / num_tokens)


class TritonScanner:
    """Posts in blocks on a device, ready to be scanned."""

    def __init__(
        self, posts: RaggedVectors[Tensor], tiling: Tiling | None = None
    ) -> None:
        self.posts = posts
        self._tiling = tiling or Tiling()
        size = self._tiling.posts
        lengths = posts.lengths
        self.order = torch.argsort(lengths, stable=True)
        """(N,) the post at each place of the scores."""
        count = -(-len(posts) // size)
        spare = count * size - len(posts)
        filled = torch.cat([self.order, self.order[-1:].expand(spare)])
        by_block = filled.view(count, size)
        self._longest = lengths[by_block[:, -1]].to(torch.int32)
        self._starts = (self._longest.long() * size).cumsum(0)
        self._starts -= self._longest.long() * size
        self._blocks = self._fill(lengths, by_block)

    def _fill(self, lengths: Tensor, by_block: Tensor) -> Tensor:
        """(vectors of all blocks, k), block after block, turn after turn."""
        posts = self.posts
        size, device = by_block.shape[1], by_block.device
        turns = self._longest.long()
        block = torch.repeat_interleave(turns)
        turn = torch.arange(len(block), device=device) - (self._starts // size)[block]
        blocks = posts.vectors.new_empty(len(block) * size, posts.vectors.shape[1])
        step = max(1, (1 << 26) // size)  # rows whose numbers are in memory at once
        for a in range(0, len(block), step):
            chosen = by_block[block[a : a + step]]
            nth = torch.minimum(turn[a : a + step, None], lengths[chosen] - 1)
            rows = (posts.ptr[chosen] + nth).flatten()
            blocks[a * size : a * size + len(rows)] = posts.vectors[rows]
        return blocks

    def scan(self, queries: RaggedVectors[Tensor]) -> Tensor:
        """(Q, N) scores of all posts, in the order of :attr:`order`."""
        tokens, owner = _group_tokens(queries, self._blocks.dtype)
        columns = len(self._longest) * self._tiling.posts
        share = 1.0 / queries.lengths[owner].float()
        partial = torch.empty(
            len(owner), columns, dtype=torch.float32, device=tokens.device
        )
        is_half = self._blocks.dtype == torch.float16
        while True:
            groups = min(self._tiling.groups, triton.next_power_of_2(len(owner)))
            tiles = triton.cdiv(len(owner), groups)
            try:
                _maxsim_kernel[(tiles * len(self._longest),)](
                    tokens, share, self._blocks, self._starts, self._longest, partial,
                    len(owner), columns, tiles, tokens.shape[1], groups, _GROUP,
                    self._tiling.posts, "ieee" if is_half else "tf32x3",
                    num_warps=self._tiling.warps, num_stages=self._tiling.stages,
                )  # fmt: skip
                break
            except OutOfResources:  # vectors are wide: fewer of them fit at once
                smaller = self._tiling.shrink()
                if not smaller.groups:
                    raise
                self._tiling = smaller
        partial = partial[:, : len(self.order)]
        if len(owner) == len(queries):
            return partial
        counts = torch.bincount(owner, minlength=len(queries))
        return torch.segment_reduce(partial, "sum", lengths=counts, unsafe=True)

    def slack(self, queries: RaggedVectors[Tensor]) -> float:
        """Return how far a score may be from the true one, at most.

        Tensor cores add up with a rounding that is up to four times coarser than that
        of single precision.
        """
        terms = queries.vectors.shape[1] + queries.longest + 4
        return 4 * terms * 2.0**-24

    def score_pairs(
        self, queries: RaggedVectors[Tensor], which: Tensor, chosen: Tensor
    ) -> Tensor:
        """(M,) float64 scores of single pairs of query ``which`` and post."""
        posts = self.posts
        which, chosen = which.contiguous(), chosen.contiguous()
        scores = torch.empty(len(which), dtype=torch.float64, device=which.device)
        if len(which):
            _pair_kernel[(len(which),)](
                queries.vectors, queries.ptr, posts.vectors, posts.ptr, which, chosen,
                scores, posts.vectors.shape[1], _GROUP, _TURNS, num_warps=4,
            )  # fmt: skip
        return scores

    def num_bytes(self) -> int:
        """Return the memory that the blocks take."""
        return self._blocks.nbytes


def _group_tokens(
    queries: RaggedVectors[Tensor], dtype: torch.dtype
) -> tuple[Tensor, Tensor]:
    """Put the vectors of each query into groups, the last one filled with zeros.

    Returns:
        (groups * 16, k) vectors, and the query of each group.
    """
    # On the host: a dozen tiny steps on the device would each wait for the one before.
    ptr = queries.host_ptr
    lengths = np.diff(ptr)
    counts = -(-lengths // _GROUP)
    first = np.cumsum(counts) - counts
    shift = np.repeat(first * _GROUP - ptr[:-1], lengths)
    owner = np.repeat(np.arange(len(lengths)), counts)
    place, group_owner = (
        torch.from_numpy(a).to(queries.ptr.device, non_blocking=True)
        for a in (shift + np.arange(ptr[-1]), owner)
    )
    tokens = queries.vectors.new_zeros(
        (len(owner) * _GROUP, queries.vectors.shape[1]), dtype=dtype
    )
    tokens[place] = queries.vectors.to(dtype)
    return tokens, group_owner
