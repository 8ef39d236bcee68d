"""Shards: what was written is read back, one by one and in batches."""

from __future__ import annotations

import json
import socket
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch_geometric.data import Batch

from benchmarks.random_graphs import (
    THESIS_SCHEMA,
    GraphShape,
    RandomGraphs,
    Representative,
    write_random_shards,
)
from mathamr_kedro.base.errors import (
    DamagedFileError,
    GraphError,
    InputError,
    MalformedInputError,
    MissingInputError,
)
from mathamr_kedro.graph.arrays import FORMULA, GraphArrays
from mathamr_kedro.graph.shards.batches import GraphBatch
from mathamr_kedro.graph.shards.reader import GraphShards
from mathamr_kedro.graph.shards.writer import ShardWriter, join_shards
from mathamr_kedro.integrations import to_pyg
from tests.graph.small_graphs import lay_out_graph

SMALL = GraphShape(median_nodes=20)


def draw_graphs(count, structure="hierarchy", seed=0):
    source = RandomGraphs(shape=SMALL, structure=structure, seed=seed)
    return [source.draw() for _ in range(count)]


def write(folder, graphs, schema=THESIS_SCHEMA, start=0):
    with ShardWriter(folder, schema) as writer:
        for i, graph in enumerate(graphs, start):
            writer.add(f"p{i}", graph)
    return GraphShards(folder)


def test_formulas_keep_their_names(tmp_path):
    graphs = draw_graphs(5)
    counts = [int((g.representative_kind == FORMULA).sum()) for g in graphs]
    assert sum(counts) > 3
    names = [[(f"f{i}:{n}", "é" * n) for n in range(c)] for i, c in enumerate(counts)]
    with ShardWriter(tmp_path / "a", THESIS_SCHEMA) as writer:
        for i, (graph, named) in enumerate(zip(graphs, names, strict=True)):
            writer.add(f"p{i}", graph, named if i != 3 else ())
    names[3] = [("", "")] * counts[3]
    shards = GraphShards(tmp_path / "a")
    for chosen in ([4, 0, 3], range(5), [2], []):
        found = zip(*shards.name_formulas(chosen), strict=True)
        assert list(found) == [name for i in chosen for name in names[i]]
    join_shards([(tmp_path / "a", None)], tmp_path / "b", THESIS_SCHEMA)
    ids, _ = GraphShards(tmp_path / "b").name_formulas([1])
    assert list(ids) == [name for name, _ in names[1]]


def test_names_of_other_formulas_are_refused(tmp_path):
    (graph,) = draw_graphs(1)
    with (
        pytest.raises(GraphError, match="Expected names of"),
        ShardWriter(tmp_path / "a", THESIS_SCHEMA) as writer,
    ):
        writer.add("p", graph, [("f", "v")] * 99)
    with (
        pytest.raises(GraphError, match="ids of less than 65536 bytes"),
        ShardWriter(tmp_path / "a", THESIS_SCHEMA) as writer,
    ):
        count = int((graph.representative_kind == FORMULA).sum())
        writer.add("p", graph, [("f" * 70_000, "v")] * count)


def wide_graph(n=70_000):
    # A chain whose ends and members need more than two bytes.
    nodes = np.arange(n)
    return GraphArrays(
        node_type=np.append(nodes % 1000, [20_000, 20_002]).astype(np.uint32),
        source=nodes[:-1].astype(np.uint32),
        target=nodes[1:].astype(np.uint32),
        relation=np.full(n - 1, 3, dtype=np.uint32),
        member_count=np.array([2, n], dtype=np.uint32),
        member=np.append([5, n - 1], nodes).astype(np.uint32),
        representative=np.array([n, n + 1], dtype=np.uint32),
        representative_kind=np.array([0, 2], dtype=np.uint32),
        representative_number=np.zeros(2, dtype=np.uint32),
        representative_label=np.array([4_000_000_000 % 2**31, 0], dtype=np.uint32),
    )


def assert_equals_pyg_batch(batch, graphs, schema=THESIS_SCHEMA):
    """The slow twin: PyG puts the graphs side by side one by one."""
    other = Batch.from_data_list([to_pyg(g, schema) for g in graphs])
    assert torch.equal(batch.node_type.long(), other.x)
    mine = torch.stack(batch.list_edges()).T
    theirs = torch.cat([other.edge_index, other.edge_type[None]]).T
    assert torch.equal(torch.unique(mine, dim=0), torch.unique(theirs, dim=0))
    assert len(mine) == len(theirs)
    assert torch.equal(batch.is_virtual(), other.virtual)
    ptr = batch.representative_ptr.tolist()
    first = batch.node_ptr.tolist()
    for i, g in enumerate(graphs):
        part = slice(ptr[i], ptr[i + 1])
        nodes = batch.representative[part] - first[i]
        assert nodes.tolist() == g.representative.tolist()
        assert (
            batch.representative_kind[part].tolist() == g.representative_kind.tolist()
        )
        labels = batch.representative_label[part]
        assert labels.tolist() == g.representative_label.tolist()
    virtual = batch.is_virtual().nonzero().flatten()
    assert torch.equal(batch.virtual_node.long(), virtual)
    assert batch.member_of.diff().ge(0).all()


@pytest.mark.parametrize(
    "structure", ["hierarchy", "none", "global_maxsim", "global_single"]
)
def test_graphs_and_batches_come_back(tmp_path, structure):
    graphs = draw_graphs(40, structure)
    shards = write(tmp_path / "shards", graphs)
    assert len(shards) == 40
    assert all(shards.graph(i) == g for i, g in enumerate(graphs))
    chosen = [7, 3, 3, 39, 0]
    batch = shards.assemble(chosen)
    assert batch.num_graphs == 5
    assert_equals_pyg_batch(batch, [graphs[i] for i in chosen])


@pytest.mark.slow
def test_graph_of_more_than_65536_nodes_keeps_its_node_numbers(tmp_path):
    small = draw_graphs(4)
    graphs = [small[0], wide_graph(), small[1], wide_graph(66_000), small[2]]
    shards = write(tmp_path / "shards", graphs)
    assert all(shards.graph(i) == g for i, g in enumerate(graphs))
    for chosen in ([4, 3, 1, 0], [2, 0], [1]):
        assert_equals_pyg_batch(shards.assemble(chosen), [graphs[i] for i in chosen])
    whole = shards.whole("member")
    assert whole.max() == 69_999
    assert np.array_equal(whole, np.concatenate([g.member for g in graphs]))


def test_one_wide_graph_does_not_widen_the_others(tmp_path):
    write(tmp_path / "shards", [*draw_graphs(4), wide_graph()])
    edge = np.load(tmp_path / "shards" / "edge.npy")
    assert edge.dtype == np.uint16


def test_empty_batch_has_no_graphs(tmp_path):
    batch = write(tmp_path / "shards", draw_graphs(3)).assemble([])
    assert (batch.num_graphs, batch.num_nodes) == (0, 0)


def test_vocabulary_beyond_two_bytes_is_kept(tmp_path):
    schema = replace(THESIS_SCHEMA, num_node_types=100_000)
    graph = lay_out_graph(
        [99_999], [], [(2, [0])], [Representative(1, 2)], schema
    )  # fmt: skip
    shards = write(tmp_path / "shards", [graph], schema)
    assert shards.graph(0).node_type.tolist() == [99_999, 100_002]


def test_posts_are_found_by_their_id(tmp_path):
    shards = write(tmp_path / "shards", draw_graphs(12))
    assert shards.keys[:2] == ["p0", "p1"]
    assert shards.position("p11") == 11
    with pytest.raises(MissingInputError, match=r"post 'p111'.*did you mean 'p11'"):
        shards.position("p111")


def test_ids_in_any_script_come_back(tmp_path):
    keys = ["Riemann_zeta:12", "定理", "ζ(s)", ""]
    with ShardWriter(tmp_path / "shards", THESIS_SCHEMA) as writer:
        for key, graph in zip(keys, draw_graphs(4), strict=True):
            writer.add(key, graph)
    assert GraphShards(tmp_path / "shards").keys == keys


def test_flushing_often_changes_nothing(tmp_path, monkeypatch):
    graphs = [*draw_graphs(7), wide_graph(), *draw_graphs(2, seed=1)]
    write(tmp_path / "one", graphs)
    # A thousand graphs would be written to see the second flush.
    monkeypatch.setattr("mathamr_kedro.graph.shards.writer._FLUSH", 3)
    write(tmp_path / "two", graphs)
    for path in (tmp_path / "one").iterdir():
        assert path.read_bytes() == (tmp_path / "two" / path.name).read_bytes()


def test_joined_parts_equal_one_writer(tmp_path):
    graphs = [*draw_graphs(9), wide_graph(), *draw_graphs(5, seed=1)]
    write(tmp_path / "whole", graphs)
    write(tmp_path / "a", graphs[:4])
    write(tmp_path / "b", graphs[4:], start=4)
    parts = [(tmp_path / "a", None), (tmp_path / "b", None)]
    join_shards(parts, tmp_path / "joined", THESIS_SCHEMA)
    for path in (tmp_path / "whole").iterdir():
        assert path.read_bytes() == (tmp_path / "joined" / path.name).read_bytes()


def test_joining_refuses_other_vocabularies_and_nothing(tmp_path):
    write(tmp_path / "a", draw_graphs(1))
    write(tmp_path / "b", [], replace(THESIS_SCHEMA, mask_type=2))
    parts = [(tmp_path / "a", None), (tmp_path / "b", None)]
    with pytest.raises(MalformedInputError, match=r"schema .*/b'"):
        join_shards(parts, tmp_path / "joined", THESIS_SCHEMA)
    with pytest.raises(InputError, match="got none"):
        join_shards([], tmp_path / "joined", THESIS_SCHEMA)


def test_failed_writing_leaves_no_folder(tmp_path):
    with pytest.raises(GraphError, match="'p0' twice"):
        write_twice(tmp_path / "shards")
    assert list(tmp_path.iterdir()) == []


def write_twice(folder):
    with ShardWriter(folder, THESIS_SCHEMA) as writer:
        for graph in draw_graphs(2):
            writer.add("p0", graph)


def test_killed_writer_leaves_the_old_folder_and_is_cleaned_up(tmp_path):
    write(tmp_path / "shards", draw_graphs(2))
    part = tmp_path / f".shards.{socket.gethostname()}.{2**22 + 1}.part"
    part.mkdir()  # what a killed writer leaves
    (part / "edge.npy").write_bytes(b"half")
    assert len(GraphShards(tmp_path / "shards")) == 2
    assert len(write(tmp_path / "shards", draw_graphs(3))) == 3
    assert [p.name for p in tmp_path.iterdir()] == ["shards"]


def test_missing_or_foreign_folder_is_refused(tmp_path):
    with pytest.raises(MissingInputError, match=r"no meta\.json"):
        GraphShards(tmp_path)
    shards = tmp_path / "shards"
    write(shards, draw_graphs(2))
    (shards / "seals.json").unlink()  # as earlier versions left it
    meta = json.loads((shards / "meta.json").read_text())
    (shards / "meta.json").write_text(json.dumps(meta | {"num_graphs": 3}))
    with pytest.raises(MalformedInputError, match="Expected 3 graphs"):
        GraphShards(shards)
    (shards / "meta.json").write_text(json.dumps(meta | {"version": 0}))
    with pytest.raises(MalformedInputError, match=r"version 3 .* \(got 0\); run the"):
        GraphShards(shards)


def test_truncated_file_is_refused(tmp_path):
    folder = tmp_path / "shards"
    write(folder, draw_graphs(3))
    np.save(folder / "member.npy", np.load(folder / "member.npy")[:-1])
    with pytest.raises(DamagedFileError, match=r"member\.npy.*run the stage"):
        GraphShards(folder)
    (folder / "seals.json").unlink()  # as earlier versions left it
    with pytest.raises(MalformedInputError, match=r"values in member\.npy"):
        GraphShards(folder)


def test_thesis_sized_graphs_take_two_kilobytes(tmp_path):
    write_random_shards(tmp_path / "shards", 400, RandomGraphs(seed=3))
    sizes = np.load(tmp_path / "shards" / "sizes.npy")
    content = (sizes[:, 0] - sizes[:, 2]).sum()
    stored = sum(p.stat().st_size for p in (tmp_path / "shards").iterdir())
    assert stored / content * 156 < 2048


@pytest.mark.parametrize("structure", ["hierarchy", "none"])
def test_batch_of_one_graph_is_the_same_from_arrays_and_from_shards(
    tmp_path, structure
):
    graphs = draw_graphs(3, structure)
    shards = write(tmp_path, graphs)
    for place, graph in enumerate(graphs):
        one, other = GraphBatch.of_graph(graph, THESIS_SCHEMA), shards.assemble([place])
        for name, values in vars(other).items():
            if name not in ("schema", "representative_row") and values is not None:
                assert torch.equal(getattr(one, name), values), name
