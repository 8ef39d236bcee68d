"""The tree with edges back, and its sub-expressions."""

from __future__ import annotations

from random import Random

import pytest

from mathamr_kedro.formula import FormulaTree
from mathamr_kedro.formula.graphs.backward_graph import (
    BACK,
    build_backward_graph,
    cut_subexpression,
)

# x^{2y} + 1, the example of the paper
SLT = FormulaTree.from_string("[V!x[+[N!1]],a[N!2[V!y]]]")
OPT = FormulaTree.from_string(
    "[U!plus,0[O!SUP,0[V!x],1[U!times,0[N!2],1[V!y]]],1[N!1]]"
)


class Chosen(Random):
    """A source of chance that always removes the same node."""

    def __init__(self, index):
        super().__init__()
        self.index = index

    def choice(self, seq):
        assert self.index in seq, "only internal nodes may go"
        return self.index


def slow_parts(graph, removed):
    """Connected components without one node, by search."""
    left = set(range(len(graph.nodes))) - {removed}
    parts = []
    while left:
        part, border = set(), [min(left)]
        while border:
            node = border.pop()
            part.add(node)
            border += [
                b
                for a, _, b in graph.edges
                if a == node and b in left and b not in part
            ]
        left -= part
        parts.append(sorted(part))
    return parts


def test_each_edge_has_a_twin_back():
    graph = build_backward_graph(OPT)
    forward = [edge for edge in graph.edges if not edge[1].endswith(BACK)]
    assert tuple(forward) == OPT.edges
    assert {(b, label + BACK, a) for a, label, b in forward} == (
        set(graph.edges) - set(forward)
    )


def test_subexpressions_of_the_figure():
    cut = cut_subexpression(OPT, Chosen(0))  # without U!plus
    assert cut.nodes == ("O!SUP", "V!x", "U!times", "N!2", "V!y")
    cut = cut_subexpression(SLT, Chosen(SLT.nodes.index("+")))
    assert cut.nodes == ("V!x", "N!2", "V!y")
    assert (1, "a*", 0) in cut.edges


def test_of_equal_parts_the_first_stays():
    tree = FormulaTree.from_string("[O!minus,0[V!a],1[V!b]]")
    assert cut_subexpression(tree, Chosen(0)).nodes == ("V!a",)


def test_tree_without_internal_nodes_stays_whole():
    tree = FormulaTree.from_string("[V!x]")
    assert cut_subexpression(tree, Random(0)).nodes == ("V!x",)


@pytest.mark.parametrize("tree", [SLT, OPT])
def test_cut_keeps_a_largest_component(tree):
    graph = build_backward_graph(tree)
    for removed in {parent for parent, _, _ in tree.edges}:
        largest = max(slow_parts(graph, removed), key=len)
        assert cut_subexpression(tree, Chosen(removed)) == graph.keep(largest)


def test_same_seed_same_cut():
    assert cut_subexpression(OPT, Random(7)) == cut_subexpression(OPT, Random(7))
