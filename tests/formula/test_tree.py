"""Formula trees: value, walks, strings."""

from __future__ import annotations

import copy
import pickle

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mathamr_kedro.base.errors import FormulaError
from mathamr_kedro.formula import FormulaTree
from mathamr_kedro.formula.node import OPT_EDGES, SLT_EDGES, Node

SLT = "[V!x[+[V!y]],a[N!2]]"
OPT = "[U!plus,0[O!SUP,0[V!x],1[N!2]],1[V!y]]"


def test_nodes_are_in_preorder():
    assert FormulaTree.from_string(SLT).nodes == ("V!x", "+", "V!y", "N!2")
    assert FormulaTree.from_string(OPT).nodes == (
        "U!plus",
        "O!SUP",
        "V!x",
        "N!2",
        "V!y",
    )


def test_edges_join_indexes_of_nodes():
    assert FormulaTree.from_string(SLT).edges == (
        (0, "n", 1),
        (1, "n", 2),
        (0, "a", 3),
    )


def test_edges_below_an_unordered_operator_are_all_zero():
    tree = FormulaTree.from_string(OPT)
    assert tree.edges == ((0, "0", 1), (1, "0", 2), (1, "1", 3), (0, "0", 4))
    assert tree.to_string() == OPT  # the string keeps the running index


@pytest.mark.parametrize(("text", "size", "depth"), [("[V!x]", 1, 1), (SLT, 4, 3)])
def test_size_counts_nodes_and_depth_their_longest_chain(text, size, depth):
    tree = FormulaTree.from_string(text)
    assert (tree.size, tree.depth) == (size, depth)


def test_kind_is_read_off_the_edges():
    assert FormulaTree.from_string(SLT).kind == "slt"
    assert FormulaTree.from_string(OPT).kind == "opt"
    assert FormulaTree.from_string("[V!x]").kind == "slt"
    assert FormulaTree.from_string("[V!x]", "opt").kind == "opt"


def test_unknown_kind_names_the_nearest():
    with pytest.raises(FormulaError, match="did you mean 'opt'"):
        FormulaTree.from_string("[V!x]", "otp")


def test_equal_trees_are_one_key():
    first, second = FormulaTree.from_string(SLT), FormulaTree.from_string(SLT)
    assert first == second
    assert len({first, second}) == 1
    assert first != FormulaTree.from_string(OPT)
    assert FormulaTree.from_string("[V!x]", "slt") != FormulaTree.from_string(
        "[V!x]", "opt"
    )


def test_tree_travels_to_other_processes():
    tree = FormulaTree.from_string(SLT)
    assert pickle.loads(pickle.dumps(tree)) == tree
    assert copy.deepcopy(tree) is tree


def test_repr_of_a_long_tree_is_short():
    tree = FormulaTree.from_string("[V!x" * 100 + "]" * 100)
    assert len(repr(tree)) < 100


def test_negative_window_is_refused():
    with pytest.raises(FormulaError, match="window >= 0"):
        FormulaTree.from_string(SLT).tuples(window=-1)


@pytest.mark.parametrize("edge", ["n", "a", "0"])
def test_walks_do_not_recurse(edge):
    root = node = Node("V!x")
    for _ in range(12_000):
        node.edges[edge] = Node("V!x")
        node = node.edges[edge]
    tree = FormulaTree("opt" if edge == "0" else "slt", root)
    assert tree.size == tree.depth == 12_001
    assert FormulaTree.from_string(tree.to_string(), tree.kind) == tree
    assert len(tree.tuples(window=1)) >= 12_000
    assert pickle.loads(pickle.dumps(tree)) == tree


LABELS = st.sampled_from(
    [
        "V!x",
        "N!12",
        "+",
        ",",
        "",
        "W!",
        "M!()1x2",
        "U!plus",
        "O!SUP",
        "&comma;",
        "T!a b",
    ]
)


@st.composite
def trees(draw, kind):
    """A random tree; only SLT symbols with a label may carry marked edges."""
    root = Node(draw(LABELS))
    nodes = [root]
    for _ in range(draw(st.integers(0, 12))):
        parent = draw(st.sampled_from(nodes))
        child = Node(draw(LABELS))
        if kind == "opt":
            parent.edges[OPT_EDGES[len(parent.edges)]] = child
        else:
            parent.label = parent.label or "W!"
            edge = draw(st.sampled_from(SLT_EDGES))
            if edge in parent.edges:
                continue
            parent.edges[edge] = child
        nodes.append(child)
    for node in nodes:
        if node.edges and not node.label:
            node.label = "W!"
    return FormulaTree(kind, root)


@settings(max_examples=60, deadline=None)
@given(st.one_of(trees("slt"), trees("opt")))
def test_string_and_back_gives_the_same_tree(tree):
    again = FormulaTree.from_string(tree.to_string(), tree.kind)
    assert again == tree
    assert again.nodes == tree.nodes
    assert again.edges == tree.edges


@settings(max_examples=60, deadline=None)
@given(st.one_of(trees("slt"), trees("opt")))
def test_tuples_of_window_one_are_the_edges(tree):
    pairs = sorted(pair[:3] for pair in tree.tuples() if pair.second != "0!")
    edges = sorted((tree.nodes[p], tree.nodes[c], edge) for p, edge, c in tree.edges)
    assert pairs == edges
