"""The node that both formula trees are made of, and the names of its edges.

```
x^2 + y    Symbol Layout Tree             Operator Tree

           V!x ──n── + ──n── V!y          U!plus ──0── O!SUP ──0── V!x
            │                                │            └───1── N!2
            a                                └────1── V!y
            │
           N!2
```

A node is a label and at most one child per edge name. Nodes are mutable while a tree
is built and never touched again once they are in a
:class:`~mathamr_kedro.formula.tree.FormulaTree`.
"""

from __future__ import annotations

from collections.abc import Sequence

SLT_EDGES = "nabouc" + "dwe"
"""Edges of a Symbol Layout Tree in the order of bracket strings: next, above, below,
over, under, pre-above, pre-below, within, element."""

SLT_TUPLE_EDGES = "aocnbudew"
"""The same edges in the order in which tuples visit them."""

NAMED_CHILDREN = 62
"""Children of an operator that have a digit or a letter of their own."""

MAX_CHILDREN = 500
"""Children an operator may have before it is split (reference variant)."""


def find_kind(label: str) -> str:
    """Return the kind of a variable or a number, and any other label as it is.

    >>> [find_kind(label) for label in ("V!x", "N!2", "+")]
    ['V!', 'N!', '+']
    """
    return label[:2] if label[:2] in ("V!", "N!") else label


def _name_opt_edge(index: int) -> str:
    """Return the edge name of the child at ``index``: 0-9, A-Z, a-z, then ``{`` and on.

    >>> [_name_opt_edge(i) for i in (0, 9, 10, 35, 36, 61, 62)]
    ['0', '9', 'A', 'Z', 'a', 'z', '{']
    """
    if index < 10:
        return chr(48 + index)
    if index < 36:
        return chr(55 + index)
    return chr(61 + index)


OPT_EDGES = "".join(_name_opt_edge(i) for i in range(MAX_CHILDREN))
"""Edges of an Operator Tree, by child index."""


class Node:
    """A label and the children below it, by edge name.

    >>> x = Node("V!x")
    >>> x.edges["a"] = Node("N!2")
    >>> x
    Node('V!x', a)
    """

    __slots__ = ("edges", "label")

    def __init__(self, label: str) -> None:
        self.label = label
        self.edges: dict[str, Node] = {}

    @classmethod
    def operator(cls, label: str, children: Sequence[Node]) -> Node:
        """Return an Operator Tree node over ``children``, edges ``0, 1, 2, ...``.

        >>> Node.operator("U!plus", [Node("V!a"), Node("V!b")])
        Node('U!plus', 0, 1)

        Raises:
            ValueError: there are more than :data:`MAX_CHILDREN` children; split them.
        """
        node = cls(label)
        if len(children) > MAX_CHILDREN:
            raise ValueError(
                f"Expected at most {MAX_CHILDREN} children of {label!r} "
                f"(got {len(children)})"
            )
        if children:
            node.edges = dict(zip(OPT_EDGES, children, strict=False))
        return node

    def find_last(self, edge: str) -> Node:
        """Return the last node of the chain along ``edge``, e.g. of a baseline."""
        node = self
        following = node.edges.get(edge)
        while following is not None:
            node = following
            following = node.edges.get(edge)
        return node

    def count(self, edge: str) -> int:
        """Return how many nodes the chain along ``edge`` has, e.g. cells of a row."""
        count = 1
        following = self.edges.get(edge)
        while following is not None:
            count += 1
            following = following.edges.get(edge)
        return count

    def __repr__(self) -> str:
        names = "".join(f", {edge}" for edge in self.edges)
        return f"Node({self.label!r}{names})"
