"""Where the nodes of a math graph are drawn: left to right, row by row.

::

    show-01 ──ARG0── you                       a node is right of its parent,
        └─────ARG1── even-01 ──ARG1── ...      the first child on the same row

A layout tree is a chain of "next" symbols, so it runs along a row as the formula does.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from functools import reduce
from typing import NamedTuple
from unicodedata import east_asian_width

from mathamr_kedro.graph.math_graph import MathGraph
from mathamr_kedro.graph.penman_graph import read_label
from mathamr_kedro.graph.sentences import Sentences

HEIGHT = 22.0
"""Of the box of a node."""
_CHARACTER, _EDGE_CHARACTER = 7.3, 5.8
_PADDING = 14.0
_ROW = 32.0
_SPACE = 12.0
"""Between rows of different regions."""
_MAX_LABEL = 28
"""Characters of a label that are shown."""


class Box(NamedTuple):
    """A rectangle."""

    left: float
    top: float
    right: float
    bottom: float

    def widen(self, by: float) -> Box:
        """Return the rectangle with a margin around it."""
        return Box(self.left - by, self.top - by, self.right + by, self.bottom + by)

    def join(self, other: Box) -> Box:
        """Return the smallest rectangle around both."""
        return Box(
            min(self.left, other.left),
            min(self.top, other.top),
            max(self.right, other.right),
            max(self.bottom, other.bottom),
        )

    @classmethod
    def around(cls, boxes: Iterable[Box]) -> Box | None:
        """Return the smallest rectangle around all; ``None`` if there is none."""
        return reduce(cls.join, found) if (found := list(boxes)) else None


def shorten(label: str) -> str:
    """Return a label as it is shown.

    >>> shorten("set"), len(shorten("x" * 99))
    ('set', 28)
    """
    shown = "".join(c if c.isprintable() else "·" for c in label)
    return shown if len(shown) <= _MAX_LABEL else shown[: _MAX_LABEL - 1] + "…"


def place_nodes(graph: MathGraph, kept: Collection[int]) -> dict[int, Box]:
    """Return the box of each node that is kept."""
    borders = _find_borders(graph)
    roles = {target: role for _, role, target in reversed(graph.lines)}
    boxes: dict[int, Box] = {}
    row = 0.0
    has_child: set[int] = set()
    space = 0.0
    for node in range(graph.num_nodes):
        space += _SPACE * borders.get(node, 0)
        if node not in kept:
            continue
        parent = graph.parents[node]
        left = 0.0
        if parent >= 0:
            left = boxes[parent].right + 26 + _EDGE_CHARACTER * len(roles[node])
            left += _SPACE * bool(borders.get(node, 0))
            if parent in has_child:
                row += _ROW + min(space, 2 * _SPACE)
                space = 0.0
            has_child.add(parent)
        width = _measure(shorten(read_label(graph.atoms[node])))
        boxes[node] = Box(left, row, left + width, row + HEIGHT)
    return boxes


def _find_borders(graph: MathGraph) -> dict[int, int]:
    """Return how many regions begin or have just ended at a node."""
    starts = [tree.start for p in graph.formulas for tree in (p.opt, p.slt) if tree]
    starts += Sentences.of(graph).roots
    borders: dict[int, int] = {}
    for start in starts:
        for place in (start, graph.ends[start]):
            borders[place] = borders.get(place, 0) + 1
    return borders


def _measure(text: str) -> float:
    characters = sum(1.7 if east_asian_width(c) in "WF" else 1.0 for c in text)
    return characters * _CHARACTER + _PADDING
