r"""MaxSim between all queries and all documents of a batch, without padding.

.. math::
    S_{ij} = \sum_{t=1}^{|q_i|} \max_{1 \le s \le |d_j|} q_{i,t}^\top d_{j,s}
    \quad (3.5), \qquad \tilde{S}_{ij} = S_{ij} / |q_i| \quad (3.7)

====================  ================================================================
:func:`maxsim`        Eq. 3.7 with gradients: Triton on CUDA, torch elsewhere
:func:`best_products` the maxima of Eq. 3.5 before their sum, with gradients
:func:`match_posts`   the same for one query and any posts, without gradients
:func:`padded_maxsim` Eq. 3.7 as the thesis computes it, the slow twin
====================  ================================================================

Posts have between one and some hundred vectors. Padding them to the longest of a batch
makes memory grow with the square of the longest; here they are concatenated, as
:class:`~mathamr_kedro.base.ragged.RaggedVectors`.
"""

from __future__ import annotations

from importlib import import_module
from itertools import pairwise
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor

from mathamr_kedro.base.ragged import RaggedVectors
from mathamr_kedro.model.backends import can_use_triton
from mathamr_kedro.model.config import Precision
from mathamr_kedro.model.member_pooling import gather_rows

_CHUNK = 1 << 24


def take_documents(posts: RaggedVectors) -> Tensor:
    """(B, k) the last vector of each post, that of its document node."""
    return gather_rows(posts.vectors, posts.ptr[1:] - 1)


def maxsim(
    queries: RaggedVectors, documents: RaggedVectors, precision: Precision = "fp32"
) -> Tensor:
    """(B, C) scores of each query for each document, divided by |q| (Eq. 3.7)."""
    args = (queries.vectors, queries.ptr, documents.vectors, documents.ptr)
    if can_use_triton(queries.vectors.device, queries.vectors.shape[1]):
        kernels = import_module("mathamr_kedro.model.triton_maxsim")
        fused: Tensor = kernels.fused_maxsim(*args, precision)
        return fused
    scores: Tensor = _MaxSim.apply(*args)
    return scores


def best_products(queries: RaggedVectors, documents: RaggedVectors) -> Tensor:
    """(M, C) best product of each query vector in each document, with gradients.

    Spare vectors of queries are skipped.
    """
    args = (queries.vectors, documents.vectors, queries.ptr, documents.ptr)
    products: Tensor = _BestProducts.apply(*args)
    return products


def match_posts(tokens: Tensor, posts: RaggedVectors[Tensor]) -> Tensor:
    """(N, T) best product of each vector of one query in each post, no gradients."""
    products = posts.vectors @ tokens.T
    return torch.segment_reduce(products, "max", lengths=posts.lengths, unsafe=True)


def padded_maxsim(queries: RaggedVectors, documents: RaggedVectors) -> Tensor:
    """(B, C) Eq. 3.7 padded and masked, as the thesis computes it (3.4.1)."""
    q, q_real = queries.padded()
    d, d_real = documents.padded()
    similar = torch.einsum("itk,jsk->ijts", q, d)
    best = similar.masked_fill(~d_real[None, :, None, :], -torch.inf).amax(-1)
    total = best.masked_fill(~q_real[:, None, :], 0.0).sum(-1)
    return total / q_real.sum(-1)[:, None]


class _MaxSim(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, q: Tensor, q_ptr: Tensor, d: Tensor, d_ptr: Tensor) -> Tensor:
        first, end_of_queries = int(q_ptr[0]), int(q_ptr[-1])
        mine, lengths = q[first:end_of_queries], q_ptr.diff()
        best, where = _find(mine, d, d_ptr)
        scores = torch.segment_reduce(best, "mean", lengths=lengths, unsafe=True)
        ctx.save_for_backward(q, d, where, lengths)
        ctx.first = first
        return scores

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        q, d, where, lengths = ctx.saved_tensors
        d_q, d_d = torch.zeros_like(q), torch.zeros_like(d)
        share = (grad / lengths[:, None]).repeat_interleave(lengths, 0)
        # In parts: all vectors of a large batch against all others would not fit in
        # memory.
        rows = max(1, _CHUNK // len(d))
        for a in range(0, len(where), rows):
            part = slice(a, min(a + rows, len(where)))
            token = slice(ctx.first + part.start, ctx.first + part.stop)
            # Each token has one partner in each document: no position twice.
            spread = q.new_zeros(part.stop - a, len(d))
            spread.scatter_(1, where[part], share[part])
            d_q[token] = spread @ d
            d_d += spread.T @ q[token]
        return d_q, None, d_d, None


class _BestProducts(torch.autograd.Function):
    """Products with the nearest partners, and their gradients.

    Of the products of all vectors with all vectors, one for each document counts;
    gradients are sums over those only, in an order that never changes.
    """

    @staticmethod
    def forward(ctx: Any, q: Tensor, d: Tensor, q_ptr: Tensor, d_ptr: Tensor) -> Tensor:
        first, end = int(q_ptr[0]), int(q_ptr[-1])
        best, where = _find(q[first:end], d, d_ptr)
        ctx.save_for_backward(q, d, where)
        ctx.start = first
        return best

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        q, d, where = ctx.saved_tensors
        mine = slice(ctx.start, ctx.start + len(where))
        d_q = torch.zeros_like(q)
        d_q[mine] = F.embedding_bag(
            where, d, per_sample_weights=grad.contiguous(), mode="sum"
        )
        # Sorted by partner, the uses of each document vector are one segment of the
        # sum.
        partner, order = where.flatten().sort(stable=True)
        starts = torch.arange(len(d) + 1, device=d.device)
        d_d = F.embedding_bag(
            order // where.shape[1] + ctx.start,
            q,
            torch.searchsorted(partner, starts),
            per_sample_weights=grad.flatten()[order],
            include_last_offset=True,
            mode="sum",
        )
        return d_q, d_d, None, None


def _find(mine: Tensor, d: Tensor, d_ptr: Tensor) -> tuple[Tensor, Tensor]:
    """(M, C) best products and the rows of ``d`` that give them."""
    find = _find_by_loop if mine.device.type == "cpu" else _find_by_scatter
    return find(mine, d, d_ptr)


def _find_by_loop(mine: Tensor, d: Tensor, d_ptr: Tensor) -> tuple[Tensor, Tensor]:
    """Find them document by document."""
    bounds = d_ptr.tolist()
    best, where = [], []
    similar, start = mine.new_empty(len(mine), 0), bounds[0]
    for j, (a, b) in enumerate(pairwise(bounds)):
        if b - start > similar.shape[1]:  # products of as many documents as fit
            end = _last_that_fits(bounds, j, len(mine))
            similar, start = mine @ d[a:end].T, a
        value, index = similar[:, a - start : b - start].max(1)
        best.append(value)
        where.append(index + a)
    return torch.stack(best, 1), torch.stack(where, 1)


def _find_by_scatter(mine: Tensor, d: Tensor, d_ptr: Tensor) -> tuple[Tensor, Tensor]:
    """Find them without a step for each document: a GPU would wait for each."""
    first, last = int(d_ptr[0]), int(d_ptr[-1])
    owner = torch.repeat_interleave(d_ptr.diff().long())
    place = torch.arange(first, last, device=d.device)
    best, where = [], []
    for some in mine.split(max(1, _CHUNK // max(1, last - first))):
        similar = some @ d[first:last].T
        column = owner.expand_as(similar)
        shape = (len(some), len(d_ptr) - 1)
        top = similar.new_full(shape, -torch.inf)
        top.scatter_reduce_(1, column, similar, "amax")
        # Of equals the first: the largest and the smallest are so in any order.
        at = torch.where(similar == top.gather(1, column), place, last)
        found = at.new_full(shape, last).scatter_reduce_(1, column, at, "amin")
        best.append(top)
        where.append(found)
    return torch.cat(best), torch.cat(where)


def _last_that_fits(bounds: list[int], j: int, rows: int) -> int:
    end = bounds[j + 1]
    for b in bounds[j + 2 :]:
        if (b - bounds[j]) * rows > _CHUNK:
            break
        end = b
    return end
