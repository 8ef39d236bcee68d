"""Pictures of an explanation, as in Figure 4.1.

matplotlib is loaded here and nowhere else in this package.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from string import ascii_lowercase

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.patches import Rectangle

from mathamr_kedro.base.files import replace_file
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
        [node.key for node in nodes]
        for nodes in (explanation.query_nodes, explanation.post_nodes)
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
