"""Sums over listed rows by Triton kernels, and rows of a table by number.

The gradient of a table is a sum over the uses of each of its rows. They are side by
side once their numbers are sorted. They are cut into tiles, each tile is summed by one
program, and then the tiles of each row: two short sums instead of a long one, in a
fixed order, without atomics, so that common rows do not slow it down::

    sorted   0 0 0 0 0 | 0 0 | 2 2 | 3       tiles  0    1    2    3
    row      sum of tiles 0, 1   -   2   3
"""
# ruff: noqa: PLR0913, PLR0917

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor

from mathamr_kedro.model.tiles import Tiles

_TILE = 128
_LARGEST_SHORT = 2**15 - 1


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
    # All nodes of a block take as many steps as the one with the most rows.
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
def _sum_members_kernel(
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


def sum_runs(
    values: Tensor, ptr: Tensor, member: Tensor, weight: Tensor | None = None
) -> Tensor:
    """Sum ``values[member]``, as weighted, between neighbours of ``ptr``."""
    runs, width = ptr.numel() - 1, values.shape[1]
    out = values.new_empty(runs, width)
    _sum_members_kernel[(runs,)](
        values, out, ptr, member, values if weight is None else weight, width, 16,
        weight is not None, num_warps=2,
    )  # fmt: skip
    return out


def look_up_rows(table: Tensor, index: Tensor) -> Tensor:
    """``table[index]``, float32."""
    found: Tensor = _LookUp.apply(table, index)
    return found


class _LookUp(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, table: Tensor, index: Tensor) -> Tensor:
        ctx.save_for_backward(index)
        ctx.rows = len(table)
        return table.index_select(0, index)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None]:
        (index,) = ctx.saved_tensors
        return _sum_uses(grad.contiguous(), index, ctx.rows), None


def _sum_uses(grad: Tensor, index: Tensor, rows: int) -> Tensor:
    """(rows, d) sums of ``grad`` over the uses of each row."""
    uses = len(index)
    # Two bytes sort in half the passes of four.
    narrow = torch.int16 if rows <= _LARGEST_SHORT else torch.int32
    ascending, order = torch.sort(index.to(narrow), stable=True)
    steps = torch.arange(rows + 1, device=index.device, dtype=narrow)
    ptr = torch.searchsorted(ascending, steps)
    tiles = Tiles.cut(ptr.diff(), ptr[:-1], _TILE, uses // _TILE + rows)
    count = tiles.start.numel()
    # Tiles follow each other without gaps; spare ones are empty, behind all others.
    number = torch.arange(count, device=index.device)
    start = torch.where(number < tiles.ptr[-1], tiles.start, uses)
    start = torch.cat([start, start.new_full((1,), uses)])
    part = sum_runs(grad, start, order)
    return sum_runs(part, tiles.ptr, number)
