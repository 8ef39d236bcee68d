"""Pictures of an explanation: PNG for a paper, HTML for a browser.

matplotlib is loaded here and nowhere else in this package.
"""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from pathlib import Path
from string import ascii_lowercase

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.patches import Rectangle

from mathamr_kedro.base.files import replace_file
from mathamr_kedro.formula import MATH_STYLE, render_text
from mathamr_kedro.search.explanation import Explanation

_NODE, _MIN_PANEL, _MAX_PANEL = 0.2, 2.6, 8.0
"""Inches of a node in a panel, and of a panel at least and at most."""


def draw_panels(explanations: Mapping[str, Explanation]) -> Figure:
    """Draw several explanations side by side on one scale, two in a row (Figure 4.1).

    Nodes have their short names: formulas F0, F1, ..., sentences S1, ..., document D.
    """
    rows = max(1, (len(explanations) + 1) // 2)
    columns = min(2, max(1, len(explanations)))
    shapes = [e.similarity.shape for e in explanations.values()] or [(1, 1)]
    high, wide = (
        min(_MAX_PANEL, max(_MIN_PANEL, _NODE * max(sizes)))
        for sizes in zip(*shapes, strict=True)
    )
    size = (columns * (wide + 0.9) + 1.2, rows * (high + 1.1))
    figure = Figure(figsize=size, layout="constrained", dpi=150)
    grid = figure.subplots(rows, columns, squeeze=False)
    for axes in grid.flat:
        axes.set_axis_off()
    image = None
    for letter, axes, (label, found) in zip(
        ascii_lowercase, grid.flat, explanations.items(), strict=False
    ):
        image = _draw_panel(axes, f"({letter}) {label}: {found.score:.3f}", found)
    if image is not None:
        figure.colorbar(image, ax=grid, label="cosine", shrink=0.8)
    return figure


def _draw_panel(axes: Axes, title: str, explanation: Explanation) -> AxesImage:
    axes.set_axis_on()
    image = axes.imshow(
        explanation.similarity, cmap="viridis", vmin=-1.0, vmax=1.0, aspect="auto"
    )
    axes.set_title(title, fontsize=11).set_parse_math(False)
    mine, theirs = (
        [label.split(" ", 1)[0] for label in labels]
        for labels in (explanation.query_labels, explanation.post_labels)
    )
    axes.set_xticks(*_thin(theirs), rotation=90, fontsize=8)
    axes.set_yticks(*_thin(mine), fontsize=8)
    axes.set_xlabel(f"post {explanation.post_key}", fontsize=9).set_parse_math(False)
    axes.set_ylabel(f"topic {explanation.query_key}", fontsize=9).set_parse_math(False)
    for row, column in enumerate(explanation.best.tolist()):
        corner = (column - 0.5, row - 0.5)
        axes.add_patch(Rectangle(corner, 1, 1, fill=False, edgecolor="red", lw=1.2))
    return image


def _thin(labels: Sequence[str]) -> tuple[list[int], list[str]]:
    """Leave out labels of axes that are too long to read all."""
    step = max(1, round(len(labels) * _NODE / _MAX_PANEL))
    places = list(range(0, len(labels), step))
    return places, [labels[place] for place in places]


def save_heatmap(explanation: Explanation, path: Path) -> None:
    """Write the heatmap as PNG, as one panel."""
    figure = draw_panels({"MaxSim": explanation})
    with replace_file(path) as part:
        figure.savefig(part, format="png")


def write_html(explanation: Explanation) -> str:
    """Return the heatmap and the matches as one page that needs nothing else.

    Formulas are drawn; rows are the nodes of the post, as a post has more of them.
    """
    best = explanation.best
    order = np.argsort(-explanation.similarity.max(0), kind="stable").tolist()
    head = "".join(f"<th>{_show(label)}</th>" for label in explanation.query_labels)
    rows = []
    for j in order:
        cells = "".join(
            f'<td{" class=best" if best[i] == j else ""} style="{_colour(value)}">'
            f"{value:.2f}</td>"
            for i, value in enumerate(explanation.similarity[:, j].tolist())
        )
        rows.append(f"<tr><th>{_show(explanation.post_labels[j])}</th>{cells}</tr>")
    matches = "".join(
        f"<li><b>{m.similarity:.3f}</b> {_show(m.query)} → {_show(m.post)}</li>"
        for m in explanation.matches()
    )
    title = f"Query {explanation.query_key}, post {explanation.post_key}"
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{html.escape(title)}</title>"
        f"<style>{_STYLE}{MATH_STYLE}</style><h1>{render_text(title)}</h1>"
        f"<p>MaxSim {explanation.score:.3f}: the mean of the framed cells, the best "
        "partner of each query node (columns) among the nodes of the post (rows); "
        f"F formula, S sentence, D document.{_name_document(explanation)}</p>"
        f"<table><tr><th></th>{head}</tr>{''.join(rows)}</table>"
        f"<h2>Matches</h2><ol>{matches}</ol></html>\n"
    )


def _name_document(explanation: Explanation) -> str:
    if explanation.document is None:
        return ""
    return f" Document vectors {explanation.document:.3f}: the cosine of D and D."


_STYLE = """
body{font:16px/1.6 system-ui,sans-serif;color:#1e2330;margin:2em auto;max-width:70em;
padding:0 1.2em}h1{font-size:1.4em}h2{font-size:1.15em}
table{border-collapse:collapse}
td{min-width:4.5em;text-align:center;border:1px solid #fff}
td.best{border:3px solid #c2410c;font-weight:bold}
th{text-align:left;font-weight:normal;padding:.3em .8em;border-bottom:1px solid #e5e7eb;
max-width:32em;vertical-align:bottom}
th b{display:block;color:#6b7280;font:500 .75em system-ui,sans-serif}
"""


def _show(label: str) -> str:
    """Return a label with its formulas drawn, its name before it."""
    name, _, words = label.partition(" ")
    return f"<b>{html.escape(name)}</b> {render_text(words)}"


def _colour(value: float) -> str:
    """From white (-1 to 0) to dark blue (1), text readable on it."""
    share = min(1.0, max(0.0, value))
    red, green = round(255 - 225 * share), round(255 - 165 * share)
    text = "#fff" if share > 0.6 else "#000"
    return f"background:rgb({red},{green},255);color:{text}"
