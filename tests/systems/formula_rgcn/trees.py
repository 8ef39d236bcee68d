"""Trees for tests: an example of the paper, random ones, and their graphs."""

from __future__ import annotations

from hypothesis import strategies as st

from mathamr_kedro.formula import FormulaTree
from mathamr_kedro.formula.graphs import FormulaGraph
from mathamr_kedro.formula.node import OPT_EDGES, SLT_EDGES, Node

# x^{2y} + 1
SLT = FormulaTree.from_string("[V!x[+[N!1]],a[N!2[V!y]]]")
OPT = FormulaTree.from_string(
    "[U!plus,0[O!SUP,0[V!x],1[U!times,0[N!2],1[V!y]]],1[N!1]]"
)
LABELS = ("V!x", "V!y", "N!12", "+", "W!", "U!plus", "O!SUP", "T!a b")

BACK = "*"
"""Ending of the label of an edge back."""


def build_backward_graph(tree):
    """The tree with a backward edge beside each edge."""
    edges = tuple(
        both
        for parent, label, child in tree.edges
        for both in ((parent, label, child), (child, label + BACK, parent))
    )
    return FormulaGraph(tree.nodes, edges)


@st.composite
def draw_trees(draw, kind):
    root = Node(draw(st.sampled_from(LABELS)))
    nodes = [root]
    for _ in range(draw(st.integers(0, 14))):
        parent = draw(st.sampled_from(nodes))
        child = Node(draw(st.sampled_from(LABELS)))
        if kind == "opt":
            parent.edges[OPT_EDGES[len(parent.edges)]] = child
        else:
            edge = draw(st.sampled_from(SLT_EDGES))
            if edge in parent.edges:
                continue
            parent.edges[edge] = child
        nodes.append(child)
    return FormulaTree(kind, root)
