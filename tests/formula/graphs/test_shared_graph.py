"""Identical subtrees shared."""

from __future__ import annotations

import pytest

from mathamr_kedro.formula import FormulaTree
from mathamr_kedro.formula.graphs import build_shared_graph

# 1/(a-b) + (a-b)^2 = 1, the example of the paper
MINUS = "[O!minus,0[V!a],1[V!b]]"
EXAMPLE = FormulaTree.from_string(
    f"[U!eq,0[U!plus,0[O!divide,0[N!1],1{MINUS}],1[O!SUP,0{MINUS},1[N!2]]],1[N!1]]"
)


def slow_shared(tree):
    """All distinct subtree strings, and the edges between them."""
    from mathamr_kedro.formula.node import format_bracket_string

    names, labels, edges = {}, [], []

    def visit(node):
        text = format_bracket_string(node, "opt")
        if text in names:
            return names[text]
        place = names[text] = len(labels)
        labels.append(node.label)
        zero = node.label.startswith("U!")
        own = [("0" if zero else e, visit(below)) for e, below in node.edges.items()]
        edges.extend((place, edge, target) for edge, target in own)
        return place

    visit(tree.root)
    return tuple(labels), sorted(edges)


def test_example_of_the_paper():
    graph = build_shared_graph(EXAMPLE)
    assert graph.nodes == (
        *("U!eq", "U!plus", "O!divide", "N!1", "O!minus", "V!a", "V!b", "O!SUP", "N!2"),
    )
    minus = graph.nodes.index("O!minus")
    assert {graph.nodes[a] for a, _, b in graph.edges if b == minus} == {
        "O!divide",
        "O!SUP",
    }


@pytest.mark.parametrize(
    "text",
    [
        EXAMPLE.to_string(),
        "[V!x]",
        "[U!plus,0[V!x],1[V!x],2[U!plus,0[V!x],1[V!x]]]",
        "[O!SUP,0[O!SUP,0[V!a],1[V!b]],1[O!SUP,0[V!b],1[V!a]]]",
    ],
)
def test_graph_equals_the_slow_twin(text):
    graph = build_shared_graph(FormulaTree.from_string(text, "opt"))
    labels, edges = slow_shared(FormulaTree.from_string(text, "opt"))
    assert graph.nodes == labels
    assert sorted(graph.edges) == edges


def test_order_of_operands_matters():
    tree = FormulaTree.from_string("[U!eq,0[O!lt,0[V!a],1[V!b]],1[O!lt,0[V!b],1[V!a]]]")
    assert build_shared_graph(tree).nodes.count("O!lt") == 2


def test_operand_that_stands_twice_has_two_edges():
    graph = build_shared_graph(FormulaTree.from_string("[U!times,0[V!x],1[V!x]]"))
    assert graph.edges == ((0, "0", 1), (0, "0", 1))
