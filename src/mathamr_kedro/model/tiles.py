"""Rows of a plan cut into tiles of bounded size, one for each program of a kernel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from mathamr_kedro.model.row_plan import RowPlan

ROW_TILE = 64
"""Rows of a tile for products, at most."""


class Tiles(NamedTuple):
    """Runs of rows of one relation, at most ``size`` each; empty ones at the end."""

    relation: Tensor
    start: Tensor
    end: Tensor
    ptr: Tensor
    """(R + 1,) first tile of each relation."""

    @classmethod
    def cut(cls, count: Tensor, first: Tensor, size: int, limit: int) -> Tiles:
        """Cut runs of rows into tiles, without waiting for the device.

        Args:
            count: rows of each relation.
            first: first row of each relation.
            size: rows of a tile, at most.
            limit: number of tiles, enough for any counts of this total.
        """
        tiles = (count + (size - 1)) // size
        end_tile = torch.cumsum(tiles, 0)
        tile = torch.arange(limit, device=count.device)
        # The relation of a tile is found on the device by its number: no count is
        # copied to the host.
        relation = torch.searchsorted(end_tile, tile, right=True)
        alive = relation < count.numel()
        relation = relation.clamp(max=count.numel() - 1)
        inside = tile - (end_tile - tiles)[relation]
        start = first[relation] + inside * size
        end = torch.minimum(start + size, first[relation] + count[relation])
        ptr = torch.cat([end_tile.new_zeros(1), end_tile])
        return cls(
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

    @classmethod
    def of_plan(cls, plan: RowPlan) -> TiledRows:
        """Cut the rows of a plan into tiles for the kernels."""
        t, n, relations = plan.num_rows, plan.num_nodes, plan.num_relations
        count = plan.relation_ptr.diff()
        first = plan.relation_ptr[:-1]
        products = Tiles.cut(count, first, ROW_TILE, t // ROW_TILE + relations)
        # Longer tiles write fewer partial matrices; short batches need enough tiles to
        # occupy the GPU.
        chunk = 128 if t < 65_536 else 512
        with_root = torch.cat([count, count.new_full((1,), n)])
        first_root = torch.cat([first, first.new_full((1,), t)])
        limit = t // chunk + relations + n // chunk + 1
        return cls(plan, products, Tiles.cut(with_root, first_root, chunk, limit))
