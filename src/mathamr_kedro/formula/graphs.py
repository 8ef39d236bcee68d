"""Graphs and strings of other papers, made from formula trees.

The Operator Graph of SSEmb (and Song & Chen) is the tree with identical subtrees shared
(not to be confused with the other "OPG" of the literature, a tree with backward edges,
in :mod:`mathamr_kedro.systems.formula_rgcn.forest`)::

    1/(a-b) + (a-b)^2      U!plus ──0── O!divide ──0── N!1
                             │              └──1──┐
                             └──0── O!SUP ──0── O!minus ──0── V!a
                                      └──1── N!2    └──1── V!b

MathAMR (Mansouri, Oard and Zanibbi 2022) reads depth-first strings, with the operands
of an unordered operator in reverse order::

    2x - 3    minus times x 2 3

The published code rebuilds each tree from its tuples and confuses nodes that share a
label with an ancestor; here strings are written from the tree itself.
"""

from __future__ import annotations

from typing import NamedTuple

from mathamr_kedro.base.errors import FormulaError
from mathamr_kedro.formula.tree import FormulaTree

_CONCEPT_ESCAPES = str.maketrans({"(": "$", ")": "$$", ":": "$##$"})


class FormulaGraph(NamedTuple):
    """A directed graph with labelled nodes and edges; node 0 is the root.

    Two nodes may be joined by several edges, even of one label (``x + x`` with ``x``
    shared).
    """

    nodes: tuple[str, ...]
    edges: tuple[tuple[int, str, int], ...]
    """Index of the source, edge label, index of the target."""


def build_shared_graph(tree: FormulaTree) -> FormulaGraph:
    """Return the tree as a directed acyclic graph that shares equal subtrees.

    Subtrees are equal when labels, edges and the order of children are. Nodes keep the
    order of their first occurrence; a node that is twice a child of one parent (``x +
    x``) has two edges from it.

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


def read_concept(label: str) -> tuple[str, str]:
    """Return the type letter and the AMR concept of a label.

    An unknown symbol counts as a variable, and a compound operator has the concept of
    the label it carries, if any.

    >>> [read_concept(label) for label in ("V!x", "+!F!log", "-!r", "M!R!", "W!")]
    [('V', 'x'), ('F', 'log'), ('V', 'r'), ('M', 'R'), ('W', '')]
    >>> read_concept("O!interval(C-C)")
    ('O', 'interval$C-C$$')
    """
    bare = label.removeprefix("+!") if label != "+!" else "O!"
    kind, mark, rest = bare.partition("!")
    if not mark:
        kind, rest = "V", bare
    value = rest.partition("!")[0]
    letter = kind if kind.isalpha() else "V"
    return letter, value.translate(_CONCEPT_ESCAPES)


def linearise(tree: FormulaTree) -> str:
    """Return the concepts of an Operator Tree depth first, joined by blanks.

    Roles are visited in alphabetical order (in lower case), roles of the same name in
    reverse, as in the published strings.

    Raises:
        FormulaError: the tree is not an Operator Tree.

    >>> linearise(FormulaTree.from_string("[U!times,0[V!f],1[V!x]]"))
    'times x f'
    """
    if tree.kind != "opt":
        raise FormulaError(f"Expected an Operator Tree (got kind {tree.kind!r})")
    out: list[str] = []
    stack = [tree.root]
    while stack:
        node = stack.pop()
        concept = read_concept(node.label)[1]
        if concept:
            out.append(concept)
        if node.label.startswith("U!"):
            stack += node.edges.values()  # popped last first
        else:
            roles = sorted(
                reversed(node.edges.items()), key=lambda role: role[0].lower()
            )
            stack += [child for _, child in reversed(roles)]
    return " ".join(out)
