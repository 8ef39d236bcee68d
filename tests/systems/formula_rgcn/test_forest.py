"""Trees as flat arrays against graphs built one by one."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from mathamr_kedro.base.errors import MissingInputError
from mathamr_kedro.formula.graphs import FormulaGraph
from mathamr_kedro.systems.formula_rgcn.forest import (
    Forest,
    ForestBuilder,
    TreeVocabulary,
)
from tests.systems.formula_rgcn.trees import (
    BACK,
    OPT,
    SLT,
    build_backward_graph,
    draw_trees,
)

TREES = st.sampled_from(["slt", "opt"]).flatmap(
    lambda kind: st.lists(draw_trees(kind), min_size=1, max_size=5)
)


def cut_subexpression(tree, draw):
    """The largest part without an internal node (section 3 of the paper), by search."""
    graph = build_backward_graph(tree)
    internal = sorted({parent for parent, _, _ in tree.edges})
    if not internal:
        return graph
    left = set(range(tree.size)) - {internal[int(draw * len(internal))]}
    parts = []
    while left:
        part, border = set(), [min(left)]
        while border:
            node = border.pop()
            part.add(node)
            ends = (b for a, _, b in graph.edges if a == node)
            border += [b for b in ends if b in left and b not in part]
        left -= part
        parts.append(part)
    place = {n: i for i, n in enumerate(sorted(max(parts, key=len)))}  # the first
    edges = [(place[a], e, place[b]) for a, e, b in graph.edges if {a, b} <= {*place}]
    return FormulaGraph(tuple(graph.nodes[n] for n in place), tuple(edges))


LABELS = Counter({"V!x": 5, "+": 2, "N!2": 2, "V!y": 1, "O!SUP": 9})
EDGES = Counter({"n": 7, "a": 2, "o": 1})


def make_forest(trees, min_count=1):
    builder = ForestBuilder()
    for tree in trees:
        builder.add(tree)
    vocabulary = TreeVocabulary.count(builder.labels, builder.edges, min_count)
    return builder.finish(vocabulary)


def name_graphs(batch, vocabulary):
    """Labels and named edges of each graph, numbered within it."""
    ptr = batch.node_ptr.tolist()
    labels = [vocabulary.labels.names[number] for number in batch.node_type.tolist()]
    graphs = []
    listed = torch.stack(batch.list_edges(), 1).tolist()
    count = len(vocabulary.edges) + 3  # relations of virtual nodes follow
    for a, b in pairwise(ptr):
        edges = set()
        for source, target, relation in listed:
            if a <= source < b:
                way, number = divmod(relation, count)
                name = vocabulary.edges.names[number] + BACK * way
                edges.add((source - a, name, target - a))
        graphs.append((tuple(labels[a:b]), edges))
    return graphs


@given(TREES)
def test_batches_are_the_backward_graphs(trees):
    forest = make_forest(trees)
    batch = forest.assemble(np.arange(len(trees)))
    slow = [build_backward_graph(tree) for tree in trees]
    expected = [(graph.nodes, set(graph.edges)) for graph in slow]
    assert name_graphs(batch, forest.vocabulary) == expected


@given(TREES, st.data())
def test_sub_expressions_are_those_of_the_slow_cut(trees, data):
    forest = make_forest(trees)
    rows = np.arange(len(trees))
    shares = st.floats(0, 1, exclude_max=True)
    draws = data.draw(st.lists(shares, min_size=len(trees), max_size=len(trees)))
    batch = forest.pair(rows, np.array(draws))
    slow = [
        *(build_backward_graph(tree) for tree in trees),
        *(
            cut_subexpression(tree, draw)
            for tree, draw in zip(trees, draws, strict=True)
        ),
    ]
    expected = [(graph.nodes, set(graph.edges)) for graph in slow]
    assert name_graphs(batch, forest.vocabulary) == expected


def test_every_internal_node_may_go():
    forest = make_forest([OPT])
    sizes = {
        len(forest.assemble(np.array([0]), np.array([draw])).node_type)
        for draw in (0.0, 0.4, 0.99)
    }
    # without U!plus: the power; without O!SUP: the product; without U!times: the rest
    assert sizes == {5, 3, 4}


@pytest.mark.parametrize("min_count", [1, 2])
def test_written_trees_come_back(tmp_path, min_count):
    forest = make_forest([SLT, SLT, type(SLT).from_string("[V!z]")], min_count)
    forest.save(tmp_path, "slg")
    again = Forest.load(tmp_path, "slg")
    names = again.vocabulary.labels.names
    assert names == forest.vocabulary.labels.names
    for name in ("label", "edge", "parent", "size", "largest", "ptr"):
        assert np.array_equal(getattr(again, name), getattr(forest, name)), name
    assert names[again.label[-1]] == ("V!z" if min_count == 1 else "V!?")


def test_a_forest_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(MissingInputError, match=r"slg_labels\.json"):
        Forest.load(tmp_path, "slg")
    make_forest([]).save(tmp_path, "slg")
    assert len(Forest.load(tmp_path, "slg")) == 0


def test_what_was_met_often_enough_has_a_number_the_most_frequent_first():
    found = TreeVocabulary.count(LABELS, EDGES)
    assert found.labels.names == (
        "?", "N!?", "O!?", "V!?", "O!SUP", "V!x", "+", "N!2",
    )  # fmt: skip
    assert found.edges.names == ("?", "n", "a")
    assert len(TreeVocabulary.count(LABELS, EDGES, 1).labels) == 9
    assert TreeVocabulary.count(LABELS, EDGES, 99).edges.names == ("?",)


def test_rare_labels_are_unknown_of_their_type_and_others_unknown():
    found = TreeVocabulary.count(LABELS, EDGES)
    numbers = [found.labels.find(label) for label in ("V!x", "V!y", "N!7", "-", "T!a")]
    assert numbers == [5, 3, 1, 0, 0]
    assert [found.edges.find(edge) for edge in ("n", "a", "o")] == [1, 2, 0]
    assert found.types == [0, 1, 2, 3, 2, 3, 0, 1]


def test_relations_of_virtual_nodes_come_behind_the_edges():
    schema = TreeVocabulary.count(LABELS, EDGES).schema
    assert (schema.num_node_types, schema.num_forward, schema.mask_type) == (8, 6, 0)
    assert schema.virtual_relations == (3, 4, 5)
