"""Batches of fixed size from shards on a device equal those of the host."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
import pytest
import torch

from benchmarks.random_graphs import (
    THESIS_SCHEMA,
    GraphShape,
    RandomGraphs,
    write_random_shards,
)
from mathamr_kedro.graph.arrays import GraphArrays
from mathamr_kedro.graph.shards.reader import BatchSize, DeviceShards, GraphShards
from mathamr_kedro.graph.shards.writer import ShardWriter

CPU = torch.device("cpu")


def open_shards(folder, structure="hierarchy"):
    graphs = RandomGraphs(
        shape=GraphShape(median_nodes=20), structure=structure, seed=1
    )
    write_random_shards(folder, 12, graphs)
    return GraphShards(folder)


def exact_size(shards, positions):
    return BatchSize(*shards.measure(np.array([positions]))[0].tolist())


@pytest.mark.parametrize(
    "structure", ["hierarchy", "none", "global_maxsim", "global_single"]
)
def test_exact_size_gives_the_same_batch(tmp_path, structure):
    shards = open_shards(tmp_path / "shards", structure)
    positions = [7, 3, 3, 11, 0]
    mine = DeviceShards(shards, CPU).assemble(
        torch.tensor(positions), exact_size(shards, positions)
    )
    theirs = shards.assemble(positions)
    for field in fields(theirs):
        a, b = getattr(mine, field.name), getattr(theirs, field.name)
        is_plain = field.name == "schema" or b is None
        assert a == b if is_plain else torch.equal(a, b), field.name


def test_spare_room_points_past_the_nodes(tmp_path):
    shards = open_shards(tmp_path / "shards")
    positions = [2, 5]
    exact = exact_size(shards, positions)
    room = BatchSize(*(n + 4 for n in exact))
    batch = DeviceShards(shards, CPU).assemble(torch.tensor(positions), room)
    plain = shards.assemble(positions)
    assert batch.num_nodes == room.node
    for name in ("source", "target", "virtual_node", "member", "representative"):
        values, expected = getattr(batch, name), getattr(plain, name)
        assert torch.equal(values[:-4], expected), name
        assert values[-4:].eq(room.node).all(), name
    assert torch.equal(batch.member_of[:-4], plain.member_of)
    assert batch.member_of[-4:].eq(room.virtual).all()
    assert torch.equal(batch.representative_ptr, plain.representative_ptr)


def test_wide_graphs_keep_their_node_numbers(tmp_path):
    n = 70_000
    nodes = np.arange(n, dtype=np.uint32)
    one = np.ones(1, dtype=np.uint32)
    wide = GraphArrays(
        node_type=np.append(nodes % 9, np.uint32(20_002)),
        source=nodes[:-1],
        target=nodes[1:],
        relation=nodes[:-1] % 5,
        member_count=one * n,
        member=nodes,
        representative=one * n,
        representative_kind=one * 2,
        representative_number=one * 0,
        representative_label=one * 0,
    )
    with ShardWriter(tmp_path / "shards", THESIS_SCHEMA) as writer:
        writer.add("small", RandomGraphs(seed=3).draw())
        writer.add("wide", wide)
    shards = GraphShards(tmp_path / "shards")
    mine = DeviceShards(shards, CPU).assemble(
        torch.tensor([1, 0]), exact_size(shards, [1, 0])
    )
    theirs = shards.assemble([1, 0])
    for name in ("source", "target", "member", "representative", "node_type"):
        assert torch.equal(getattr(mine, name), getattr(theirs, name)), name


def test_memory_is_known_before_copying(tmp_path):
    shards = open_shards(tmp_path / "shards")
    stored = sum(p.stat().st_size for p in shards.folder.iterdir())
    assert 0 < DeviceShards.count_bytes(shards) < 2 * stored


def test_graphs_without_any_edge_make_batches_too(tmp_path):
    source = RandomGraphs(shape=GraphShape(median_nodes=8), seed=2)
    none = np.zeros(0, dtype=np.uint32)
    with ShardWriter(tmp_path / "shards", THESIS_SCHEMA) as writer:
        for i in range(3):
            graph = replace(source.draw(), source=none, target=none, relation=none)
            writer.add(f"p{i}", graph)
    shards = GraphShards(tmp_path / "shards")
    room = BatchSize(*(n + 2 for n in exact_size(shards, [0, 2])))
    batch = DeviceShards(shards, CPU).assemble(torch.tensor([0, 2]), room)
    assert (batch.source == room.node).all()
