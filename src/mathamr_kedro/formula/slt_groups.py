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

from collections.abc import Collection, Sequence
from itertools import pairwise

from mathamr_kedro.formula.labels import BLANK
from mathamr_kedro.formula.node import Node

OPENING = frozenset({"(", "{", "|", "\u2225", "&lsqb;"})
CLOSING = frozenset({")", "}", "|", "\u2225", "&rsqb;"})
COMMA = frozenset({",", "&comma;"})

_FENCED = frozenset("({|&\u2225")
_LINKS_OF_SYMBOL = frozenset("nabouc" + "d")


def find_tail(node: Node) -> Node:
    """Return the last node of the baseline that begins with ``node``."""
    following = node.edges.get("n")
    while following is not None:
        node = following
        following = node.edges.get("n")
    return node


def count_cells(node: Node) -> int:
    """Return how many cells the row that begins with ``node`` has."""
    count = 1
    following = node.edges.get("e")
    while following is not None:
        count += 1
        following = following.edges.get("e")
    return count


def link_row(items: Sequence[Node]) -> Node | None:
    """Return the baseline of all items; matrices side by side merge where they fit."""
    if not items:
        return None
    current = items[0]
    for following in items[1:]:
        if (
            following.label.startswith("M!")
            and current.label.startswith("M!")
            and _merge_matrices(current, following)
        ):
            continue
        find_tail(current).edges["n"] = following
        current = following
    return items[0]


def _merge_matrices(left: Node, right: Node) -> bool:
    """Put ``right`` beside ``left`` if both are bare tables of as many rows."""
    rows, _, left_columns = left.label[2:].partition("x")
    right_rows, _, right_columns = right.label[2:].partition("x")
    sizes = (rows, left_columns, right_columns)
    if rows != right_rows or not all(_is_number(size) for size in sizes):
        return False
    first, second = int(left_columns), int(right_columns)
    left_cells, right_cells = _take_cells(left), _take_cells(right)
    cells: list[Node] = []
    while left_cells or right_cells:
        if not (first or second):
            break
        cells += left_cells[:first] + right_cells[:second]
        left_cells, right_cells = left_cells[first:], right_cells[second:]
    left.label = f"M!{rows}x{first + second}"
    if cells:
        left.edges["w"] = cells[0]
        for cell, following in pairwise(cells):
            cell.edges["e"] = following
    for edge, below in right.edges.items():
        left.edges.setdefault(edge, below)
    return True


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
    """Return the group of ``items`` between two fences, a matrix of one row.

    Args:
        opening: label of the opening fence.
        items: the symbols between, each the head of a baseline.
        closing: label of the closing fence.
        separators: labels that end an item of the group.
    """
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
            find_tail(tail).edges["n"] = node
        tail = node
        begins_item = node.label in separators
        count += begins_item
    return head, count


def make_table(rows: Sequence[Node]) -> Node:
    """Return the matrix over rows, each given by its first cell."""
    if not rows:
        return Node("M!0x0")
    table = Node(f"M!{len(rows)}x{count_cells(rows[0])}")
    table.edges["w"] = rows[0]
    cell = rows[0]
    for row in rows[1:]:
        cell = _find_last_cell(cell)
        cell.edges["e"] = row
        cell = row
    return table


def make_row(cells: Sequence[Node]) -> Node:
    """Return the first cell of a row, linked to the others."""
    if not cells:
        return Node(BLANK)
    for cell, following in pairwise(cells):
        cell.edges["e"] = following
    return cells[0]


def _find_last_cell(cell: Node) -> Node:
    following = cell.edges.get("e")
    while following is not None:
        cell = following
        following = cell.edges.get("e")
    return cell


def box(base: Node) -> Node:
    """Return an invisible matrix around a baseline, so that scripts can hang on it."""
    outer = Node(f"M!1x{count_cells(base)}")
    outer.edges["w"] = base
    return outer
