"""Row plans: few rows, right factors, and spare entries without effect."""

from __future__ import annotations

from dataclasses import replace

import torch

from benchmarks.random_graphs import Representative
from mathamr_kedro.graph import GraphSchema, GraphShards, ShardWriter
from mathamr_kedro.model.row_plan import RowPlan
from mathamr_kedro.model.tiles import TiledRows
from tests.graph.small_graphs import lay_out_graph

SCHEMA = GraphSchema(
    num_node_types=10, num_forward=5, mask_type=1, virtual_relations=(2, 3, 4)
)


def drawn_batch(tmp_path):
    # 0 -r0-> 2, 1 -r0-> 2, 0 -r1-> 1; sentences 3 (0 1), 4 (1 2); document 5 (3 4 0)
    graph = lay_out_graph(
        node_types=[2, 3, 4],
        edges=[(0, 2, 0), (1, 2, 0), (0, 1, 1)],
        virtual_nodes=[(1, [0, 1]), (1, [1, 2]), (2, [3, 4, 0])],
        representatives=[Representative(5, 2)],
        schema=SCHEMA,
    )
    with ShardWriter(tmp_path / "shards", SCHEMA) as writer:
        writer.add("post", graph)
    return GraphShards(tmp_path / "shards").assemble([0])


def rows_of(plan):
    """(what is read, relation, factor, where it adds) of each row"""
    columns = (plan.gather, plan.relation, plan.scale, plan.scatter)
    rows = zip(*(c.tolist() for c in columns), strict=True)
    return sorted((f, r, round(s, 4), b) for f, r, s, b in rows)


def test_rows_of_a_drawn_graph(tmp_path):
    plan = RowPlan.of_batch(drawn_batch(tmp_path))
    # Reads: nodes 0 to 5, then the member sums 6, 7, 8 of the virtual nodes 3, 4, 5.
    assert rows_of(plan) == sorted([
        (0, 0, 0.5, 2), (1, 0, 0.5, 2), (0, 1, 1.0, 1),  # edges
        (2, 5, 1.0, 0), (2, 5, 1.0, 1), (1, 6, 1.0, 0),  # their inverses
        (3, 3, 1.0, 6), (4, 3, 1.0, 7), (5, 4, 1.0, 8),  # virtual node to members
        (6, 8, 0.5, 3), (7, 8, 0.5, 4), (8, 9, 0.3333, 5),  # members to virtual node
    ])  # fmt: skip
    assert plan.relation.tolist() == sorted(plan.relation.tolist())


def test_member_of_two_sentences_gets_half_of_each(tmp_path):
    plan = RowPlan.of_batch(drawn_batch(tmp_path))
    # members: 0 1 | 1 2 | 3 4 0; node 1 is in both sentences
    assert plan.member_weight.tolist() == [1, 0.5, 0.5, 1, 1, 1, 1]
    start, end = plan.node_ptr[1:3].tolist()
    weights = sorted(plan.out_weight[start:end].tolist())
    assert weights[:2] == [0.5, 0.5]
    assert all(w == 1 for w in weights[2:])


def test_dropped_edges_leave_the_mean(tmp_path):
    batch = drawn_batch(tmp_path)
    keep = torch.ones(6, dtype=torch.bool)
    keep[1] = False  # 1 -r0-> 2
    rows = rows_of(RowPlan.of_batch(batch, keep))
    assert (0, 0, 1.0, 2) in rows
    assert (1, 0, 0.0, 2) in rows


def test_factors_of_a_node_and_relation_sum_to_one(batch):
    plan = RowPlan.of_batch(batch)
    is_edge = (plan.gather < plan.num_nodes) & (plan.scatter < plan.num_nodes)
    key = plan.relation[is_edge] * plan.num_nodes + plan.scatter[is_edge]
    sums = torch.zeros(int(key.max()) + 1).index_add_(0, key, plan.scale[is_edge])
    assert torch.allclose(sums[sums > 0], torch.ones(int((sums > 0).sum())))


def test_rows_are_fewer_than_edges(shards):
    batch = shards.assemble(range(8))
    plan = RowPlan.of_batch(batch)
    edges = 2 * (batch.source.numel() + batch.member.numel())
    expected = 2 * (batch.source.numel() + batch.virtual_node.numel())
    assert plan.num_rows == expected < edges


def pad(batch, nodes, edges, virtual, members):
    """Add spare entries, as buckets of fixed size do."""
    n, v = batch.num_nodes + nodes, batch.virtual_node.numel() + virtual

    def fill(values, count, value):
        return torch.cat([values, values.new_full((count,), value)])

    return replace(
        batch,
        node_type=fill(batch.node_type, nodes, 0),
        source=fill(batch.source, edges, n),
        target=fill(batch.target, edges, n),
        relation=fill(batch.relation, edges, 0),
        virtual_node=fill(batch.virtual_node, virtual, n),
        member=fill(batch.member, members, n),
        member_of=fill(batch.member_of, members, v),
    )


def test_spare_entries_add_rows_without_effect(batch):
    plain, padded = RowPlan.of_batch(batch), RowPlan.of_batch(pad(batch, 7, 5, 3, 4))
    alive = padded.relation < padded.num_relations
    assert padded.num_rows == plain.num_rows + 2 * 5 + 2 * 3
    assert int(alive.sum()) == plain.num_rows
    assert torch.equal(padded.relation_ptr, plain.relation_ptr)
    assert torch.equal(padded.scale[alive], plain.scale)
    assert not padded.scale[~alive].any()
    assert not padded.shift[~alive].any()
    ptr = padded.node_ptr[: batch.num_nodes + 1]
    assert torch.equal(ptr, plain.node_ptr)
    assert torch.equal(padded.out_row[: ptr[-1]], plain.out_row)
    assert torch.equal(padded.in_row[: ptr[-1]], plain.in_row)
    assert torch.equal(padded.out_weight[: ptr[-1]], plain.out_weight)
    assert padded.node_ptr[batch.num_nodes :].unique().numel() == 1
    assert torch.equal(padded.member_ptr[: len(plain.member_ptr)], plain.member_ptr)


def test_large_batches_use_wide_sorting_keys(batch, monkeypatch):
    plain = RowPlan.of_batch(batch)
    # As though the batch had 2^31 places.
    monkeypatch.setattr("mathamr_kedro.model.row_plan._LARGEST_KEY", 10)
    wide = RowPlan.of_batch(batch)
    assert torch.equal(plain.gather, wide.gather)
    assert torch.equal(plain.relation, wide.relation)


def test_tiles_hold_every_row_of_a_plan_and_every_node(tmp_path):
    plan = RowPlan.of_batch(drawn_batch(tmp_path))
    tiled = TiledRows.of_plan(plan)
    for tiles, count in (
        (tiled.products, plan.num_rows),
        (tiled.outer, plan.num_rows + plan.num_nodes),
    ):
        rows = [
            row
            for start, end in zip(tiles.start.tolist(), tiles.end.tolist(), strict=True)
            for row in range(start, end)
        ]
        assert rows == list(range(count))
