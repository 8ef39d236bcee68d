"""Trees drawn with box characters, for terminals and documentation.

```
V!x ─n─ + ─n─ V!y        U!plus
└─a─ N!2                 ├─0─ O!SUP
                         │    ├─0─ V!x
                         │    └─1─ N!2
                         └─0─ V!y
```

The baseline of a Symbol Layout Tree runs to the right; everything else hangs below its
symbol. An Operator Tree grows downwards.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable

from mathamr_kedro.errors import FormulaError
from mathamr_kedro.formula.node import SLT_EDGES, Node
from mathamr_kedro.formula.tree import FormulaTree

LARGEST_DRAWING = 400
"""Nodes of the largest tree that is drawn."""


def draw_text(tree: FormulaTree) -> str:
    """Return the tree as lines of text.

    >>> print(draw_text(FormulaTree.from_string("[V!x[+[V!y]],a[N!2]]")))
    V!x ─n─ + ─n─ V!y
    └─a─ N!2

    Raises:
        FormulaError: the tree has more than :data:`LARGEST_DRAWING` nodes.
    """
    refuse_large(tree)
    if tree.kind == "slt":
        lines = _draw_baseline(tree.root)
    else:
        lines = _draw_operator(tree.root)
    return "\n".join(line.rstrip() for line in lines)


def refuse_large(tree: FormulaTree) -> None:
    """Raise where a tree is too large to be drawn.

    Raises:
        FormulaError: it is.
    """
    if tree.size > LARGEST_DRAWING:
        raise FormulaError(
            f"Expected a tree of at most {LARGEST_DRAWING} nodes to draw "
            f"(got {tree.size}); use to_string() instead"
        )


def _draw_operator(node: Node) -> list[str]:
    return [_show(node.label), *_hang(_list_opt_children(node), _draw_operator)]


def _list_opt_children(node: Node) -> list[tuple[str, Node]]:
    unordered = node.label.startswith("U!")
    return [("0" if unordered else edge, child) for edge, child in node.edges.items()]


def _draw_baseline(head: Node) -> list[str]:
    """Draw one baseline: a line of symbols, and below it what hangs on each."""
    columns: list[list[str]] = []
    node: Node | None = head
    while node is not None:
        below = [(e, node.edges[e]) for e in SLT_EDGES[1:] if e in node.edges]
        columns.append([_show(node.label), *_hang(below, _draw_baseline)])
        node = node.edges.get("n")
    return _join_columns(columns)


def _hang(
    children: list[tuple[str, Node]], draw: Callable[[Node], list[str]]
) -> list[str]:
    """Draw children one below the other, each behind its edge."""
    lines: list[str] = []
    for index, (edge, child) in enumerate(children):
        is_last = index == len(children) - 1
        first, *others = draw(child)
        lines.append(f"{'└' if is_last else '├'}─{edge}─ {first}")
        lines += [f"{' ' if is_last else '│'}    {line}" for line in others]
    return lines


def _join_columns(columns: list[list[str]]) -> list[str]:
    """Put columns beside each other; their first lines are joined by ``─n─``."""
    height = max(len(column) for column in columns)
    lines = [""] * height
    for index, column in enumerate(columns):
        is_last = index == len(columns) - 1
        inner = max((_measure(line) for line in column[1:]), default=0) + 2
        width = max(_measure(column[0]) + 5, inner)
        for row in range(height):
            text = column[row] if row < len(column) else ""
            if row == 0 and not is_last:
                text += " " + "─" * (width - _measure(text) - 4) + "n─ "
            lines[row] += text + " " * max(0, width - _measure(text))
    return lines


def _show(label: str) -> str:
    return label or "·"


def _measure(text: str) -> int:
    """Return how many columns a terminal takes for a text."""
    return sum(0 if unicodedata.combining(c) else 2 if _is_wide(c) else 1 for c in text)


def _is_wide(character: str) -> bool:
    return unicodedata.east_asian_width(character) in ("W", "F")
