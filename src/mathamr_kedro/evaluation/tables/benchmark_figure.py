"""Systems by benchmark as dots with intervals, and by the time of a query.

Matplotlib is loaded here.
"""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Mapping, Sequence

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.ticker import LogLocator, NullFormatter

from mathamr_kedro.evaluation.stats import Comparison
from mathamr_kedro.evaluation.tables.benchmark import BenchmarkReport, CollectionScores

_LOOKS = {
    "": {
        "paper": "#ffffff", "ink": "#1f2328", "faint": "#d8dee4", "muted": "#6e7781",
        "ours": "#3b6ea8", "reference": "#c8553d",
    },
    "_dark": {
        "paper": "#0d1117", "ink": "#e6edf3", "faint": "#30363d", "muted": "#9198a1",
        "ours": "#79b8ff", "reference": "#f0883e",
    },
}  # fmt: skip
"""Colours by the ending of a file's name: on a white page, on a dark one."""

_COLUMNS = 2
_PANEL_WIDTH = 6.2
_ROW_HEIGHT = 0.24
_PANEL_FRAME = 0.95
"""Inches of a panel's title and axis."""
_COST_HEIGHT = 3.6
_CAPTION = 0.5
"""Inches of the line below the panels."""
_INNER = (290.0, 150.0)
"""Points between the first and the last dot of a panel, about."""
_LETTER, _LINE = 4.0, 9.0
"""Points of a letter, and between two lines."""
_SMALLEST, _LARGEST = 18.0, 260.0
"""Areas of dots, in square points, for no index and for the largest one."""


def draw_benchmarks(report: BenchmarkReport) -> dict[str, bytes]:
    """Draw a panel for each collection; return pictures in PNG by file name.

    A dot is the mean of the first measure; filled if it differs significantly from
    the reference. Its line is the interval of the paired difference, drawn around the
    score of the reference: if it misses the reference, the systems differ.
    """

    def draw(axes: Axes, scores: CollectionScores, look: Mapping[str, str]) -> None:
        _draw_panel(axes, scores, report.comparisons[scores.benchmark.name], look)

    heights = [_PANEL_FRAME + _ROW_HEIGHT * len(s.systems) for s in report.scored]
    caption = (
        f"line: {100 * report.tests.confidence:g} % interval of the paired difference, "
        "around the reference; filled: differs significantly"
    )
    return _draw_pages("figure", report.scored, heights, caption, draw)


def _draw_pages(
    name: str,
    scored: Sequence[CollectionScores],
    heights: Sequence[float],
    caption: str,
    draw: Callable[[Axes, CollectionScores, Mapping[str, str]], None],
) -> dict[str, bytes]:
    """Draw a panel for each collection, two in a row, on a white and a dark page."""
    columns = min(_COLUMNS, max(len(scored), 1))
    rows = [max(heights[i : i + columns]) for i in range(0, len(scored), columns)]
    pictures = {}
    for end, look in _LOOKS.items():
        page = Figure(
            figsize=(_PANEL_WIDTH * columns, sum(rows) + _CAPTION),
            layout=ConstrainedLayoutEngine(w_pad=0.12, h_pad=0.08),
            dpi=120,
            facecolor=look["paper"],
        )
        grid = page.subplots(
            len(rows), columns, squeeze=False, gridspec_kw={"height_ratios": rows}
        )
        for place, axes in enumerate(grid.flat):
            if place < len(scored):
                draw(axes, scored[place], look)
            else:
                axes.set_visible(False)
        page.supxlabel(caption, fontsize=8, color=look["muted"])
        file = io.BytesIO()
        FigureCanvasAgg(page).print_png(file)
        pictures[f"{name}{end}.png"] = file.getvalue()
    return pictures


def _draw_panel(
    axes: Axes,
    scores: CollectionScores,
    tests: list[Comparison],
    look: Mapping[str, str],
) -> None:
    measure = scores.benchmark.measures[0]
    rows = sorted(scores.systems, key=lambda row: scores.mean(row, measure))
    found = {t.condition: t for t in tests if t.measure == measure}
    for place, row in enumerate(rows):
        mean = scores.mean(row, measure)
        is_reference = row == scores.reference
        colour = look["reference"] if is_reference else look["ours"]
        test = found.get(row)
        if test is not None:
            ends = [test.baseline_mean + end for end in test.interval]
            axes.plot(ends, [place] * 2, color=colour, linewidth=1.6, alpha=0.8)
        is_filled = is_reference or (test is not None and test.significant)
        axes.plot(
            [mean], [place], marker="o", markersize=6, color=colour,
            markerfacecolor=colour if is_filled else look["paper"], linestyle="none",
        )  # fmt: skip
        if is_reference:
            axes.axvline(mean, color=colour, linewidth=1, linestyle="--", zorder=0)
    floor = scores.scored.floors[measure]
    axes.axvline(floor, color=look["muted"], linewidth=1, linestyle=":", zorder=0)
    axes.annotate(
        "floor", (floor, 1), (0, 2), xycoords=("data", "axes fraction"), fontsize=7,
        textcoords="offset points", ha="center", color=look["muted"],
    )  # fmt: skip
    axes.set_yticks(range(len(rows)), rows, fontsize=8, parse_math=False)
    axes.set_ylim(-0.6, len(rows) - 0.4)
    axes.set_title(
        f"{scores.benchmark.title} ({scores.num_topics:,} queries)", fontsize=10,
        color=look["ink"], parse_math=False, loc="left", pad=14,
    )  # fmt: skip
    axes.set_xlabel(measure, fontsize=8, color=look["ink"], parse_math=False)
    axes.locator_params(axis="x", nbins=6)
    _style(axes, look)


def _style(axes: Axes, look: Mapping[str, str]) -> None:
    """Draw axes in the colours of a page."""
    axes.set_facecolor(look["paper"])
    axes.set_axisbelow(True)
    axes.grid(axis="x", color=look["faint"], linewidth=0.7)
    axes.tick_params(colors=look["ink"], labelsize=8, length=0)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.spines["bottom"].set_color(look["faint"])


def draw_costs(report: BenchmarkReport) -> dict[str, bytes]:
    """Draw score over time of a query; return pictures in PNG by file name.

    One panel for the means over sets, then one for each collection whose searches were
    timed. The area of a dot grows
    with the index. The line joins the systems that no other beats in both respects.
    """
    scored = [s for s in (*report.averages, *report.scored) if s.timed]
    if not scored:
        return {}
    caption = (
        "area of a dot: size of the index; line: systems that no other beats; "
        "without a name: variants of a system, and dots beside others"
    )
    heights = [_COST_HEIGHT] * len(scored)
    return _draw_pages("cost", scored, heights, caption, _draw_cost_panel)


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


def _draw_cost_panel(
    axes: Axes, scores: CollectionScores, look: Mapping[str, str]
) -> None:
    measure = scores.benchmark.measures[0]
    places = {
        row: (scores.mean(row, "milliseconds"), scores.mean(row, measure))
        for row in scores.timed
    }
    sizes = {r: scores.systems[r].figures.get("index_megabytes", 0.0) for r in places}
    largest = max(sizes.values()) or 1.0
    for row, (time, score) in places.items():
        colour = look["reference"] if row == scores.reference else look["ours"]
        area = _SMALLEST + (_LARGEST - _SMALLEST) * sizes[row] / largest
        axes.scatter([time], [score], s=area, color=colour, alpha=0.75, linewidths=0)
    front = find_front(places)
    ends = [places[row] for row in front]
    axes.plot(*zip(*ends, strict=True), color=look["muted"], linewidth=1, zorder=0)
    _name_dots(axes, places, front, look)
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axes.xaxis.set_major_formatter("{x:g}")
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.margins(x=0.2, y=0.12)
    axes.set_title(
        scores.benchmark.title, fontsize=10, color=look["ink"], loc="left",
        parse_math=False,
    )  # fmt: skip
    axes.set_xlabel("ms/query", fontsize=8, color=look["ink"])
    axes.set_ylabel(measure, fontsize=8, color=look["ink"], parse_math=False)
    _style(axes, look)


def _name_dots(
    axes: Axes,
    places: Mapping[str, tuple[float, float]],
    front: Sequence[str],
    look: Mapping[str, str],
) -> None:
    """Write names beside the dots, towards the middle of the panel.

    Where two would meet, that of a system on the line stands, or of the better one.
    Variants (``ssemb/text`` beside ``ssemb``) are close together: of them only those
    that no other system beats have a name.
    """
    fastest, slowest = (f(t for t, _ in places.values()) for f in (min, max))
    lowest, highest = (f(s for _, s in places.values()) for f in (min, max))
    middle = (fastest * slowest) ** 0.5  # of a logarithmic axis
    wide, high = math.log(slowest / fastest) or 1.0, (highest - lowest) or 1.0
    taken: list[tuple[float, float, float]] = []
    for row in sorted(places, key=lambda r: (r not in front, -places[r][1])):
        system, _, variant = row.partition("/")
        if variant and system in places and row not in front:
            continue
        (time, score), width = places[row], _LETTER * len(row)
        is_left = time < middle
        x = math.log(time / fastest) / wide * _INNER[0] - (0 if is_left else width)
        y = (score - lowest) / high * _INNER[1]
        if any(
            x < right and left < x + width and abs(y - other) < _LINE
            for left, right, other in taken
        ):
            continue
        taken.append((x, x + width, y))
        axes.annotate(
            row, (time, score), (6 if is_left else -6, 4), textcoords="offset points",
            fontsize=7, color=look["ink"], parse_math=False,
            ha="left" if is_left else "right",
        )  # fmt: skip
