"""Trees with a labelled edge back for each edge: SLG and OPG of Amador & Zanibbi 2025.

```
x^2 + y   tree    V!x ──n─→ + ──n─→ V!y        graph   V!x ──n─→ + ──n─→ V!y
                   └──a─→ N!2                              ←─n*─   ←─n*─
                                                        │↑
                                                        a a*
                                                        ↓│
                                                       N!2
```

Without the edges back, a symbol that no edge points at would get no message from the
others. Edges below an unordered operator are all ``0``.
"""

from __future__ import annotations

from random import Random

from mathamr_kedro.formula.graphs.formula_graph import FormulaGraph
from mathamr_kedro.formula.tree import FormulaTree

BACK = "*"
"""Ending of the label of an edge back."""


def build_backward_graph(tree: FormulaTree) -> FormulaGraph:
    """Return the tree with a backward edge beside each edge.

    >>> build_backward_graph(FormulaTree.from_string("[V!x,a[N!2]]")).edges
    ((0, 'a', 1), (1, 'a*', 0))
    """
    edges = tuple(
        both
        for parent, label, child in tree.edges
        for both in ((parent, label, child), (child, label + BACK, parent))
    )
    return FormulaGraph(tree.nodes, edges)


def cut_subexpression(tree: FormulaTree, random: Random) -> FormulaGraph:
    """Return the largest part of the backward graph after removing an internal node.

    Section 3 of the paper: the node is drawn at random among those that have children
    (leaves are operands, and rare symbols among them may decide a search), and the
    largest connected component stays; of equals, the first. A tree
    without internal nodes is returned whole.

    ```
    x^2 + 1   U!plus ──0── O!SUP ──0── V!x   without U!plus   O!SUP ──0── V!x
                └───0── N!1  └───1── N!2                        └───1── N!2
    ```
    """
    graph = build_backward_graph(tree)
    internal = sorted({parent for parent, _, _ in tree.edges})
    if not internal:
        return graph
    removed = random.choice(internal)
    return graph.keep(_find_largest_part(tree, removed))


def _find_largest_part(tree: FormulaTree, removed: int) -> list[int]:
    """Return the nodes of the largest part that stays when one node goes.

    In preorder a subtree is an interval, so the parts are: one interval for each child
    of the removed node, and all outside its own subtree.
    """
    ends = _find_subtree_ends(tree)
    outside = [*range(removed), *range(ends[removed], tree.size)]
    parts = [outside] if outside else []
    parts += [
        list(range(child, ends[child]))
        for parent, _, child in tree.edges
        if parent == removed
    ]
    return max(parts, key=lambda part: (len(part), -part[0]))


def _find_subtree_ends(tree: FormulaTree) -> list[int]:
    ends = [index + 1 for index in range(tree.size)]
    for parent, _, child in reversed(tree.edges):
        ends[parent] = max(ends[parent], ends[child])
    return ends
