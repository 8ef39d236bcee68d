"""Trees as bracket strings, and back.

```
x^2 + y    SLT  [V!x[+[V!y]],a[N!2]]           the next symbol is first, unmarked
           OPT  [U!plus,0[O!SUP,0[V!x],1[N!2]],1[V!y]]
```

A label ends at the first ``[``, ``]`` or ``,`` (a comma as its first character belongs
to it), which is why labels write these characters as ``&lsqb;``, ``&rsqb;`` and
``&comma;``. All walks keep their own stack: formulas may nest deeper than Python.
"""

from __future__ import annotations

import re

from mathamr_kedro.base.errors import FormulaError
from mathamr_kedro.formula.node import SLT_EDGES, Node

_REVERSED_SLT_EDGES = SLT_EDGES[:0:-1]  # without "n", which is unmarked
# "[,e[" is an empty label with an edge, "[,[" the label of a separator.
_TOKEN = re.compile(r"\[((?:,(?![0-9A-Za-z]\[))?[^\[\],]*)|,(.)(?=\[)|\]", re.DOTALL)


def format_bracket_string(root: Node, kind: str) -> str:
    """Return the bracket string of a Symbol Layout Tree or an Operator Tree.

    Args:
        root: of the tree.
        kind: ``"slt"`` or ``"opt"``.
    """
    return _format_slt(root) if kind == "slt" else _format_opt(root)


def _format_slt(root: Node) -> str:
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
        if "n" not in edges or len(edges) > 1:
            for edge in _REVERSED_SLT_EDGES:
                if edge in edges:
                    stack.append(edges[edge])
                    stack.append("," + edge)
        if "n" in edges:
            stack.append(edges["n"])
    return "".join(out)


def _format_opt(root: Node) -> str:
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
        for edge, child in reversed(edges.items()):
            stack.append(child)
            stack.append("," + edge)
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
