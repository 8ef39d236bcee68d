"""Launching the Triton kernels over the rows of a plan."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from mathamr_kedro.model.row_plan import RowPlan
from mathamr_kedro.model.triton_kernels import (
    multiply_rows_kernel,
    outer_rows_kernel,
    sum_members_kernel,
    sum_tiles_kernel,
)

NODE_BLOCK = 32
"""Nodes of one program."""

_ROW_TILE = 64
_OUTER_BLOCK = 32
_INPUT_PRECISION = {"fp32": "tf32x3", "tf32": "tf32", "bf16": "tf32"}


class Tiles(NamedTuple):
    """Runs of rows of one relation, at most ``size`` each; empty ones at the end."""

    relation: Tensor
    start: Tensor
    end: Tensor
    ptr: Tensor
    """(R + 1,) first tile of each relation."""


def tile_rows(count: Tensor, first: Tensor, size: int, limit: int) -> Tiles:
    """Cut runs of rows into tiles, without waiting for the device.

    Args:
        count: rows of each relation.
        first: first row of each relation.
        size: most rows of a tile.
        limit: number of tiles to make, enough for any counts of this total.
    """
    tiles = (count + (size - 1)) // size
    end_tile = torch.cumsum(tiles, 0)
    tile = torch.arange(limit, device=count.device)
    relation = torch.searchsorted(end_tile, tile, right=True)
    alive = relation < count.numel()
    relation = relation.clamp(max=count.numel() - 1)
    inside = tile - (end_tile - tiles)[relation]
    start = first[relation] + inside * size
    end = torch.minimum(start + size, first[relation] + count[relation])
    ptr = torch.cat([end_tile.new_zeros(1), end_tile])
    return Tiles(
        relation.int(),
        torch.where(alive, start, 0).int(),
        torch.where(alive, end, 0).int(),
        ptr.int(),
    )


@dataclass(frozen=True)
class TiledRows:
    """A plan with its tiles."""

    plan: RowPlan
    products: Tiles
    """For products of rows."""
    outer: Tiles
    """For sums of outer products; the nodes follow as one more relation."""


def tile_plan(plan: RowPlan) -> TiledRows:
    """Cut the rows of a plan into tiles for the kernels."""
    t, n, relations = plan.num_rows, plan.num_nodes, plan.num_relations
    count = plan.relation_ptr.diff()
    first = plan.relation_ptr[:-1]
    products = tile_rows(count, first, _ROW_TILE, t // _ROW_TILE + relations)
    chunk = 128 if t < 65_536 else 512
    with_root = torch.cat([count, count.new_full((1,), n)])
    first_root = torch.cat([first, first.new_full((1,), t)])
    limit = t // chunk + relations + n // chunk + 1
    return TiledRows(plan, products, tile_rows(with_root, first_root, chunk, limit))


class Launcher:
    """The kernels, launched for one plan and one type of factors."""

    def __init__(self, graph: TiledRows, hidden: int, precision: str) -> None:
        self.graph, self.plan, self.hidden = graph, graph.plan, hidden
        self.precision = _INPUT_PRECISION[precision]

    def sum_members(self, x: Tensor, *, weighted: bool) -> Tensor:
        """(V, d) sums over the members of each virtual node."""
        plan = self.plan
        out = x.new_empty(max(plan.num_virtual, 1), self.hidden)
        if plan.num_virtual:
            sum_members_kernel[(plan.num_virtual,)](
                x, out, plan.member_ptr, plan.member, plan.member_weight,
                self.hidden, 16, weighted, num_warps=2,
            )  # fmt: skip
        return out

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
        multiply_rows_kernel[(tiles.start.numel(),)](
            x, pooled, plan.num_nodes, weight, index, plan.scale,
            weight if shift is None else shift, plan.shift,
            tiles.relation, tiles.start, tiles.end, out,
            self.hidden, _ROW_TILE, transposed, shift is not None, self.precision,
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
        outer_rows_kernel[(count,)](
            x, x_pooled, g, g_pooled, plan.num_nodes, plan.num_rows,
            plan.gather, plan.scatter, plan.scale, plan.shift, tiles.start, tiles.end,
            part, shift_part, d, _OUTER_BLOCK, shifted, self.precision, num_warps=4,
        )  # fmt: skip
        relations = plan.num_relations + 1
        out = part.new_empty(relations, d, d)
        columns = d * d // 8
        sum_tiles_kernel[(relations, 8)](
            part, tiles.ptr, out, d * d, columns, 4, num_warps=4
        )
        if not shifted:
            return out, None
        shift = part.new_empty(plan.num_relations, d)
        sum_tiles_kernel[(plan.num_relations, 1)](
            shift_part, tiles.ptr, shift, d, d, 4, num_warps=1
        )
        return out, shift

    def node_grid(self) -> tuple[int]:
        """One program for each block of nodes."""
        return (-(-self.plan.num_nodes // NODE_BLOCK),)
