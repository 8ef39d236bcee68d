"""Mermaid's flow charts and line charts as SVG, so that a page needs no script.

A code host draws them by itself; the site has these pictures, in the colours of its
theme. Known is what our pages use: ``flowchart LR`` with boxes, labels, chains, ``&``
and ``subgraph``; ``xychart-beta`` with one line. Anything else fails the build.
"""

from __future__ import annotations

import re
from html import escape

from tools.site.flow_layout import FlowChart, Placed

_BLOCK = re.compile(r"^```mermaid\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_AXIS = re.compile(r'([xy])-axis "(.*?)" (.*)')
_LINE = 17
"""Height of a line of text."""


def draw_diagrams(markdown: str) -> tuple[str, list[str]]:
    """Replace the diagrams of a page by pictures.

    Returns:
        The page, and what is wrong with diagrams that could not be drawn.
    """
    problems: list[str] = []

    def draw(found: re.Match[str]) -> str:
        source = found[1]
        try:
            is_chart = source.startswith("xychart-beta")
            svg = _draw_chart(source) if is_chart else _draw_flow(source)
        except ValueError as problem:
            problems.append(str(problem))
            return found[0]
        return f'<figure class="diagram">{svg}</figure>'

    return _BLOCK.sub(draw, markdown), problems


def _draw_flow(source: str) -> str:
    chart = FlowChart.read(source)
    placed = chart.place()
    parts = [
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" '
        'markerHeight="7" orient="auto"><path d="M0 0L8 4L0 8z"/></marker></defs>'
    ]
    for title, (left, top, right, bottom) in placed.groups.items():
        parts.append(
            f'<rect class="group" x="{left:g}" y="{top:g}" width="{right - left:g}" '
            f'height="{bottom - top:g}" rx="8"/>'
            f'<text class="name" x="{left + 10:g}" y="{top + 16:g}">{escape(title)}'
            "</text>"
        )
    parts += [_draw_edge(placed, *edge) for edge in chart.edges]
    for name, (x, y, width, height) in placed.boxes.items():
        box = chart.boxes[name]
        radius = {"round": height / 2, "store": 14}.get(box.shape, 4)
        parts.append(
            f'<rect class="{box.shape}" x="{x:g}" y="{y:g}" width="{width:g}" '
            f'height="{height:g}" rx="{radius:g}"/>'
            + _write(box.lines, x + width / 2, y + height / 2)
        )
    return _frame(placed.width, placed.height, parts)


def _draw_edge(placed: Placed, start: str, end: str, label: tuple[str, ...]) -> str:
    x, y, width, height = placed.boxes[start]
    left, top, other, _ = placed.boxes[end]
    x, y, left = x + width / 2, y + height, left + other / 2
    bend = max((top - y) / 2, 14)
    line = (
        f'<path class="edge" marker-end="url(#tip)" d="M{x:g} {y:g}C{x:g} {y + bend:g} '
        f'{left:g} {top - bend:g} {left:g} {top - 2:g}"/>'
    )
    if not label:
        return line
    return line + _write(label, (x + left) / 2, (y + top) / 2, "label")


def _draw_chart(source: str) -> str:
    title = re.search(r'title "(.*)"', source)
    axes = {axis: (name, rest) for axis, name, rest in _AXIS.findall(source)}
    line = re.search(r"line \[(.*)\]", source)
    if title is None or line is None or set(axes) != {"x", "y"}:
        raise ValueError("Expected title, x-axis, y-axis and line in an xychart-beta")
    ticks = [cell.strip() for cell in axes["x"][1].strip("[] ").split(",")]
    low, high = map(float, axes["y"][1].split("-->"))
    values = [float(cell) for cell in line[1].split(",")]
    if len(values) != len(ticks):
        raise ValueError(f"Expected {len(ticks)} values in a line (got {len(values)})")
    left, top, width, height = 62, 34, 480, 200
    step = width / max(len(ticks) - 1, 1)
    xs = [left + step * n for n in range(len(ticks))]
    ys = [top + height * (high - v) / (high - low) for v in values]
    points = " ".join(f"{x:g},{y:g}" for x, y in zip(xs, ys, strict=True))
    parts = [_write((title[1],), left + width / 2, 14, "name")]
    for n in range(6):
        value, y = low + (high - low) * n / 5, top + height * (5 - n) / 5
        parts.append(
            f'<path class="grid" d="M{left} {y:g}H{left + width}"/>'
            f'<text class="tick" x="{left - 8}" y="{y + 4:g}" text-anchor="end">'
            f"{value:.2f}</text>"
        )
    parts += [
        _write((t,), x, top + height + 14, "tick")
        for t, x in zip(ticks, xs, strict=True)
    ]
    parts += [
        _write((axes["x"][0],), left + width / 2, top + height + 34, "tick"),
        f'<polyline class="line" points="{points}"/>',
        *(
            f'<circle cx="{x:g}" cy="{y:g}" r="3.5"/>'
            for x, y in zip(xs, ys, strict=True)
        ),
    ]
    return _frame(left + width + 24, top + height + 48, parts)


def _write(lines: tuple[str, ...], x: float, y: float, style: str = "words") -> str:
    first = y - _LINE * (len(lines) - 1) / 2 + 4.5
    spans = "".join(
        f'<tspan x="{x:g}" y="{first + _LINE * n:g}">{escape(text)}</tspan>'
        for n, text in enumerate(lines)
    )
    return f'<text class="{style}" text-anchor="middle">{spans}</text>'


def _frame(width: float, height: float, parts: list[str]) -> str:
    return (
        f'<svg role="img" xmlns="http://www.w3.org/2000/svg" '
        f'viewBox="0 0 {width:g} {height:g}" width="{width:g}">{"".join(parts)}</svg>'
    )
