"""Rows cut into tiles: every row once, whatever the relations."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from mathamr_kedro.model.row_plan import RowPlan
from mathamr_kedro.model.tiles import TiledRows, Tiles


@pytest.mark.parametrize("counts", [[0, 5, 64, 65, 0], [1] * 9, [130], [0, 0, 3]])
def test_every_row_is_in_one_tile_of_its_relation(counts):
    count = torch.tensor(counts)
    first = torch.cumsum(count, 0) - count
    limit = sum(counts) // 64 + len(counts)
    tiles = Tiles.cut(count, first, 64, limit)
    assert len(tiles.start) == limit
    rows = []
    for relation, start, end in zip(
        tiles.relation.tolist(), tiles.start.tolist(), tiles.end.tolist(), strict=True
    ):
        assert 0 <= end - start <= 64
        rows += [(row, relation) for row in range(start, end)]
    owners = np.repeat(np.arange(len(counts)), counts).tolist()
    assert rows == list(enumerate(owners))
    assert tiles.ptr.tolist() == [0, *np.cumsum(np.ceil(np.array(counts) / 64))]


def test_the_nodes_follow_the_rows_as_one_more_relation(batch):
    plan = RowPlan.of_batch(batch)
    many = replace(plan, num_nodes=1000)  # more tiles than all the rows have
    outer = TiledRows.of_plan(many).outer
    rows = [
        row
        for start, end in zip(outer.start.tolist(), outer.end.tolist(), strict=True)
        for row in range(start, end)
    ]
    assert rows == list(range(plan.num_rows + 1000))
    assert int(outer.relation[-2]) == plan.num_relations


@pytest.mark.parametrize(("rows", "length"), [(65_535, 128), (65_536, 512)])
def test_many_rows_are_cut_into_longer_tiles(batch, rows, length):
    ends = [rows] * batch.schema.num_relations  # all are of the first relation
    plan = replace(
        RowPlan.of_batch(batch), gather=torch.zeros(rows), num_nodes=2 * length + 1,
        relation_ptr=torch.tensor([0, *ends]),
    )  # fmt: skip
    outer = TiledRows.of_plan(plan).outer
    assert int((outer.end - outer.start).max()) == length
    # As many as there can be: each relation and the nodes may end within a tile.
    relations = plan.num_relations
    assert len(outer.start) == rows // length + relations + 2 + 1
