"""Trees with identical subtrees shared: the Operator Graph of SSEmb (and Song & Chen).

```
1/(a-b) + (a-b)^2      U!plus ──0── O!divide ──0── N!1
                         │              └──1──┐
                         └──0── O!SUP ──0── O!minus ──0── V!a
                                  └──1── N!2    └──1── V!b
```

Not to be taken for the other "OPG" of the literature, a tree with edges back
(:mod:`mathamr_kedro.systems.formula_rgcn.forest`).
"""

from __future__ import annotations

from typing import NamedTuple

from mathamr_kedro.formula.tree import FormulaTree


class FormulaGraph(NamedTuple):
    """A directed graph with labelled nodes and edges; node 0 is the root.

    Two nodes may be joined by several edges, even of one label (``x + x`` with ``x``
    shared).
    """

    nodes: tuple[str, ...]
    edges: tuple[tuple[int, str, int], ...]
    """Index of the source, edge label, index of the target."""


def build_shared_graph(tree: FormulaTree) -> FormulaGraph:
    """Return the tree as a directed acyclic graph without two equal subtrees.

    Subtrees are equal when labels, edges and the order of children are. Nodes keep the
    order in which the tree first shows them; a node that is twice a child of one parent
    (``x + x``) has two edges from it.

    >>> build_shared_graph(FormulaTree.from_string("[U!plus,0[V!x],1[V!x]]"))
    FormulaGraph(nodes=('U!plus', 'V!x'), edges=((0, '0', 1), (0, '0', 1)))
    """
    children: list[list[tuple[str, int]]] = [[] for _ in tree.nodes]
    for parent, label, child in tree.edges:
        children[parent].append((label, child))
    first_of: list[int] = []  # by shape: the first node in the tree that has it
    shape_of = [0] * tree.size
    shapes: dict[tuple[str, tuple[tuple[str, int], ...]], int] = {}
    for index in reversed(range(tree.size)):  # children come after their parents
        below = tuple((label, shape_of[child]) for label, child in children[index])
        shape = shapes.setdefault((tree.nodes[index], below), len(shapes))
        if shape == len(first_of):
            first_of.append(index)
        first_of[shape] = index
        shape_of[index] = shape
    kept = sorted(first_of)
    place = {index: number for number, index in enumerate(kept)}
    edges = tuple(
        (place[index], label, place[first_of[shape_of[child]]])
        for index in kept
        for label, child in children[index]
    )
    return FormulaGraph(tuple(tree.nodes[index] for index in kept), edges)
