"""Triton kernels of the row-factorised relational convolution, and their launcher.

Each output element is written by one program, and sums run in a fixed order, so results
repeat bit by bit. Sums are kept in ``float32`` whatever the type of the factors.

Names: ``hidden`` is the width d of node states; ``x_ext`` is the node states with the
member sums behind them, given as ``x`` and ``pooled``; node counts and row counts are
those of :class:`~mathamr_kedro.model.row_plan.RowPlan`.
"""
# ruff: noqa: PLR0913, PLR0917

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor

from mathamr_kedro.model.tiles import ROW_TILE, TiledRows
from mathamr_kedro.model.triton_sums import sum_runs

NODE_BLOCK = 32
"""Nodes of one program."""

_OUTER_BLOCK = 32
_INPUT_PRECISION = {"fp32": "tf32x3", "tf32": "tf32", "bf16": "tf32"}


@triton.jit
def _multiply_rows_kernel(
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
    # Spare tiles are empty: there are always as many, so that no launch has to wait for
    # counts from the device.
    if start < end:
        r = tl.load(tile_relation + tile)
        t = start + tl.arange(0, block)
        inside = t < end
        d = tl.arange(0, hidden)
        j = tl.load(gather + t, mask=inside, other=0)[:, None]
        is_node = j < num_nodes
        mine = inside[:, None]
        # x_ext is never concatenated: a row is read from the states or from the sums of
        # members, and the other load gives zeros.
        rows = tl.load(x + j * hidden + d[None, :], mask=mine & is_node, other=0.0)
        rows += tl.load(
            pooled + (j - num_nodes) * hidden + d[None, :],
            mask=mine & (j >= num_nodes),
            other=0.0,
        )
        if transposed:
            # W_r^T is W_r read with swapped strides.
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
def _outer_rows_kernel(
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
        # The self-loop is one more relation, whose rows are all nodes with factor 1; a
        # tile has rows of one relation only.
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
            # Scaled in float32 and rounded once: bfloat16 would round the product
            # again.
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
def _sum_tiles_kernel(
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


class Launcher:
    """The kernels, launched for one plan and one type of factors."""

    def __init__(self, graph: TiledRows, hidden: int, precision: str) -> None:
        self.graph, self.plan, self.hidden = graph, graph.plan, hidden
        self.precision = _INPUT_PRECISION[precision]

    def sum_members(self, x: Tensor, *, weighted: bool) -> Tensor:
        """(V, d) sums over the members of each virtual node."""
        plan = self.plan
        if not plan.num_virtual:  # kernels want an address even so
            return x.new_empty(1, self.hidden)
        weight = plan.member_weight if weighted else None
        return sum_runs(x, plan.member_ptr, plan.member, weight)

    def multiply(
        self, x: Tensor, pooled: Tensor, weight: Tensor, shift: Tensor | None
    ) -> Tensor:
        """(T, d) rows of the forward pass."""
        return self._multiply(x, pooled, weight, shift, self.plan.gather, False)

    def multiply_back(self, g: Tensor, pooled: Tensor, weight: Tensor) -> Tensor:
        """(T, d) rows of the backward pass."""
        return self._multiply(g, pooled, weight, None, self.plan.scatter, True)

    def _multiply(
        self,
        x: Tensor,
        pooled: Tensor,
        weight: Tensor,
        shift: Tensor | None,
        index: Tensor,
        transposed: bool,
    ) -> Tensor:
        plan, tiles = self.plan, self.graph.products
        out = x.new_empty(plan.num_rows, self.hidden)
        _multiply_rows_kernel[(tiles.start.numel(),)](
            x, pooled, plan.num_nodes, weight, index, plan.scale,
            weight if shift is None else shift, plan.shift,
            tiles.relation, tiles.start, tiles.end, out,
            self.hidden, ROW_TILE, transposed, shift is not None, self.precision,
            num_warps=4,
        )  # fmt: skip
        return out

    def multiply_outer(
        self, x: Tensor, x_pooled: Tensor, g: Tensor, g_pooled: Tensor, shifted: bool
    ) -> tuple[Tensor, Tensor | None]:
        """(R + 1, d, d) gradients of matrices, the self-loop last; and of shifts."""
        plan, tiles, d = self.plan, self.graph.outer, self.hidden
        count = tiles.start.numel()
        part = x.new_empty(count, d * d, dtype=torch.float32)
        shift_part = part.new_empty(count, d) if shifted else part
        _outer_rows_kernel[(count,)](
            x, x_pooled, g, g_pooled, plan.num_nodes, plan.num_rows,
            plan.gather, plan.scatter, plan.scale, plan.shift, tiles.start, tiles.end,
            part, shift_part, d, _OUTER_BLOCK, shifted, self.precision, num_warps=4,
        )  # fmt: skip
        relations = plan.num_relations + 1
        out = part.new_empty(relations, d, d)
        # Eight programs share the columns of a matrix: there may be fewer relations
        # than the GPU has multiprocessors.
        columns = d * d // 8
        _sum_tiles_kernel[(relations, 8)](
            part, tiles.ptr, out, d * d, columns, 4, num_warps=4
        )
        if not shifted:
            return out, None
        shift = part.new_empty(plan.num_relations, d)
        _sum_tiles_kernel[(plan.num_relations, 1)](
            shift_part, tiles.ptr, shift, d, d, 4, num_warps=1
        )
        return out, shift

    def node_grid(self) -> tuple[int]:
        """One program for each block of nodes."""
        return (-(-self.plan.num_nodes // NODE_BLOCK),)
