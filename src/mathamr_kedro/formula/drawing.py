"""Trees drawn with box characters, for terminals, and as SVG, for notebooks and pages.

```
V!x ───n─ + ─n─ V!y        U!plus
└─a─ N!2                   ├─0─ O!SUP
                           │    ├─0─ V!x
                           │    └─1─ N!2
                           └─0─ V!y
```

As text, the baseline of a Symbol Layout Tree runs to the right; everything else hangs
below its symbol. As SVG it follows the layout of the formula: scripts above a symbol
are drawn above it, the rest below. An Operator Tree grows downwards.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import TypeAlias

from mathamr_kedro.base.errors import FormulaError
from mathamr_kedro.formula.node import SLT_EDGES, Node, list_links
from mathamr_kedro.formula.tree import FormulaTree, FormulaTrees

_Line: TypeAlias = tuple[str, int]
"""A text, and its width in columns of a terminal."""

MAX_NODES = 400
"""Maximum nodes of a tree that is drawn."""

_ROW = 58.0
_HEIGHT = 26.0
_CHARACTER = 8.4
_GAP = 30.0
_MARGIN = 14.0
_ABOVE = "aoc"

_COLOURS = {
    "V": "#dbeafe",
    "N": "#dcfce7",
    "O": "#ffedd5",
    "U": "#fef3c7",
    "F": "#ede9fe",
    "M": "#f3e8ff",
    "C": "#ccfbf1",
    "T": "#f1f5f9",
    "E": "#fee2e2",
}
_OPERATOR_COLOUR = "#fef9c3"


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
    """Raise if a tree is too large to be drawn."""
    if tree.size > MAX_NODES:
        raise FormulaError(
            f"Expected a tree of at most {MAX_NODES} nodes to draw "
            f"(got {tree.size}); use to_string() instead"
        )


def _draw_operator(node: Node) -> list[_Line]:
    return [_show(node), *_hang(list_links(node, "opt"), _draw_operator)]


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
    """Draw children one below the other, each after its edge."""
    lines: list[_Line] = []
    for index, (edge, child) in enumerate(children):
        is_last = index == len(children) - 1
        first, *others = draw(child)
        lines.append((f"{'└' if is_last else '├'}─{edge}─ {first[0]}", first[1] + 5))
        rail = f"{' ' if is_last else '│'}    "
        lines += [(rail + text, width + 5) for text, width in others]
    return lines


def _join_columns(columns: list[list[_Line]]) -> list[_Line]:
    """Place columns side by side; join their first lines by ``─n─``."""
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
    return label, _count_columns(label)


def _count_columns(text: str) -> int:
    """Return the width of a text in columns of a terminal."""
    wide = sum(unicodedata.east_asian_width(c) in ("W", "F") for c in text)
    return len(text) + wide - sum(map(bool, map(unicodedata.combining, text)))


class SvgDrawing(str):
    """SVG text that notebooks display as an image."""

    def _repr_svg_(self) -> str:
        return str(self)


@dataclass
class _Block:
    """Placed nodes and edges; the anchor is the left end of its first symbol."""

    left: float = 0.0
    right: float = 0.0
    top: float = 0.0
    bottom: float = 0.0
    boxes: list[tuple[float, float, str]] = field(default_factory=list)
    lines: list[tuple[float, float, float, float, str]] = field(default_factory=list)

    def add(self, other: _Block, x: float, y: float) -> None:
        """Put another block at a place of this one."""
        self.left = min(self.left, other.left + x)
        self.right = max(self.right, other.right + x)
        self.top = min(self.top, other.top + y)
        self.bottom = max(self.bottom, other.bottom + y)
        self.boxes += [(bx + x, by + y, label) for bx, by, label in other.boxes]
        self.lines += [
            (x1 + x, y1 + y, x2 + x, y2 + y, label)
            for x1, y1, x2, y2, label in other.lines
        ]


def draw_svg(
    drawn: FormulaTree | FormulaTrees | Sequence[tuple[str, FormulaTree]],
    title: str = "",
) -> SvgDrawing:
    """Return a tree, or several under their names, as SVG text.

    >>> draw_svg(FormulaTree.from_string("[V!x,a[N!2]]"))[:4]
    '<svg'

    Args:
        drawn: a tree, both trees of a formula (a missing one is skipped), or any
            trees with their names.
        title: printed before the names, e.g. the LaTeX.

    Raises:
        FormulaError: a tree is too large to be drawn.
    """
    if isinstance(drawn, FormulaTree):
        return _draw_tree(drawn)
    named: Sequence[tuple[str, FormulaTree | None]]
    if isinstance(drawn, FormulaTrees):
        named = (("Symbol Layout Tree", drawn.slt), ("Operator Tree", drawn.opt))
    else:
        named = drawn
    lead = f"{title}: " if title else ""
    return _join_drawings(
        [(lead + name, _draw_tree(tree)) for name, tree in named if tree is not None]
    )


def _draw_tree(tree: FormulaTree) -> SvgDrawing:
    refuse_large(tree)
    block = _place_baseline(tree.root) if tree.kind == "slt" else _place(tree.root)
    return _write(block)


def _join_drawings(drawings: Sequence[tuple[str, SvgDrawing]]) -> SvgDrawing:
    """Return several drawings one below the other, each under its title."""
    parts: list[str] = []
    height = width = 0.0
    for title, drawing in drawings:
        own_width, own_height = _read_size(drawing)
        parts.append(
            f'<text x="{_MARGIN}" y="{height + 20}" font-family="sans-serif" '
            f'font-size="14" fill="#334155">{escape(title)}</text>'
        )
        parts.append(drawing.replace("<svg ", f'<svg y="{height + 26}" ', 1))
        height += own_height + 26
        width = max(width, own_width)
    return SvgDrawing(_open_svg(width, height) + "".join(parts) + "</svg>")


def _place(node: Node) -> _Block:
    """Place an Operator Tree: children side by side below, their parent centred."""
    width = _measure(node.label)
    block = _Block()
    x = 0.0
    starts: list[tuple[str, float]] = []
    for edge, child in list_links(node, "opt"):
        below = _place(child)
        x -= below.left
        block.add(below, x, _ROW)
        starts.append((edge, x + _measure(child.label) / 2))
        x += below.right + _GAP / 2
    centre = (starts[0][1] + starts[-1][1]) / 2 if starts else width / 2
    for edge, target in starts:
        block.lines.append((centre, 0.0, target, _ROW, edge))
    own = _make_box(node.label, width)
    block.add(own, centre - width / 2, 0.0)
    return _shift(block, -(centre - width / 2))


def _place_baseline(head: Node) -> _Block:
    """Place a baseline of a Symbol Layout Tree; its first symbol is at 0."""
    block = _Block()
    node: Node | None = head
    x = 0.0
    previous: float | None = None
    while node is not None:
        column = _place_column(node)
        x -= column.left if previous is not None else 0.0
        block.add(column, x, 0.0)
        if previous is not None:
            block.lines.append((previous, 0.0, x, 0.0, "n"))
        previous = x + _measure(node.label)
        x += max(column.right, _measure(node.label)) + _GAP
        node = node.edges.get("n")
    return block


def _place_column(node: Node) -> _Block:
    """Place a symbol with what is above and below it."""
    width = _measure(node.label)
    block = _make_box(node.label, width)
    for above in (True, False):
        x = width * 0.75
        for edge in SLT_EDGES[1:]:
            if edge not in node.edges or (edge in _ABOVE) != above:
                continue
            child = node.edges[edge]
            other = _place_baseline(child)
            y = -(_ROW + other.bottom) if above else _ROW - other.top
            block.lines.append(
                (width / 2, 0.0, x - other.left + _measure(child.label) / 2, y, edge)
            )
            block.add(other, x - other.left, y)
            x += other.right - other.left + _GAP / 2
    return block


def _make_box(label: str, width: float) -> _Block:
    return _Block(right=width, boxes=[(0.0, 0.0, label)])


def _shift(block: _Block, x: float) -> _Block:
    moved = _Block(left=block.left + x, right=block.right + x)
    moved.add(block, x, 0.0)
    return moved


def _measure(label: str) -> float:
    return max(1, len(label)) * _CHARACTER + 14


def _write(block: _Block) -> SvgDrawing:
    dx, dy = _MARGIN - block.left, _MARGIN - block.top + _HEIGHT / 2
    width = block.right - block.left + 2 * _MARGIN
    height = block.bottom - block.top + _HEIGHT + 2 * _MARGIN
    parts = [_open_svg(width, height)]
    # Lines first: boxes are drawn over their ends.
    for x1, y1, x2, y2, _ in block.lines:
        parts.append(
            f'<line x1="{x1 + dx:.1f}" y1="{y1 + dy:.1f}" x2="{x2 + dx:.1f}" '
            f'y2="{y2 + dy:.1f}" stroke="#94a3b8" stroke-width="1.4"/>'
        )
    parts += [_write_edge_label(line, dx, dy) for line in block.lines]
    parts += [_write_box(x + dx, y + dy, label) for x, y, label in block.boxes]
    return SvgDrawing("".join(parts) + "</svg>")


def _write_edge_label(
    line: tuple[float, float, float, float, str], dx: float, dy: float
) -> str:
    x1, y1, x2, y2, label = line
    x, y = (x1 + x2) / 2 + dx, (y1 + y2) / 2 + dy
    return (
        f'<rect x="{x - 6:.1f}" y="{y - 8:.1f}" width="12" height="16" fill="#ffffff"/>'
        f'<text x="{x:.1f}" y="{y + 4:.1f}" text-anchor="middle" font-size="11" '
        f'font-family="monospace" fill="#64748b">{escape(label)}</text>'
    )


def _write_box(x: float, y: float, label: str) -> str:
    width = _measure(label)
    colour = _COLOURS.get(label[:1]) if label[1:2] == "!" else _OPERATOR_COLOUR
    return (
        f'<rect x="{x:.1f}" y="{y - _HEIGHT / 2:.1f}" width="{width:.1f}" '
        f'height="{_HEIGHT}" rx="6" fill="{colour or "#f8fafc"}" stroke="#475569"/>'
        f'<text x="{x + width / 2:.1f}" y="{y + 5:.1f}" text-anchor="middle" '
        f'font-size="14" font-family="monospace" fill="#0f172a">{escape(label)}</text>'
    )


def _open_svg(width: float, height: float) -> str:
    return (
        f'<svg width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" xmlns="http://www.w3.org/2000/svg">'
        f'<rect width="{width:.0f}" height="{height:.0f}" fill="#ffffff"/>'
    )


def _read_size(drawing: str) -> tuple[float, float]:
    words = drawing.split('"', 4)
    return float(words[1]), float(words[3])
