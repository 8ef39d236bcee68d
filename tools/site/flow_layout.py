"""Where the boxes of a flow chart are: rows by their distance from the start.

Boxes of a subgraph share a column of their own; inside of it each box moves towards the
boxes that lead to it, as far as its neighbours leave room.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise, product
from typing import NamedTuple

_ARROW = re.compile(
    r'\s*(?:-->\|"?(?P<bar>.*?)"?\||--\s+"?(?P<text>[^"]*?)"?\s+-->|-->)\s*'
)
_BOX = re.compile(
    r'(?P<name>\w+)\s*(?:\(\("?(?P<round>.*?)"?\)\)|\[\("?(?P<store>.*?)"?\)\]'
    r'|\["?(?P<box>.*?)"?\])?'
)
_BREAK = re.compile(r"<br\s*/?>")
_LETTER, _LINE, _PAD = 6.9, 17.0, 12.0
_GAP, _BETWEEN, _MARGIN, _TITLE = 30.0, 22.0, 8.0, 24.0
_LONGEST = 30
"""Letters of a line."""

Rows = tuple[str, ...]


class Box(NamedTuple):
    """A box: its text and its look."""

    lines: Rows
    shape: str
    group: str

    @property
    def width(self) -> float:
        """Room for its longest line."""
        return max(len(line) for line in self.lines) * _LETTER + 2 * _PAD

    @property
    def height(self) -> float:
        """Room for all its lines."""
        return len(self.lines) * _LINE + _PAD


class Placed(NamedTuple):
    """Places of all boxes (left, top, width, height) and groups (four sides)."""

    boxes: dict[str, tuple[float, float, float, float]]
    groups: dict[str, tuple[float, float, float, float]]
    width: float
    height: float


@dataclass
class FlowChart:
    """Boxes and edges of a ``flowchart LR``."""

    boxes: dict[str, Box] = field(default_factory=dict)
    edges: list[tuple[str, str, Rows]] = field(default_factory=list)

    @classmethod
    def read(cls, source: str) -> FlowChart:
        """Read Mermaid's text.

        Raises:
            ValueError: it has something that is not known here.
        """
        head, *lines = [line.strip() for line in source.strip().splitlines()]
        if head != "flowchart LR":
            raise ValueError(
                f"Expected 'flowchart LR' or 'xychart-beta' (got {head!r})"
            )
        chart, group = cls(), ""
        for line in filter(None, lines):
            if line.startswith("subgraph "):
                found = re.fullmatch(r'subgraph (?:\w+\[")?(.*?)(?:"\])?', line)
                group = found[1] if found else ""
            elif line == "end":
                group = ""
            else:
                chart._read_line(line, group)
        return chart

    def _read_line(self, line: str, group: str) -> None:
        """Read a chain: lists of boxes with arrows between them."""
        position, parts, labels = 0, [], []
        for arrow in _ARROW.finditer(line):
            parts.append(line[position : arrow.start()])
            labels.append(_split(arrow["bar"] or arrow["text"] or ""))
            position = arrow.end()
        parts.append(line[position:])
        names = [list(self._read_boxes(part, group)) for part in parts]
        for (ones, others), label in zip(pairwise(names), labels, strict=True):
            self.edges += [(a, b, label) for a, b in product(ones, others)]

    def _read_boxes(self, part: str, group: str) -> Iterator[str]:
        for text in re.split(r"\s+&\s+", part.strip()):
            found = _BOX.fullmatch(text.strip())
            if found is None:
                raise ValueError(f"Expected a box of a flow chart (got {text!r})")
            name = found["name"]
            shapes = {k: found[k] for k in ("round", "store", "box") if found[k]}
            shape, words = next(iter(shapes.items()), ("box", ""))
            if words or name not in self.boxes:
                known = self.boxes.get(name)
                where = known.group if known else group
                self.boxes[name] = Box(_split(words or name), shape, where)
            yield name

    def place(self) -> Placed:
        """Find a place for every box, one row below the other: pages are narrow."""
        rows = self._find_rows()
        tops = self._find_tops(rows)
        boxes: dict[str, tuple[float, float, float, float]] = {}
        groups: dict[str, tuple[float, float, float, float]] = {}
        left = 2 * _MARGIN
        for group in dict.fromkeys(box.group for box in self.boxes.values()):
            inside = [n for n, box in self.boxes.items() if box.group == group]
            middle = self._spread(inside, rows)
            shift = left - min(middle[n] - self.boxes[n].width / 2 for n in inside)
            for name in inside:
                box = self.boxes[name]
                x = middle[name] + shift - box.width / 2
                boxes[name] = x, tops[rows[name]], box.width, box.height
            right = max(boxes[n][0] + boxes[n][2] for n in inside)
            if group:
                ends = [boxes[n][1] + boxes[n][3] for n in inside]
                groups[group] = (
                    left - _MARGIN,
                    min(boxes[n][1] for n in inside) - _TITLE,
                    right + _MARGIN,
                    max(ends) + _MARGIN,
                )
            left = right + _BETWEEN + 2 * _MARGIN
        height = max(y + h for _, y, _, h in boxes.values()) + 2 * _MARGIN
        return Placed(boxes, groups, left, height)

    def _find_rows(self) -> dict[str, int]:
        """Return the longest way from the start to each box.

        What nothing leads to is right above what it leads to.
        """
        rows = dict.fromkeys(self.boxes, 0)
        for _ in self.boxes:
            for start, end, _label in self.edges:
                rows[end] = max(rows[end], rows[start] + 1)
        if max(rows.values()) >= len(self.boxes):
            raise ValueError("Expected a flow chart without a circle")
        for name in self.boxes.keys() - {end for _, end, _ in self.edges}:
            below = [rows[end] for start, end, _ in self.edges if start == name]
            rows[name] = min(below, default=1) - 1
        return rows

    def _find_tops(self, rows: dict[str, int]) -> list[float]:
        """Return where each row begins: labels have room above their target."""
        tops = [_TITLE + _MARGIN]
        for row in range(max(rows.values())):
            highest = max(b.height for n, b in self.boxes.items() if rows[n] == row)
            lines = [len(e[2]) * _LINE for e in self.edges if rows[e[1]] == row + 1]
            tops.append(tops[-1] + highest + _GAP + max(lines, default=0.0))
        return tops

    def _spread(self, names: list[str], rows: dict[str, int]) -> dict[str, float]:
        """Return the middle of each box of a group, row by row."""
        middle: dict[str, float] = {}
        for row in sorted({rows[n] for n in names}):
            here = [n for n in names if rows[n] == row]
            wanted = {n: self._want(n, middle) for n in here}
            here.sort(key=lambda n: wanted[n])
            x, offsets = 0.0, []
            for name in here:
                width = self.boxes[name].width
                middle[name] = x + width / 2
                offsets.append(wanted[name] - middle[name])
                x += width + _BETWEEN
            shift = sum(offsets) / len(offsets)
            for name in here:
                middle[name] += shift
        return middle

    def _want(self, name: str, middle: dict[str, float]) -> float:
        before = [middle[a] for a, b, _ in self.edges if b == name and a in middle]
        return sum(before) / len(before) if before else 0.0


def _split(text: str) -> Rows:
    """Return the lines of a label; long ones are broken."""
    return tuple(
        part
        for line in _BREAK.split(text)
        if line
        for part in textwrap.wrap(line, _LONGEST)
    )
