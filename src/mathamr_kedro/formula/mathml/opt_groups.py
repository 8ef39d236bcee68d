"""Intervals, vectors, lists, sets and matrices of Operator Trees."""

from __future__ import annotations

from lxml import etree

from mathamr_kedro.formula.labels import ERROR
from mathamr_kedro.formula.mathml.errors import TreeError
from mathamr_kedro.formula.mathml.markup import local_name
from mathamr_kedro.formula.mathml.rules import Kids, Reader, Rule, drop_missing
from mathamr_kedro.formula.node import Node

MAX_CELLS = 100_000
"""Cells of a matrix beyond which a formula is refused: short rows are padded."""

_CLOSURES = {
    "open": "O-O",
    "closed": "C-C",
    "open-closed": "O-C",
    "closed-open": "C-O",
}
_GROUPS = {"vector": "V", "list": "L", "set": "S"}


def _make_interval(element: etree._Element, kids: Kids, reader: Reader) -> Node:
    closure = element.get("closure", "closed")
    if closure not in _CLOSURES:
        reader.deviate(
            "unknown_tag",
            f"No rule for an interval of closure {closure!r}",
            "interval",
        )
    ends = _CLOSURES.get(closure, "C-C")
    return reader.make_node(f"O!interval({ends})", drop_missing(kids))


def _make_group(element: etree._Element, kids: Kids, reader: Reader) -> Node:
    children = drop_missing(kids)
    label = f"M!{_GROUPS[local_name(element)]}-{len(children)}"
    return reader.make_node(label, children)


def _make_matrix(element: etree._Element, kids: Kids, reader: Reader) -> Node:
    rows = drop_missing(kids)
    columns = max((len(row.edges) for row in rows), default=0)
    if len(rows) * columns > MAX_CELLS:
        raise TreeError(
            "too_large",
            f"Expected a matrix of at most {MAX_CELLS} cells "
            f"(got {len(rows)} x {columns})",
        )
    padded = [
        Node.operator(
            row.label,
            [
                *row.edges.values(),
                *(Node(ERROR) for _ in range(columns - len(row.edges))),
            ],
        )
        for row in rows
    ]
    return reader.make_node(f"M!M-{len(rows)}x{columns}", padded)


def _make_matrix_row(element: etree._Element, kids: Kids, reader: Reader) -> Node:
    return reader.make_node("M!R!", drop_missing(kids))


GROUP_RULES: dict[str, Rule] = {
    "interval": _make_interval,
    "matrix": _make_matrix,
    "matrixrow": _make_matrix_row,
    **dict.fromkeys(_GROUPS, _make_group),
}
"""What to make of each element that groups others."""
