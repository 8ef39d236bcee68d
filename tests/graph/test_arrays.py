"""Graph arrays: the layout and its checks."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.random_graphs import Representative
from mathamr_kedro.base.errors import GraphError
from mathamr_kedro.graph.arrays import GraphSchema
from mathamr_kedro.graph.shards.batches import GraphBatch
from tests.graph.small_graphs import lay_out_graph

ARG1, OPT, SLT, V_FORMULA, V_SENTENCE, V_DOCUMENT, AUX = range(7)
SCHEMA = GraphSchema(
    num_node_types=50,
    num_forward=7,
    mask_type=1,
    virtual_relations=(V_FORMULA, V_SENTENCE, V_DOCUMENT),
)


def draw(**changes):
    # 0 even-01 -ARG1-> 1 FORMULA_0 -opt-> 2 x, 1 -slt-> 3 x; 4 formula, 5 sentence,
    # 6 document, and an auxiliary edge from the formula to the sentence.
    parts = {
        "node_types": [17, 9, 42, 42],
        "edges": [(0, 1, ARG1), (1, 2, OPT), (1, 3, SLT), (4, 5, AUX)],
        "virtual_nodes": [(0, [2, 3]), (1, [0, 1]), (2, [4, 5, 0])],
        "representatives": [
            Representative(4, 0, number=0, label=7),
            Representative(5, 1),
            Representative(6, 2),
        ],
    }
    return lay_out_graph(**(parts | changes), schema=SCHEMA)


def test_virtual_nodes_follow_the_content_nodes():
    graph = draw()
    assert graph.node_type.tolist() == [17, 9, 42, 42, 50, 51, 52]
    assert (graph.num_nodes, graph.num_content) == (7, 4)
    assert graph.member.tolist() == [2, 3, 0, 1, 4, 5, 0]


def test_every_edge_has_its_inverse():
    batch = GraphBatch.of_graph(draw(), SCHEMA)
    edges = set(zip(*(a.tolist() for a in batch.list_edges()), strict=True))
    assert edges == {
        (0, 1, ARG1), (1, 2, OPT), (1, 3, SLT), (4, 5, AUX),
        (1, 0, ARG1 + 7), (2, 1, OPT + 7), (3, 1, SLT + 7), (5, 4, AUX + 7),
        (4, 2, V_FORMULA), (4, 3, V_FORMULA), (5, 0, V_SENTENCE), (5, 1, V_SENTENCE),
        (2, 4, V_FORMULA + 7), (3, 4, V_FORMULA + 7),
        (0, 5, V_SENTENCE + 7), (1, 5, V_SENTENCE + 7),
        (6, 4, V_DOCUMENT), (6, 5, V_DOCUMENT), (6, 0, V_DOCUMENT),
        (4, 6, V_DOCUMENT + 7), (5, 6, V_DOCUMENT + 7), (0, 6, V_DOCUMENT + 7),
    }  # fmt: skip


def test_graph_without_virtual_nodes_is_allowed():
    graph = draw(
        edges=[(0, 1, ARG1)], virtual_nodes=[], representatives=[Representative(1, 0)]
    )
    assert graph.num_content == graph.num_nodes == 4


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"node_types": [50, 0, 0, 0]}, "node_type of a content node to be below 50"),
        ({"edges": [(0, 7, ARG1)]}, "target to be below 7"),
        ({"edges": [(0, 1, 9)]}, "relation to be below 7"),
        ({"edges": [(0, 1, V_SENTENCE)]}, "no relation of virtual nodes"),
        ({"virtual_nodes": [(2, [0]), (0, [1]), (1, [2])]}, "document to be the last"),
        ({"virtual_nodes": [(0, [4]), (1, [1]), (2, [2])]}, "another node than the"),
        ({"virtual_nodes": [(0, [2, 2]), (1, [1]), (2, [2])]}, "each node once"),
        ({"virtual_nodes": [(0, [9]), (1, [1]), (2, [2])]}, "member to be below 7"),
        ({"virtual_nodes": [(3, [2]), (1, [1]), (2, [2])]}, "virtual node to be below"),
        ({"representatives": [Representative(7, 2)]}, "representative to be below 7"),
        (
            {"representatives": [Representative(6, 5)]},
            "representative_kind to be below",
        ),
        ({"representatives": []}, "at least one representative"),
    ],
)
def test_broken_graph_is_refused(changes, message):
    with pytest.raises(GraphError, match=message):
        draw(**changes)


@pytest.mark.parametrize(
    ("name", "message"),
    [("relation", "of one length"), ("member", "7 members by member_count")],
)
def test_arrays_of_different_lengths_are_refused(name, message):
    graph = draw()
    broken = replace(graph, **{name: getattr(graph, name)[:-1]})
    with pytest.raises(GraphError, match=message):
        broken.check(SCHEMA)


def test_virtual_node_with_a_content_type_is_refused():
    graph = draw()
    types = graph.node_type.copy()
    types[5] = 3
    with pytest.raises(GraphError, match="virtual node to be >= 50"):
        replace(graph, node_type=types).check(SCHEMA)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"mask_type": 50}, "mask_type below 50"),
        ({"virtual_relations": (3, 3, 4)}, "one relation for each"),
        ({"virtual_relations": (3, 4, 7)}, "virtual relations below 7"),
    ],
)
def test_impossible_schema_is_refused(changes, message):
    with pytest.raises(GraphError, match=message):
        replace(SCHEMA, **changes)


def test_graphs_are_compared_by_their_values():
    assert draw() == draw()
    assert draw() != draw(node_types=[17, 9, 42, 43])
    assert draw() != np.zeros(3)
