"""Math graphs drawn as SVG, with their virtual nodes (thesis, Figures 3.1 and 3.2).

::

    show-01 ──ARG0── you                       a node is right of its parent,
        └─────ARG1── even-01 ──ARG1── ...      the first child on the same row

A layout tree is a chain of "next" symbols, so it runs along a row as the formula does.
Blue is the AMR, amber a formula, green its operator tree, orange its layout tree,
violet a virtual node. Dotted borders are what a virtual node gathers; its members light
up under the mouse in a page, which is one HTML file with nothing to fetch.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from functools import reduce
from html import escape
from typing import NamedTuple
from unicodedata import east_asian_width

from mathamr_kedro.formula import MATH_STYLE, render_text
from mathamr_kedro.formula.drawing import SvgDrawing
from mathamr_kedro.graph.arrays import SENTENCE
from mathamr_kedro.graph.builder import VariantGraph
from mathamr_kedro.graph.fusion import FusedRecord
from mathamr_kedro.graph.math_graph import MathGraph
from mathamr_kedro.graph.penman_graph import (
    format_math_graph,
    read_label,
)
from mathamr_kedro.graph.sentences import Sentences
from mathamr_kedro.graph.virtual_nodes import GraphVariant

HEIGHT = 22.0
"""Of the box of a node."""

_CHARACTER, _EDGE_CHARACTER = 7.3, 5.8
_PADDING = 14.0
_ROW = 32.0
_SPACE = 12.0
"""Between rows of different regions."""

_MAX_LABEL = 28
"""Characters of a label that are shown."""


class Look(NamedTuple):
    """What the nodes of a kind are called and look like."""

    name: str
    fill: str
    stroke: str


LOOKS = {
    "amr": Look("AMR", "#dbeafe", "#3b82f6"),
    "formula": Look("formula", "#fde68a", "#d97706"),
    "opt": Look("operator tree (OPT)", "#bbf7d0", "#16a34a"),
    "slt": Look("symbol layout tree (SLT)", "#fed7aa", "#ea580c"),
    "virtual": Look("virtual node", "#ddd6fe", "#7c3aed"),
}
_MARGIN = 18.0
_PILL = 46.0
_INDENT = 150.0
"""Room for the document node at the left."""

STYLE = """
.g text{font:12px ui-monospace,Menlo,Consolas,monospace;fill:#111827}
.g .role{font-size:10px;fill:#6b7280}
.g .edge{fill:none;stroke:#94a3b8;stroke-width:1.2}
.g .again{fill:none;stroke:#3b82f6;stroke-width:1.2;stroke-dasharray:4 3}
.g .link{fill:none;stroke:#7c3aed;stroke-width:1;opacity:.28}
.g .aux{fill:none;stroke:#db2777;stroke-width:1.4;stroke-dasharray:5 3}
.g .area{fill-opacity:.16;stroke-dasharray:2 4;stroke-width:1.2}
.g .vector rect{stroke-width:2.6}
.g .hot rect{stroke:#db2777;stroke-width:3}
"""

_PAGE = """
body{font:15px/1.5 system-ui,sans-serif;color:#111827;margin:24px}
h1{font-size:20px;margin:0 0 4px}p{margin:4px 0 14px;color:#4b5563}
.key i{vertical-align:-2px}
.draw{overflow:auto;border:1px solid #e5e7eb;border-radius:8px;margin:14px 0}
table{border-collapse:collapse}td,th{padding:2px 12px 2px 0;text-align:left}
td{font-family:ui-monospace,Menlo,Consolas,monospace;font-size:13px}
pre{background:#f8fafc;padding:12px;overflow:auto;border-radius:8px;font-size:12px}
"""

# Members of a virtual node light up under the mouse.
_SCRIPT = """
for (const pill of document.querySelectorAll('.pill')) {
  const nodes = [...document.querySelectorAll('.node')].filter(
    n => n.dataset.v.split(' ').includes(pill.dataset.n));
  for (const [event, on] of [['mouseenter', true], ['mouseleave', false]])
    pill.addEventListener(event,
      () => nodes.forEach(n => n.classList.toggle('hot', on)));
}
"""


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


def draw_math_graph(
    graph: MathGraph, variant: GraphVariant | None = None
) -> SvgDrawing:
    """Return a graph as SVG, as a variant shows it.

    >>> from mathamr_kedro.graph.penman_graph import read_math_graph
    >>> draw_math_graph(read_math_graph("(s / set)"))[:4]
    '<svg'
    """
    return _Drawing(graph, variant or GraphVariant()).write()


class _Drawing:
    """One drawing under way."""

    def __init__(self, graph: MathGraph, variant: GraphVariant) -> None:
        self._variant = variant
        self._shown: VariantGraph = VariantGraph.build(graph, variant)
        self._graph = graph = self._shown.graph
        self._boxes = {
            node: Box(b.left + _INDENT, b.top + 40, b.right + _INDENT, b.bottom + 40)
            for node, b in place_nodes(graph, set(self._shown.nodes)).items()
        }
        self._pills = self._place_pills()

    def write(self) -> SvgDrawing:
        """Return the SVG text."""
        around = Box.around(self._pills.values())
        whole = Box.around(self._boxes.values()) or Box(0, 0, 0, 0)
        whole = (whole if around is None else whole.join(around)).widen(_MARGIN)
        size = f"{whole.right - whole.left:.0f}", f"{whole.bottom - whole.top:.0f}"
        parts = [
            *self._draw_areas(),
            *self._draw_links(),
            *self._draw_edges(),
            *self._draw_nodes(),
            *self._draw_pills(),
        ]
        return SvgDrawing(
            f'<svg xmlns="http://www.w3.org/2000/svg" class="g" width="{size[0]}" '
            f'height="{size[1]}" viewBox="{whole.left:.0f} {whole.top:.0f} '
            f'{size[0]} {size[1]}"><style>{STYLE}</style>' + "".join(parts) + "</svg>"
        )

    def _area_of(self, virtual: int) -> Box | None:
        """Return the place of what a formula or sentence virtual node gathers."""
        _, members = self._shown.virtual_nodes[virtual]
        return self._surround(self._shown.nodes[m] for m in members)

    def _surround(self, nodes: Iterable[int]) -> Box | None:
        return Box.around(self._boxes[node] for node in nodes if node in self._boxes)

    def _place_pills(self) -> dict[int, Box]:
        """Return the box of each virtual node, the document at the left."""
        count = len(self._shown.virtual_nodes)
        first = len(self._shown.nodes)
        pills: dict[int, Box] = {}
        for place in range(count - 1):
            area = self._area_of(place) or Box(0, 0, 0, 0)
            top = area.top - 19
            pills[first + place] = Box(
                area.left - 4, top, area.left + _PILL - 4, top + 15
            )
        if count:
            pills[first + count - 1] = Box(8, 40, 8 + _PILL, 40 + HEIGHT)
        return pills

    def _draw_areas(self) -> Iterator[str]:
        for part in self._graph.formulas:
            for kind, tree in (("opt", part.opt), ("slt", part.slt)):
                yield from _draw_area(self._surround(tree), kind)
        if self._variant.structure != "hierarchy":
            return
        for place, (owner, _) in enumerate(self._shown.virtual_nodes[:-1]):
            name = "amr" if owner == SENTENCE else "virtual"
            yield from _draw_area(self._area_of(place), name)

    def _draw_links(self) -> Iterator[str]:
        """Draw the edges of the document node, and auxiliary ones."""
        if not self._pills:
            return
        document = self._pills[max(self._pills)]
        root = self._boxes[0]
        yield _draw_curve(
            document.right, root.top + 11, root.left, root.top + 11, "link"
        )
        for number, pill in self._pills.items():
            if number != max(self._pills):
                middle = (pill.top + pill.bottom) / 2
                yield _draw_curve(document.right, 51, pill.left, middle, "link")
        for source, target in self._shown.auxiliary:
            a, b = self._pills[source], self._pills[target]
            yield _draw_curve(a.left, a.top + 8, b.left, b.top + 8, "aux", bow=-46)

    def _draw_edges(self) -> Iterator[str]:
        defined: set[int] = {0}
        for holder, role, target in self._graph.lines:
            is_new = target not in defined
            defined.add(target)
            if holder not in self._boxes or target not in self._boxes:
                continue
            a, b = self._boxes[holder], self._boxes[target]
            middle = b.top + HEIGHT / 2
            if not is_new:
                yield _draw_curve(a.right, a.top + 11, b.left, middle, "again", bow=40)
                continue
            start = f"M{a.right:.1f} {middle:.1f}"
            if b.top > a.top:
                start = f"M{a.right - 8:.1f} {a.bottom:.1f}V{middle:.1f}"
            yield f'<path class="edge" d="{start}H{b.left:.1f}"/>'
            yield (
                f'<text class="role" text-anchor="end" x="{b.left - 10:.1f}" '
                f'y="{middle - 3:.1f}">{escape(role)}</text>'
            )

    def _draw_nodes(self) -> Iterator[str]:
        kinds = self._find_kinds()
        gathered = self._find_gathered()
        vectors = self._shown.representatives
        for place, node in enumerate(self._shown.nodes):
            box = self._boxes[node]
            label = read_label(self._graph.atoms[node])
            kind = kinds[node]
            style = "node vector" if place in vectors else "node"
            yield (
                f'<g class="{style}" data-v="{" ".join(map(str, gathered[place]))}">'
                f"<title>{escape(label)}</title>"
                + _draw_box(box, kind, shorten(label), rounded=4)
                + "</g>"
            )

    def _draw_pills(self) -> Iterator[str]:
        first = len(self._shown.nodes)
        names = self._name_virtual_nodes()
        vectors = self._shown.representatives
        for number, box in self._pills.items():
            label, title, key = names[number - first]
            style = "pill vector" if number in vectors else "pill"
            yield (
                f'<g class="{style}" data-n="{number}" data-key="{key}">'
                f"<title>{escape(title)}</title>"
                + _draw_box(box, "virtual", label, rounded=8)
                + "</g>"
            )

    def _name_virtual_nodes(self) -> list[tuple[str, str, str]]:
        """Return label, title, and the name that explanations give each."""
        names: list[tuple[str, str, str]] = []
        if self._variant.structure == "hierarchy":
            modes = self._graph.formulas if self._variant.formula_mode != "none" else []
            names += [
                (
                    name := f"F{part.number}",
                    f"VIRTUAL_FORMULA of FORMULA_{part.number}",
                    name,
                )
                for part in modes
            ]
            count = len(Sentences.of(self._graph).roots)
            names += [
                (f"S{n + 1}", f"VIRTUAL_SENTENCE {n + 1}", f"S{n}")
                for n in range(count)
            ]
        return [*names, ("DOC", "VIRTUAL_DOCUMENT", "D")]

    def _find_kinds(self) -> list[str]:
        kinds = ["amr"] * self._graph.num_nodes
        for part in self._graph.formulas:
            kinds[part.node] = "formula"
            kinds[part.opt.start : part.opt.stop] = ["opt"] * len(part.opt)
            kinds[part.slt.start : part.slt.stop] = ["slt"] * len(part.slt)
        return kinds

    def _find_gathered(self) -> dict[int, list[int]]:
        """Return the virtual nodes of which each content node is a member."""
        first = len(self._shown.nodes)
        found: dict[int, list[int]] = {n: [] for n in range(first)}
        for place, (_, members) in enumerate(self._shown.virtual_nodes):
            for member in members:
                if member < first:
                    found[member].append(first + place)
        return found


def _draw_area(area: Box | None, kind: str) -> Iterator[str]:
    if area is not None:
        box, look = area.widen(6 if kind in ("opt", "slt") else 9), LOOKS[kind]
        yield (
            f'<rect class="area" x="{box.left:.1f}" y="{box.top:.1f}" '
            f'width="{box.right - box.left:.1f}" height="{box.bottom - box.top:.1f}" '
            f'rx="8" fill="{look.fill}" stroke="{look.stroke}"/>'
        )


def _draw_box(box: Box, kind: str, label: str, rounded: int) -> str:
    middle, look = (box.left + box.right) / 2, LOOKS[kind]
    height = box.bottom - box.top
    width = box.right - box.left
    return (
        f'<rect x="{box.left:.1f}" y="{box.top:.1f}" width="{width:.1f}" '
        f'height="{height:.1f}" rx="{rounded}" fill="{look.fill}" '
        f'stroke="{look.stroke}"/><text text-anchor="middle" x="{middle:.1f}" '
        f'y="{box.top + height / 2 + 4:.1f}">{escape(label)}</text>'
    )


def _draw_curve(
    x1: float, y1: float, x2: float, y2: float, style: str, bow: float = 30
) -> str:
    return (
        f'<path class="{style}" d="M{x1:.1f} {y1:.1f}C{x1 + bow:.1f} {y1:.1f} '
        f'{x2 - abs(bow):.1f} {y2:.1f} {x2:.1f} {y2:.1f}"/>'
    )


def write_page(record: FusedRecord, variant: GraphVariant) -> str:
    """Return the drawing of a fused record as an HTML page."""
    graph = record.graph
    drawing = draw_math_graph(graph, variant)
    text = format_math_graph(VariantGraph.build(graph, variant).content)
    rows = "".join(
        f"<tr><td>{escape(m.placeholder)}</td><td>{escape(m.formula_id)}</td>"
        f"<td>{escape(m.visual_id)}</td><td>{render_text(f'${m.latex}$')}</td>"
        f"<td>{escape(m.latex)}</td></tr>"
        for m in record.formula_map
    )
    head = (
        "<tr><th>placeholder</th><th>formula</th><th>visual id</th><th></th>"
        "<th>LaTeX</th></tr>"
    )
    table = f"<table>{head}{rows}</table>" if rows else "<p>no formulas</p>"
    name = escape(f"{record.post_type} {record.graph_id}")
    what = escape(
        f"formulas: {variant.formula_mode} · virtual nodes: {variant.structure} · "
        f"auxiliary edges: {variant.auxiliary_edges} · sentences by "
        f"{variant.sentence_roots}"
    )
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{name}</title>'
        f"<style>{_PAGE}{MATH_STYLE}</style><h1>Math graph of {name}</h1><p>{what}. "
        f"Thick borders are the vectors of the post.</p><div class=key>"
        f'{write_key()}</div><div class="draw">{drawing}</div>{table}'
        f"<details><summary>PENMAN</summary><pre>{escape(text)}</pre></details>"
        f"<script>{_SCRIPT}</script></html>\n"
    )


def write_key() -> str:
    """Return what the colours of a drawing mean, as HTML."""
    return "".join(
        f'<span style="margin-right:14px;white-space:nowrap"><i style="display:'
        f"inline-block;width:14px;height:14px;border:1.5px solid {look.stroke};"
        f'border-radius:3px;margin-right:5px;background:{look.fill}"></i>'
        f"{look.name}</span> "
        for look in LOOKS.values()
    )
