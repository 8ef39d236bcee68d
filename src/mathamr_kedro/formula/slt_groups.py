"""Baselines, fenced groups and tables of Symbol Layout Trees.

```
(x, y)    M!()1x2                     a b    M!2x2
           │                          c d     │
           w                                  w
           │                                  │
          V!x ──n── &comma;                  V!a ──e── V!b ──e── V!c ──e── V!d
           │
           e
           │
          V!y
```
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from itertools import pairwise

from mathamr_kedro.formula.node import BLANK, Node

OPENING = frozenset({"(", "{", "|", "\u2225", "&lsqb;"})
CLOSING = frozenset({")", "}", "|", "\u2225", "&rsqb;"})
COMMA = frozenset({",", "&comma;"})

_FENCED = frozenset("({|&\u2225")
_LINKS_OF_SYMBOL = frozenset("nabouc" + "d")


def is_blank(node: Node | None) -> bool:
    """Tell whether a node is invisible in a row: nothing, or a bare blank."""
    return node is None or not (node.edges or (node.label and node.label != BLANK))


def drop_blanks(kids: Iterable[Node | None]) -> list[Node]:
    """Return the visible children: a bare blank is not."""
    return [kid for kid in kids if kid is not None and not is_blank(kid)]


def link_plain(items: Sequence[Node]) -> Node | None:
    """Return the baseline of all items; matrices stay apart."""
    for node, following in pairwise(items):
        node.find_last("n").edges["n"] = following
    return items[0] if items else None


def link_row(items: Sequence[Node]) -> Node | None:
    """Return the baseline of all items; matrices side by side merge if they fit."""
    if not items:
        return None
    current = items[0]
    beside: list[Node] = []
    for following in items[1:]:
        rows = _count_rows(following)
        if rows is not None and rows == _count_rows(current):
            beside.append(following)
            continue
        if beside:
            _merge_matrices(current, beside)
            beside = []
        current.find_last("n").edges["n"] = following
        current = following
    if beside:
        _merge_matrices(current, beside)
    return items[0]


def _count_rows(node: Node) -> str | None:
    """Return the number of rows of a table without fences; None for other nodes."""
    if not node.label.startswith("M!"):
        return None
    rows, _, columns = node.label[2:].partition("x")
    return rows if _is_number(rows) and _is_number(columns) else None


def _merge_matrices(left: Node, others: Sequence[Node]) -> None:
    """Put tables of as many rows beside each other, all in ``left``."""
    tables = [left, *others]
    rows = int(left.label[2:].partition("x")[0])
    widths = [int(table.label.partition("x")[2]) for table in tables]
    cells = [_take_cells(table) for table in tables]
    merged: list[Node] = []
    for row in range(rows):
        for width, own in zip(widths, cells, strict=True):
            last = None if row == rows - 1 else (row + 1) * width
            merged += own[row * width : last]
    left.label = f"M!{rows}x{sum(widths)}"
    if merged:
        left.edges["w"] = make_row(merged)
    for other in others:
        for edge, below in other.edges.items():
            left.edges.setdefault(edge, below)


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 7


def _take_cells(matrix: Node) -> list[Node]:
    """Return the cells of a table, cut from each other and from the table."""
    cells: list[Node] = []
    cell = matrix.edges.pop("w", None)
    while cell is not None:
        cells.append(cell)
        cell = cell.edges.pop("e", None)
    return cells


def make_group(
    opening: str,
    items: Sequence[Node],
    closing: str,
    separators: Collection[str] = COMMA,
) -> Node:
    """Return the group of ``items`` between two fences, a matrix of one row."""
    if not items:
        return Node(f"M!{opening}{closing}")
    if len(items) == 1:
        only = items[0]
        if _is_bare_matrix(only):
            only.label = f"M!{opening}{closing}{only.label[2:]}"
            return only
        first, count = _cut_baseline(only, separators)
    else:
        first, count = _join_items(items, separators)
    group = Node(f"M!{opening}{closing}1x{count}")
    group.edges["w"] = first
    return group


def _is_bare_matrix(node: Node) -> bool:
    label = node.label
    return (
        label.startswith("M!")
        and label[2:3] not in _FENCED
        and _LINKS_OF_SYMBOL.isdisjoint(node.edges)
    )


def _cut_baseline(head: Node, separators: Collection[str]) -> tuple[Node, int]:
    """Cut one baseline after each separator; return its first item and their number."""
    if head.label in separators:
        blank = Node(BLANK)
        blank.edges["n"] = head
        head = blank
    count = 1
    item = node = head
    while "n" in node.edges:
        following = node.edges["n"]
        if following.label not in separators:
            node = following
            continue
        count += 1
        rest = following.edges.pop("n", None)
        if rest is None:
            break
        item.edges["e"] = rest
        item = node = rest
    return head, count


def _join_items(items: Sequence[Node], separators: Collection[str]) -> tuple[Node, int]:
    """Link separate symbols into items; return the first item and their number."""
    head = items[0]
    rest = items[1:]
    if head.label in separators:
        head, rest = Node(BLANK), items
    count = 1
    item = tail = head
    begins_item = False
    for node in rest:
        if begins_item and node.label not in separators:
            item.edges["e"] = node
            item = node
        else:
            tail.find_last("n").edges["n"] = node
        tail = node
        begins_item = node.label in separators
        count += begins_item
    return head, count


def make_row(cells: Sequence[Node]) -> Node:
    """Return the first cell of a row, linked to the others."""
    if not cells:
        return Node(BLANK)
    for cell, following in pairwise(cells):
        cell.edges["e"] = following
    return cells[0]
