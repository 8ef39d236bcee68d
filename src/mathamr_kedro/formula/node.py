"""Nodes, labels and bracket strings, the parts of both formula trees.

```
x^2 + y    Symbol Layout Tree             Operator Tree

           V!x ──n── + ──n── V!y          U!plus ──0── O!SUP ──0── V!x
            │                                │            └───1── N!2
            a                                └────1── V!y
            │
           N!2
           [V!x[+[V!y]],a[N!2]]           [U!plus,0[O!SUP,0[V!x],1[N!2]],1[V!y]]
```

A node is a label and at most one child per edge name. Nodes are mutable while a tree is
built and never changed once they are in a
:class:`~mathamr_kedro.formula.tree.FormulaTree`. A label is a type and a value,
``T!value``, with the value cleaned as in the published trees.

In a bracket string the next symbol of a layout tree is first, unmarked. A label ends at
the first ``[``, ``]`` or ``,`` (a comma as its first character belongs to it), which is
why labels write these characters as ``&lsqb;``, ``&rsqb;`` and ``&comma;``. All walks
keep their own stack: formulas may nest deeper than Python's recursion limit.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from mathamr_kedro.base.errors import FormulaError

BLANK = "W!"
"""Label of an empty place."""

ERROR = "E!"
"""Label of a part that could not be read."""

ESCAPES = str.maketrans(
    {
        "\t": "\\t",
        "\n": "\\n",
        "\r": "\\r",
        "?": "&quest;",
        ",": "&comma;",
        "[": "&lsqb;",
        "]": "&rsqb;",
    }
)
"""How labels write the characters that bracket strings need."""

ARQMATH_SPELLING = str.maketrans({"\u2212": "-", "\u2016": "\u2225"})
"""How the ARQMath files write minus and norm bars: LaTeXML 0.8.5 wrote ``-`` and ``∥``;
later versions write ``−`` and ``‖``."""

_INVISIBLE = frozenset("\u2061\u2062\u2063\u2064")
_MAX_REMEMBERED = 40
SLT_EDGES = "nabouc" + "dwe"
"""Edges of a Symbol Layout Tree in the order of bracket strings: next, above, below,
over, under, pre-above, pre-below, within, element."""

SLT_TUPLE_EDGES = "aocnbudew"
"""The same edges in the order in which tuples visit them."""

MAX_CHILDREN = 500
"""Children an operator may have before it is split."""

_REVERSED_SLT_EDGES = SLT_EDGES[:0:-1]  # without "n", which is unmarked
# "[,e[" is an empty label with an edge, "[,[" the label of a separator.
_TOKEN = re.compile(r"\[((?:,(?![0-9A-Za-z]\[))?[^\[\],]*)|,(.)(?=\[)|\]", re.DOTALL)


def clean_text(text: str | None) -> str:
    r"""Return the text of an element as labels write it.

    Outer white space is removed, the characters that bracket strings need are escaped,
    and an invisible operator (apply, times, separator, plus) counts as no text.

    >>> clean_text(" a, b? "), clean_text("[0"), clean_text("\u2062"), clean_text(None)
    ('a&comma; b&quest;', '&lsqb;0', '', '')
    """
    if not text:
        return ""
    if len(text) > _MAX_REMEMBERED:
        return _clean(text)
    return _clean_short(text)


def _clean(text: str) -> str:
    value = text.strip()
    if value.isalnum():
        return value
    return "" if value in _INVISIBLE else value.translate(ESCAPES)


# A corpus says the same few thousand things millions of times.
_clean_short = lru_cache(maxsize=65536)(_clean)


def escape_label(label: str) -> str:
    """Return a label that a bracket string can hold; a lone comma may stay."""
    return label if label == "," else label.translate(ESCAPES)


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
    def operator(
        cls, label: str, children: Sequence[Node], most: int = MAX_CHILDREN
    ) -> Node:
        """Return an Operator Tree node over ``children``, edges ``0, 1, 2, ...``.

        More than ``most`` are split in halves, below nodes of the same label.

        >>> Node.operator("U!plus", [Node("V!a"), Node("V!b"), Node("V!c")], 2).edges
        {'0': Node('U!plus', 0, 1), '1': Node('U!plus', 0)}
        """
        if len(children) > most:
            half = (len(children) + 1) // 2
            halves = (children[:half], children[half:])
            children = [cls.operator(label, part, most) for part in halves]
        node = cls(label)
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


def list_links(node: Node, kind: str, order: str = SLT_EDGES) -> list[tuple[str, Node]]:
    """Return edges and children in order; below an unordered operator all are ``0``."""
    edges = node.edges
    if kind == "slt":
        return [(edge, edges[edge]) for edge in order if edge in edges]
    if node.label.startswith("U!"):
        return [("0", child) for child in edges.values()]
    return list(edges.items())


def format_bracket_string(root: Node, kind: str) -> str:
    """Return the bracket string of a tree of a kind, ``"slt"`` or ``"opt"``."""
    out: list[str] = []
    stack: list[Node | str] = [root]
    while stack:
        item = stack.pop()
        if item.__class__ is str:
            out.append(item)
            continue
        edges = item.edges  # type: ignore[union-attr]
        if not edges:
            out.append(f"[{item.label}]")  # type: ignore[union-attr]
            continue
        out.append(f"[{item.label}")  # type: ignore[union-attr]
        stack.append("]")
        if kind == "opt":
            for edge, child in reversed(edges.items()):
                stack += (child, "," + edge)
            continue
        if "n" not in edges or len(edges) > 1:
            for edge in _REVERSED_SLT_EDGES:
                if edge in edges:
                    stack += (edges[edge], "," + edge)
        if "n" in edges:
            stack.append(edges["n"])
    return "".join(out)


def parse_bracket_string(text: str) -> Node:
    """Return the root of the tree that a bracket string draws.

    >>> parse_bracket_string("[V!x[+[V!y]],a[N!2]]")
    Node('V!x', n, a)

    Raises:
        FormulaError: the brackets do not balance, or an edge is drawn twice.
    """
    open_nodes: list[Node] = []
    root: Node | None = None
    edge = "n"
    place = 0
    for match in _TOKEN.finditer(text):
        if match.start() != place or (root is not None and not open_nodes):
            break
        place = match.end()
        label, named_edge = match.groups()
        if label is not None:
            node = Node(label)
            if root is None:
                root = node
            elif edge in open_nodes[-1].edges:
                raise _unreadable(text, match.start(), f"a second child at {edge!r}")
            else:
                open_nodes[-1].edges[edge] = node
            open_nodes.append(node)
            edge = "n"
        elif named_edge is not None:
            edge = named_edge
        elif open_nodes:
            open_nodes.pop()
    if root is None or open_nodes or place != len(text):
        raise _unreadable(text, place, "brackets that do not balance")
    return root


def _unreadable(text: str, place: int, what: str) -> FormulaError:
    near = text[max(0, place - 20) : place + 20]
    return FormulaError(
        f"Expected a bracket string such as '[V!x,a[N!2]]'; found {what} "
        f"at character {place} (near {near!r})"
    )
