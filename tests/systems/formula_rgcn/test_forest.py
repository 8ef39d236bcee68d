"""Trees as flat arrays against graphs built one by one."""

from __future__ import annotations

from itertools import pairwise
from random import Random

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from mathamr_kedro.base.errors import MissingInputError
from mathamr_kedro.formula.graphs import build_backward_graph, cut_subexpression
from mathamr_kedro.formula.graphs.backward_graph import BACK
from mathamr_kedro.systems.formula_rgcn.forest import Forest, ForestWriter
from mathamr_kedro.systems.formula_rgcn.vocabulary import Vocabulary
from tests.systems.formula_rgcn.trees import OPT, SLT, draw_trees

TREES = st.sampled_from(["slt", "opt"]).flatmap(
    lambda kind: st.lists(draw_trees(kind), min_size=1, max_size=5)
)


class Chosen(Random):
    """A source of chance that removes the internal node of a given rank."""

    def __init__(self, draw):
        super().__init__()
        self.draw = draw

    def choice(self, seq):
        return seq[int(self.draw * len(seq))]


def make_forest(trees):
    labels = {label: 9 for tree in trees for label in tree.nodes}
    edges = {edge: 9 for tree in trees for _, edge, _ in tree.edges}
    return Forest.of(trees, Vocabulary.count(labels, edges, 1))


def name_graphs(batch, vocabulary):
    """Labels and named edges of each graph, numbered within it."""
    ptr = batch.node_ptr.tolist()
    labels = [vocabulary.labels[number] for number in batch.node_type.tolist()]
    graphs = []
    listed = torch.stack(batch.list_edges(), 1).tolist()
    count = len(vocabulary.edges) + 3  # relations of virtual nodes follow
    for a, b in pairwise(ptr):
        edges = set()
        for source, target, relation in listed:
            if a <= source < b:
                way, number = divmod(relation, count)
                name = vocabulary.edges[number] + BACK * way
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
            cut_subexpression(tree, Chosen(draw))
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
    trees = [SLT, SLT, make_tree_of_one()]
    writer = ForestWriter(tmp_path, "slg")
    for tree in trees:
        writer.add(tree)
    vocabulary = writer.close(min_count)
    again = Forest.open(tmp_path, "slg")
    assert again.vocabulary == vocabulary
    assert ("V!z" in vocabulary.labels) == (min_count == 1)
    memory = Forest.of(trees, vocabulary)
    for name in ("label", "edge", "parent", "size", "largest", "ptr"):
        assert np.array_equal(getattr(again, name), getattr(memory, name)), name
    rare = vocabulary.labels[again.label[-1]]
    assert rare == ("V!z" if min_count == 1 else "V!?")


def make_tree_of_one():
    return type(SLT).from_string("[V!z]")


def test_a_forest_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(MissingInputError, match=r"slg\.json"):
        Forest.open(tmp_path, "slg")
    ForestWriter(tmp_path, "slg").close(1)
    assert len(Forest.open(tmp_path, "slg")) == 0
    (tmp_path / "slg.parent.bin").unlink()
    with pytest.raises(MissingInputError, match=r"slg\.parent\.bin"):
        Forest.open(tmp_path, "slg")
