"""Ragged MaxSim on CUDA devices by Triton kernels, without the matrix of all products.

The forward pass keeps, for each document and query vector, the best partner; the
backward pass gathers by it. Nothing is added atomically.
"""
# ruff: noqa: PLR0913, PLR0917

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor

from mathamr_kedro.model.tiles import Tiles

_TOKENS = 128
_PARTNERS = 16
_TILE = 32
"""Vectors of a document whose gradient one program sums."""


@triton.jit
def _best_partners_kernel(
    q,
    d,
    d_ptr,
    best,
    partner,
    num_tokens,
    width: tl.constexpr,
    tokens: tl.constexpr,
    partners: tl.constexpr,
    precision: tl.constexpr,
):
    """best[j, t] = max over the vectors s of document j of q_t d_s, and which s."""
    j = tl.program_id(0)
    t = tl.program_id(1) * tokens + tl.arange(0, tokens)
    inside = t < num_tokens
    k = tl.arange(0, width)
    mine = tl.load(q + t[:, None] * width + k[None, :], mask=inside[:, None], other=0.0)
    start = tl.load(d_ptr + j)
    end = tl.load(d_ptr + j + 1)
    top = tl.full([tokens], -1e30, dtype=tl.float32)
    place = tl.zeros([tokens], dtype=tl.int32)
    for i in range(start, end, partners):
        s = i + tl.arange(0, partners)
        listed = s < end
        theirs = tl.load(
            d + s[None, :] * width + k[:, None], mask=listed[None, :], other=0.0
        )
        similar = tl.dot(mine, theirs, input_precision=precision)
        similar = tl.where(listed[None, :], similar, -1e30)
        value, index = tl.max(similar, 1, return_indices=True)
        # Strictly: of equal products the first counts, whatever the size of blocks.
        better = value > top
        top = tl.where(better, value, top)
        place = tl.where(better, i + index, place)
    at = j * num_tokens + t
    tl.store(best + at, top, mask=inside)
    tl.store(partner + at, place, mask=inside)


@triton.jit
def _mean_tokens_kernel(
    best, q_ptr, out, num_tokens, num_documents, block: tl.constexpr, step: tl.constexpr
):
    """out[i, j] = mean of best[j, t] over the vectors t of query i."""
    i = tl.program_id(0)
    j = tl.program_id(1) * block + tl.arange(0, block)
    inside = j < num_documents
    start = tl.load(q_ptr + i)
    end = tl.load(q_ptr + i + 1)
    total = tl.zeros([block], dtype=tl.float32)
    for a in range(start, end, step):
        t = a + tl.arange(0, step)
        values = tl.load(
            best + j[:, None] * num_tokens + t[None, :],
            mask=inside[:, None] & (t < end)[None, :],
            other=0.0,
        )
        total += tl.sum(values, 1)
    mean = tl.div_rn(total, tl.zeros_like(total) + (end - start))
    tl.store(out + i * num_documents + j, mean, mask=inside)


@triton.jit
def _query_gradient_kernel(
    grad,
    partner,
    d,
    query_of,
    share,
    out,
    num_tokens,
    num_documents,
    num_queries,
    width: tl.constexpr,
    tokens: tl.constexpr,
    block: tl.constexpr,
):
    """out[t] = sum over documents j of grad[j, query of t] share_t d[partner[j, t]]."""
    t = tl.program_id(0) * tokens + tl.arange(0, tokens)
    inside = t < num_tokens
    i = tl.load(query_of + t, mask=inside, other=0)
    factor = tl.load(share + t, mask=inside, other=0.0)
    k = tl.arange(0, width)
    total = tl.zeros([tokens, width], dtype=tl.float32)
    # All documents in one program, in order: no atomic additions.
    for a in range(0, num_documents, block):
        j = a + tl.arange(0, block)
        listed = inside[:, None] & (j < num_documents)[None, :]
        s = tl.load(
            partner + j[None, :] * num_tokens + t[:, None], mask=listed, other=0
        )
        g = tl.load(
            grad + j[None, :] * num_queries + i[:, None], mask=listed, other=0.0
        )
        rows = tl.load(
            d + s[:, :, None] * width + k[None, None, :],
            mask=listed[:, :, None],
            other=0.0,
        )
        total += tl.sum(rows * (g * factor[:, None])[:, :, None], 1)
    tl.store(out + t[:, None] * width + k[None, :], total, mask=inside[:, None])


@triton.jit
def _round_to_tf32(x):
    """The nearest number with 10 bits of fraction."""
    # Tensor cores cut the lowest 13 bits off; half of the last bit that stays, added
    # before, turns that into rounding.
    bits = x.to(tl.int32, bitcast=True)
    return ((bits + 0x1000) & -0x2000).to(tl.float32, bitcast=True)


@triton.jit
def _document_gradient_kernel(
    grad,
    partner,
    q,
    query_of,
    share,
    tile_document,
    tile_start,
    tile_end,
    out,
    num_tokens,
    num_queries,
    width: tl.constexpr,
    tokens: tl.constexpr,
    partners: tl.constexpr,
    precision: tl.constexpr,
):
    """out[s] = sum of grad[j, query of t] share_t q_t over t with partner s.

    One tile is a few vectors s of one document j, so long documents take several
    programs instead of one long one.
    """
    tile = tl.program_id(0)
    start = tl.load(tile_start + tile)
    end = tl.load(tile_end + tile)
    if start < end:
        j = tl.load(tile_document + tile)
        k = tl.arange(0, width)
        s = start + tl.arange(0, partners)
        total = tl.zeros([partners, width], dtype=tl.float32)
        for a in range(0, num_tokens, tokens):
            t = a + tl.arange(0, tokens)
            inside = t < num_tokens
            i = tl.load(query_of + t, mask=inside, other=0)
            factor = tl.load(share + t, mask=inside, other=0.0)
            g = tl.load(grad + j * num_queries + i, mask=inside, other=0.0) * factor
            chosen = tl.load(partner + j * num_tokens + t, mask=inside, other=-1)
            # With a matrix of 0 and 1, the sum over the query vectors whose partner is
            # s becomes a product for tensor cores.
            is_chosen = (chosen[None, :] == s[:, None]).to(tl.float32)
            rows = tl.load(
                q + t[:, None] * width + k[None, :], mask=inside[:, None], other=0.0
            )
            rows *= g[:, None]
            if precision == "tf32x3":
                # 0 and 1 are exact in TF32: two products do what three are for.
                high = _round_to_tf32(rows)
                total = tl.dot(is_chosen, high, total, input_precision="tf32")
                rows -= high
            total = tl.dot(is_chosen, rows, total, input_precision="tf32")
        tl.store(out + s[:, None] * width + k[None, :], total, mask=(s < end)[:, None])


class _FusedMaxSim(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, q: Tensor, q_ptr: Tensor, d: Tensor, d_ptr: Tensor, precision: str
    ) -> Tensor:
        q, d = q.contiguous(), d.contiguous()
        tokens, queries, documents = len(q), len(q_ptr) - 1, len(d_ptr) - 1
        best = q.new_empty(documents, tokens)
        partner = torch.empty_like(best, dtype=torch.int32)
        _best_partners_kernel[(documents, triton.cdiv(tokens, _TOKENS))](
            q, d, d_ptr, best, partner, tokens, q.shape[1], _TOKENS, _PARTNERS,
            precision, num_warps=4,
        )  # fmt: skip
        out = q.new_empty(queries, documents)
        _mean_tokens_kernel[(queries, triton.cdiv(documents, 32))](
            best, q_ptr, out, tokens, documents, 32, 16, num_warps=4
        )
        ctx.save_for_backward(q, q_ptr, d, d_ptr, partner)
        ctx.precision = precision
        return out

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        q, q_ptr, d, d_ptr, partner = ctx.saved_tensors
        tokens, queries, documents = len(q), *grad.shape
        by_document = grad.T.contiguous()
        token = torch.arange(tokens, device=q.device, dtype=q_ptr.dtype)
        query_of = torch.searchsorted(q_ptr[1:], token, right=True, out_int32=True)
        # Spare vectors belong to no query and get no gradient.
        alive = (query_of < queries) & (token >= q_ptr[0])
        query_of = query_of.clamp(max=queries - 1)
        share = torch.where(alive, 1.0 / q_ptr.diff()[query_of], 0.0)
        d_q = torch.empty_like(q)
        _query_gradient_kernel[(triton.cdiv(tokens, 8),)](
            by_document, partner, d, query_of, share, d_q, tokens, documents, queries,
            q.shape[1], 8, 8, num_warps=4,
        )  # fmt: skip
        d_d = torch.zeros_like(d)
        # At most one tile of a document is not full, which bounds their number.
        tiles = Tiles.cut(d_ptr.diff(), d_ptr[:-1], _TILE, documents + len(d) // _TILE)
        _document_gradient_kernel[(tiles.start.numel(),)](
            by_document, partner, q, query_of, share, tiles.relation, tiles.start,
            tiles.end, d_d, tokens, queries, q.shape[1], _TOKENS, _TILE, ctx.precision,
            num_warps=4,
        )  # fmt: skip
        return d_q, None, d_d, None, None


def fused_maxsim(
    q: Tensor, q_ptr: Tensor, d: Tensor, d_ptr: Tensor, precision: str
) -> Tensor:
    """(B, C) scores of ragged queries for ragged documents, divided by |q|."""
    products = "tf32x3" if precision == "fp32" else "tf32"
    scores: Tensor = _FusedMaxSim.apply(q, q_ptr, d, d_ptr, products)
    return scores
