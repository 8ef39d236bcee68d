"""Trees drawn with box characters, for terminals and documentation.

```
V!x ───n─ + ─n─ V!y        U!plus
└─a─ N!2                   ├─0─ O!SUP
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
from typing import TypeAlias

from mathamr_kedro.base.errors import FormulaError
from mathamr_kedro.formula.node import SLT_EDGES, Node
from mathamr_kedro.formula.tree import FormulaTree

_Line: TypeAlias = tuple[str, int]
"""A text, and how many columns of a terminal it takes."""

MAX_NODES = 400
"""Nodes of the largest tree that is drawn."""


def draw_text(tree: FormulaTree) -> str:
    """Return the tree as lines of text.

    >>> print(draw_text(FormulaTree.from_string("[V!x[+[V!y]],a[N!2]]")))
    V!x ───n─ + ─n─ V!y
    └─a─ N!2

    Raises:
        FormulaError: the tree has more than :data:`MAX_NODES` nodes.
    """
    refuse_large(tree)
    draw = _draw_baseline if tree.kind == "slt" else _draw_operator
    return "\n".join(text.rstrip() for text, _ in draw(tree.root))


def refuse_large(tree: FormulaTree) -> None:
    """Raise if a tree is too large to be drawn.

    Raises:
        FormulaError: it is.
    """
    if tree.size > MAX_NODES:
        raise FormulaError(
            f"Expected a tree of at most {MAX_NODES} nodes to draw "
            f"(got {tree.size}); use to_string() instead"
        )


def _draw_operator(node: Node) -> list[_Line]:
    return [_show(node), *_hang(_list_opt_children(node), _draw_operator)]


def _list_opt_children(node: Node) -> list[tuple[str, Node]]:
    unordered = node.label.startswith("U!")
    return [("0" if unordered else edge, child) for edge, child in node.edges.items()]


def _draw_baseline(head: Node) -> list[_Line]:
    """Draw one baseline: a line of symbols, and below it what hangs on each."""
    columns: list[list[_Line]] = []
    node: Node | None = head
    while node is not None:
        below = [(e, node.edges[e]) for e in SLT_EDGES[1:] if e in node.edges]
        columns.append([_show(node), *_hang(below, _draw_baseline)])
        node = node.edges.get("n")
    return _join_columns(columns)


def _hang(
    children: list[tuple[str, Node]], draw: Callable[[Node], list[_Line]]
) -> list[_Line]:
    """Draw children one below the other, each behind its edge."""
    lines: list[_Line] = []
    for index, (edge, child) in enumerate(children):
        is_last = index == len(children) - 1
        first, *others = draw(child)
        lines.append((f"{'└' if is_last else '├'}─{edge}─ {first[0]}", first[1] + 5))
        rail = f"{' ' if is_last else '│'}    "
        lines += [(rail + text, width + 5) for text, width in others]
    return lines


def _join_columns(columns: list[list[_Line]]) -> list[_Line]:
    """Put columns beside each other; their first lines are joined by ``─n─``."""
    height = max(len(column) for column in columns)
    texts = [""] * height
    total = 0
    for index, column in enumerate(columns):
        is_last = index == len(columns) - 1
        gap = 0 if is_last else 2
        width = max(width for _, width in column[1:]) + gap if column[1:] else 0
        width = max(width, column[0][1] + (0 if is_last else 5))
        for row in range(height):
            text, own = column[row] if row < len(column) else ("", 0)
            if row == 0 and not is_last:
                text += f" {'─' * (width - own - 4)}n─ "
            else:
                text += " " * (width - own)
            texts[row] += text
        total += width
    return [(text, total) for text in texts]


def _show(node: Node) -> _Line:
    label = node.label or "·"
    return label, _measure(label)


def _measure(text: str) -> int:
    """Return how many columns a terminal takes for a text."""
    return sum(0 if unicodedata.combining(c) else 2 if _is_wide(c) else 1 for c in text)


def _is_wide(character: str) -> bool:
    return unicodedata.east_asian_width(character) in ("W", "F")
