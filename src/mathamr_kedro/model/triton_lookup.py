"""Rows of a table by number, with a gradient that common rows do not slow down.

The uses of a row stand side by side once their numbers are sorted. They are cut into
tiles, each tile is summed by one program, and then the tiles of each row: two short
sums instead of a long one, in a fixed order, without atomics::

    sorted   0 0 0 0 0 | 0 0 | 2 2 | 3       tiles  0    1    2    3
    row      sum of tiles 0, 1   -   2   3
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from mathamr_kedro.model.triton_kernels import sum_members_kernel
from mathamr_kedro.model.triton_rows import tile_rows

_TILE = 128
_LARGEST_SHORT = 2**15 - 1


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
        return sum_uses(grad.contiguous(), index, ctx.rows), None


def sum_uses(grad: Tensor, index: Tensor, rows: int) -> Tensor:
    """(rows, d) sums of ``grad`` over the uses of each row."""
    uses = len(index)
    # Two bytes sort in half the passes of four.
    narrow = torch.int16 if rows <= _LARGEST_SHORT else torch.int32
    ascending, order = torch.sort(index.to(narrow), stable=True)
    steps = torch.arange(rows + 1, device=index.device, dtype=narrow)
    ptr = torch.searchsorted(ascending, steps)
    tiles = tile_rows(ptr.diff(), ptr[:-1], _TILE, uses // _TILE + rows)
    count = tiles.start.numel()
    # Tiles follow each other without gaps; spare ones are empty, behind all others.
    number = torch.arange(count, device=index.device)
    start = torch.where(number < tiles.ptr[-1], tiles.start, uses)
    start = torch.cat([start, start.new_full((1,), uses)])
    part = _sum_runs(grad, start, order)
    return _sum_runs(part, tiles.ptr, number)


def _sum_runs(values: Tensor, ptr: Tensor, member: Tensor) -> Tensor:
    """Sum ``values[member]`` between neighbours of ``ptr``."""
    runs, width = ptr.numel() - 1, values.shape[1]
    out = values.new_empty(runs, width)
    sum_members_kernel[(runs,)](
        values, out, ptr, member, values, width, 16, False, num_warps=2
    )
    return out
