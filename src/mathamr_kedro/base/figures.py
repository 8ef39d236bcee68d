"""Style and shared elements of figures.

matplotlib is loaded by the first figure: it takes half a second of every command.
"""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = ("#3b6ea8", "#e0a458", "#5a9a5a", "#c8553d", "#7d6aa8", "#888888")
_GRID = "#e6e6e6"
_PANEL_INCHES = (9.0, 3.4)
_LONG_NAMES = 60
"""Letters of all names together that fit side by side."""
_MANY_NAMES = 110
"""Names that can be read on one axis; if there are more, none is written."""
_BARS = 0.8
"""Share of a name's room that its bars fill."""


def make_figure(title: str, panels: int = 1) -> tuple[Figure, list[Axes]]:
    """Return an empty figure and its panels, one below the other.

    A ``$`` in the name of a system or topic does not begin mathematics.
    """
    from matplotlib.figure import Figure  # noqa: PLC0415

    width, height = _PANEL_INCHES
    figure = Figure(figsize=(width, height * panels), layout="constrained", dpi=110)
    rows = figure.subplots(panels, squeeze=False)
    figure.suptitle(title).set_parse_math(False)
    for (axes,) in rows:
        axes.set_prop_cycle(color=COLOURS)
        axes.set_axisbelow(True)
        axes.grid(axis="y", color=_GRID)
        axes.spines[["top", "right"]].set_visible(False)
    return figure, [axes for (axes,) in rows]


def draw_bars(
    axes: Axes,
    names: Sequence[str],
    series: Mapping[str, Sequence[float]],
    *,
    colours: Sequence[str] = COLOURS,
    is_stacked: bool = False,
) -> None:
    """Draw bars for each name, side by side or stacked.

    Args:
        axes: the panel.
        names: below the bars.
        series: what each colour stands for, to a value for each name.
        colours: of the series, again from the first if there are too few.
        is_stacked: stack the bars of a name.
    """
    places, below = np.arange(len(names)), np.zeros(len(names))
    width = _BARS if is_stacked else _BARS / max(len(series), 1)
    for number, (label, values) in enumerate(series.items()):
        shift = 0.0 if is_stacked else (number - (len(series) - 1) / 2) * width
        colour = colours[number % len(colours)]
        axes.bar(places + shift, values, width, below, label=label, color=colour)
        if is_stacked:
            below = below + np.asarray(values)
    write_names(axes, names)


def write_names(axes: Axes, names: Sequence[str]) -> None:
    """Write names below the places 0, 1, ..., vertically if they are long."""
    if len(names) > _MANY_NAMES:
        axes.set_xticks([])
        return
    turn = 90 if sum(map(len, names)) > _LONG_NAMES else 0
    axes.set_xticks(
        range(len(names)), names, rotation=turn, fontsize=8, parse_math=False
    )


def add_legend(figure: Figure) -> None:
    """Add one legend for all panels below them."""
    found = [axes.get_legend_handles_labels() for axes in figure.axes]
    entries = {n: h for pair in found for h, n in zip(*pair, strict=True)}
    if len(entries) > 1:
        figure.legend(
            list(entries.values()), list(entries), loc="outside lower center",
            ncols=4, fontsize=8, frameon=False,
        )  # fmt: skip


def write_png(figure: Figure) -> bytes:
    """Return a figure as PNG."""
    file = io.BytesIO()
    figure.savefig(file, format="png")
    return file.getvalue()
