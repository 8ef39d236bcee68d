"""What quality costs: systems by the time of a query; matplotlib is loaded here."""

from __future__ import annotations

import io
from collections.abc import Mapping

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from mathamr_kedro.experiments.benchmark.figure import LOOKS, style_axes
from mathamr_kedro.experiments.benchmark.report import BenchmarkReport
from mathamr_kedro.experiments.benchmark.scores import BenchmarkScores

_COLUMNS = 2
_PANEL = (6.2, 3.6)
_SMALLEST, _LARGEST = 18.0, 260.0
"""Areas of dots, in square points, for no index and for the largest one."""


def draw_costs(report: BenchmarkReport) -> dict[str, bytes]:
    """Draw score over time of a query; return pictures in PNG by file name.

    One panel for each benchmark whose searches were timed. The area of a dot grows
    with the index. The line joins the systems that no other beats in both respects.
    """
    scored = [s for s in report.scored if s.timed]
    if not scored:
        return {}
    return {f"cost{end}.png": _draw(scored, look) for end, look in LOOKS.items()}


def find_front(places: Mapping[str, tuple[float, float]]) -> list[str]:
    """Return the systems that no other beats in time and score, the fastest first.

    >>> find_front({"a": (1, 0.5), "b": (2, 0.4), "c": (3, 0.7)})
    ['a', 'c']
    """
    front: list[str] = []
    for name, (_, score) in sorted(places.items(), key=lambda p: (p[1][0], -p[1][1])):
        if not front or score > places[front[-1]][1]:
            front.append(name)
    return front


def _draw(scored: list[BenchmarkScores], look: Mapping[str, str]) -> bytes:
    columns = min(_COLUMNS, len(scored))
    lines = -(-len(scored) // columns)
    width, height = _PANEL
    page = Figure(
        figsize=(width * columns, height * lines + 0.3),
        layout="constrained",
        dpi=120,
        facecolor=look["paper"],
    )
    for place, axes in enumerate(page.subplots(lines, columns, squeeze=False).flat):
        if place < len(scored):
            _draw_panel(axes, scored[place], look)
        else:
            axes.set_visible(False)
    page.supxlabel(
        "area of a dot: size of the index; line: systems that no other beats",
        fontsize=8,
        color=look["muted"],
    )
    file = io.BytesIO()
    FigureCanvasAgg(page).print_png(file)
    return file.getvalue()


def _draw_panel(axes: Axes, scores: BenchmarkScores, look: Mapping[str, str]) -> None:
    measure = scores.measures[0]
    places = {
        row: (float(scores.costs[row]["milliseconds"]), scores.mean(row, measure))
        for row in scores.timed
    }
    sizes = {row: float(scores.costs[row].get("index_megabytes", 0)) for row in places}
    largest = max(sizes.values()) or 1.0
    for row, (time, score) in places.items():
        colour = look["reference"] if row == scores.reference else look["ours"]
        area = _SMALLEST + (_LARGEST - _SMALLEST) * sizes[row] / largest
        axes.scatter([time], [score], s=area, color=colour, alpha=0.75, linewidths=0)
        axes.annotate(
            row, (time, score), (6, 4), textcoords="offset points", fontsize=7,
            color=look["ink"], parse_math=False,
        )  # fmt: skip
    front = [places[row] for row in find_front(places)]
    axes.plot(*zip(*front, strict=True), color=look["muted"], linewidth=1, zorder=0)
    axes.set_xscale("log")
    axes.margins(x=0.2, y=0.12)
    axes.set_title(
        scores.benchmark.title, fontsize=10, color=look["ink"], loc="left",
        parse_math=False,
    )  # fmt: skip
    axes.set_xlabel("ms/query", fontsize=8, color=look["ink"])
    axes.set_ylabel(measure, fontsize=8, color=look["ink"], parse_math=False)
    style_axes(axes, look)
