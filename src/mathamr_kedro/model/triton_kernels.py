"""Triton kernels of the row-factorised relational convolution.

Each output element is written by one program, and sums run in a fixed order, so results
repeat bit by bit. Sums are kept in ``float32`` whatever the type of the factors.

Names: ``hidden`` is the width d of node states; ``x_ext`` is the node states with the
member sums behind them, given as ``x`` and ``pooled``; node counts and row counts are
those of :class:`~mathamr_kedro.model.row_plan.RowPlan`.
"""
# ruff: noqa: PLR0913, PLR0917

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def sum_members_kernel(
    x,
    out,
    ptr,
    member,
    member_weight,
    hidden: tl.constexpr,
    block: tl.constexpr,
    weighted: tl.constexpr,
):
    """out[k] = sum of x over the members of virtual node k."""
    k = tl.program_id(0)
    start = tl.load(ptr + k)
    end = tl.load(ptr + k + 1)
    d = tl.arange(0, hidden)
    total = tl.zeros([hidden], dtype=tl.float32)
    for i in range(start, end, block):
        at = i + tl.arange(0, block)
        inside = at < end
        node = tl.load(member + at, mask=inside, other=0)
        rows = tl.load(
            x + node[:, None] * hidden + d[None, :], mask=inside[:, None], other=0.0
        ).to(tl.float32)
        if weighted:
            rows *= tl.load(member_weight + at, mask=inside, other=0.0)[:, None]
        total += tl.sum(rows, 0)
    tl.store(out + k * hidden + d, total.to(out.dtype.element_ty))


@triton.jit
def multiply_rows_kernel(
    x,
    pooled,
    num_nodes,
    weight,
    gather,
    scale,
    shift,
    shift_scale,
    tile_relation,
    tile_start,
    tile_end,
    out,
    hidden: tl.constexpr,
    block: tl.constexpr,
    transposed: tl.constexpr,
    shifted: tl.constexpr,
    precision: tl.constexpr,
):
    """out[t] = scale_t x_ext[gather_t] W_r + shift_scale_t shift_r, for one tile."""
    tile = tl.program_id(0)
    start = tl.load(tile_start + tile)
    end = tl.load(tile_end + tile)
    if start < end:
        r = tl.load(tile_relation + tile)
        t = start + tl.arange(0, block)
        inside = t < end
        d = tl.arange(0, hidden)
        j = tl.load(gather + t, mask=inside, other=0)[:, None]
        is_node = j < num_nodes
        mine = inside[:, None]
        rows = tl.load(x + j * hidden + d[None, :], mask=mine & is_node, other=0.0)
        rows += tl.load(
            pooled + (j - num_nodes) * hidden + d[None, :],
            mask=mine & (j >= num_nodes),
            other=0.0,
        )
        if transposed:
            matrix = d[None, :] * hidden + d[:, None]
        else:
            matrix = d[:, None] * hidden + d[None, :]
        w = tl.load(weight + r * hidden * hidden + matrix)
        product = tl.dot(rows, w, input_precision=precision)
        product *= tl.load(scale + t, mask=inside, other=0.0)[:, None]
        if shifted:
            factor = tl.load(shift_scale + t, mask=inside, other=0.0)
            vector = tl.load(shift + r * hidden + d)
            product += factor[:, None] * vector[None, :]
        tl.store(
            out + t[:, None] * hidden + d[None, :],
            product.to(out.dtype.element_ty),
            mask=mine,
        )


@triton.jit
def outer_rows_kernel(
    x,
    x_pooled,
    g,
    g_pooled,
    num_nodes,
    num_rows,
    gather,
    scatter,
    scale,
    shift_scale,
    tile_start,
    tile_end,
    part,
    shift_part,
    hidden: tl.constexpr,
    block: tl.constexpr,
    shifted: tl.constexpr,
    precision: tl.constexpr,
):
    """part[tile] = sum over its rows of scale_t x_ext[gather_t]^T g_ext[scatter_t].

    Rows from ``num_rows`` on are the nodes themselves, for the self-loop matrix.
    """
    tile = tl.program_id(0)
    start = tl.load(tile_start + tile)
    end = tl.load(tile_end + tile)
    if start < end:
        d = tl.arange(0, hidden)
        total = tl.zeros([hidden, hidden], dtype=tl.float32)
        shift_total = tl.zeros([hidden], dtype=tl.float32)
        is_root = start >= num_rows
        for i in range(start, end, block):
            t = i + tl.arange(0, block)
            inside = t < end
            listed = inside & (t < num_rows)
            j = tl.load(gather + t, mask=listed, other=0)
            q = tl.load(scatter + t, mask=listed, other=0)
            s = tl.load(scale + t, mask=listed, other=0.0)
            j = tl.where(is_root, t - num_rows, j)
            q = tl.where(is_root, t - num_rows, q)
            s = tl.where(is_root, 1.0, s)
            left = tl.load(
                x + j[None, :] * hidden + d[:, None],
                mask=(inside & (j < num_nodes))[None, :],
                other=0.0,
            )
            left += tl.load(
                x_pooled + (j - num_nodes)[None, :] * hidden + d[:, None],
                mask=(inside & (j >= num_nodes))[None, :],
                other=0.0,
            )
            right = tl.load(
                g + q[:, None] * hidden + d[None, :],
                mask=(inside & (q < num_nodes))[:, None],
                other=0.0,
            )
            right += tl.load(
                g_pooled + (q - num_nodes)[:, None] * hidden + d[None, :],
                mask=(inside & (q >= num_nodes))[:, None],
                other=0.0,
            )
            wide = right.to(tl.float32)
            if shifted:
                factor = tl.load(shift_scale + t, mask=listed, other=0.0)
                shift_total += tl.sum(wide * factor[:, None], 0)
            right = (wide * s[:, None]).to(left.dtype)
            total = tl.dot(left, right, total, input_precision=precision)
        square = d[:, None] * hidden + d[None, :]
        tl.store(part + tile * hidden * hidden + square, total)
        if shifted:
            tl.store(shift_part + tile * hidden + d, shift_total)


@triton.jit
def sum_tiles_kernel(
    part, tile_ptr, out, width: tl.constexpr, columns: tl.constexpr, block: tl.constexpr
):
    """out[r] = sum of the parts of the tiles of relation r, a few tiles at a time."""
    r = tl.program_id(0)
    c = tl.program_id(1) * columns + tl.arange(0, columns)
    start = tl.load(tile_ptr + r)
    end = tl.load(tile_ptr + r + 1)
    total = tl.zeros([block, columns], dtype=tl.float32)
    for i in range(start, end, block):
        k = i + tl.arange(0, block)
        total += tl.load(
            part + k[:, None] * width + c[None, :], mask=(k < end)[:, None], other=0.0
        )
    tl.store(out + r * width + c, tl.sum(total, 0))


@triton.jit
def add_rows(
    total,
    rows,
    ptr,
    column,
    weight,
    r,
    inside,
    d,
    hidden: tl.constexpr,
    weighted: tl.constexpr,
):
    """Add to ``total`` the rows listed for each of a block of nodes."""
    start = tl.load(ptr + r, mask=inside, other=0)
    degree = tl.load(ptr + r + 1, mask=inside, other=0) - start
    for k in range(tl.max(degree, 0)):
        listed = k < degree
        c = tl.load(column + start + k, mask=listed, other=0)
        value = tl.load(
            rows + c[:, None] * hidden + d[None, :], mask=listed[:, None], other=0.0
        ).to(tl.float32)
        if weighted:
            value *= tl.load(weight + start + k, mask=listed, other=0.0)[:, None]
        total += value
    return total


@triton.jit
def gather_nodes_kernel(
    x,
    root,
    bias,
    rows,
    ptr,
    column,
    weight,
    out,
    num_nodes,
    hidden: tl.constexpr,
    block: tl.constexpr,
    backward: tl.constexpr,
    precision: tl.constexpr,
):
    """Out = x root + bias + Q rows; backward: out = x root^T + P rows."""
    r = tl.program_id(0) * block + tl.arange(0, block)
    inside = r < num_nodes
    d = tl.arange(0, hidden)
    at = r[:, None] * hidden + d[None, :]
    mine = inside[:, None]
    states = tl.load(x + at, mask=mine, other=0.0)
    if backward:
        matrix = d[None, :] * hidden + d[:, None]
    else:
        matrix = d[:, None] * hidden + d[None, :]
    total = tl.dot(states, tl.load(root + matrix), input_precision=precision)
    if not backward:
        total += tl.load(bias + d)[None, :]
    total = add_rows(
        total, rows, ptr, column, weight, r, inside, d, hidden, not backward
    )
    tl.store(out + at, total.to(out.dtype.element_ty), mask=mine)
