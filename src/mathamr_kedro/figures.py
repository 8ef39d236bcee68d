"""How figures look, and figures as pictures that a Markdown page can show.

Figures are made with Plotly, so that Kedro-Viz shows them with zoom and hints. Plotly
needs a browser to make a picture; here, matplotlib draws what our figures consist of:
bars, lines and points in panels one below the other, and straight lines with a label.
"""

from __future__ import annotations

import io
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import plotly.graph_objects as go
    from matplotlib.axes import Axes

_GRID = "#e6e6e6"
_FAINT, _MIDDLE = "rgba(128, 128, 128, 0.25)", "#888888"
"""Of grids and axes in Plotly: they are seen on white and on black. Kedro-Viz turns
the background dark, and the colours of the first panel's axes alone."""
_COLOURS = ("#3b6ea8", "#e0a458", "#5a9a5a", "#c8553d", "#7d6aa8", "#888888")
_DASHES = {"dot": ":", "dash": "--", "dashdot": "-."}
_PANEL_INCHES = (9.0, 3.4)
_LONG_LABELS = 60
"""Letters of all categories together that still fit side by side."""
_MANY_LABELS = 110
"""Categories of an axis that can still be read; of more, none is written."""
_BARS = 0.8
"""Share of a category that its bars fill."""


def style_figure(figure: go.Figure) -> go.Figure:
    """Give a finished figure the look of all: plain, with a faint grid across."""
    figure.update_layout(template="simple_white", colorway=_COLOURS)
    axes = {"linecolor": _MIDDLE, "tickcolor": _MIDDLE, "zeroline": False}
    figure.update_yaxes(showgrid=True, gridcolor=_FAINT, griddash="solid", **axes)
    figure.update_xaxes(showgrid=False, **axes)
    # The template draws shapes without their lines.
    return figure.update_shapes(opacity=1, line_width=1.5)


def write_png(figure: go.Figure) -> bytes:
    """Return a figure as a picture in PNG."""
    # Loaded here: matplotlib takes half a second of every command.
    from matplotlib.backends.backend_agg import FigureCanvasAgg  # noqa: PLC0415
    from matplotlib.figure import Figure  # noqa: PLC0415

    content = figure.to_plotly_json()
    layout, traces = content["layout"], content["data"]
    panels = list(_list_panels(layout))
    width, height = _PANEL_INCHES
    page = Figure(figsize=(width, height * len(panels)), layout="constrained", dpi=110)
    rows = page.subplots(len(panels), squeeze=False)
    titles = [a["text"] for a in layout.get("annotations", ()) if _is_title(a)]
    for number, (panel, (axes,)) in enumerate(zip(panels, rows, strict=True)):
        _Panel(layout, panel, axes).draw(traces)
        if titles:
            axes.set_title(titles[number], parse_math=False)
    named = [axes.get_legend_handles_labels() for axes in page.axes]
    entries = {n: h for found in named for h, n in zip(*found, strict=True)}
    if len(entries) > 1 and layout.get("showlegend") is not False:
        page.legend(
            list(entries.values()),
            list(entries),
            loc="outside lower center",
            ncols=4,
            fontsize=8,
            frameon=False,
        )
    title = page.suptitle((layout.get("title") or {}).get("text") or "")
    title.set_parse_math(False)
    file = io.BytesIO()
    FigureCanvasAgg(page).print_png(file)
    return file.getvalue()


def _list_panels(layout: dict[str, Any]) -> Iterator[str]:
    """Yield the numbers of the axes that make a panel, from top to bottom."""
    numbers = [key[5:] for key in layout if key.startswith("yaxis")]
    own = [n for n in numbers if not layout[f"yaxis{n}"].get("overlaying")] or [""]
    whole = [0.0, 1.0]
    tops = {n: layout.get(f"yaxis{n}", {}).get("domain", whole)[1] for n in own}
    yield from sorted(own, key=lambda n: -tops[n])


def _is_title(annotation: dict[str, Any]) -> bool:
    return annotation.get("yref", "paper") == "paper"


class _Panel:
    """The axes of one panel, and what is drawn on them."""

    def __init__(self, layout: dict[str, Any], number: str, axes: Axes) -> None:
        self._layout, self._number, self._axes = layout, number, axes
        self._x = layout.get(f"xaxis{number}", {})
        self._y = layout.get(f"yaxis{number}", {})
        self._positions: dict[Any, int] = {}

    def draw(self, traces: Sequence[dict[str, Any]]) -> None:
        sides = self._list_sides()
        own = [t for t in traces if t.get("yaxis", "y") in sides]
        self._number_categories(own)
        bars = [t for t in own if t["type"] == "bar"]
        for place, trace in enumerate(bars):
            self._draw_bars(trace, place, bars)
        for place, trace in enumerate(t for t in own if t["type"] != "bar"):
            axes = self._axes
            if trace.get("yaxis", "y") != sides[0]:
                axes = self._find_twin(trace["yaxis"])
            self._draw_scatter(axes, trace, _COLOURS[place % len(_COLOURS)])
        if own and all(isinstance(x, int) for t in own for x in self._place(t)):
            self._axes.locator_params(axis="x", integer=True)
        self._draw_lines()
        self._finish()

    def _list_sides(self) -> list[str]:
        """Return this panel's axis and those that lie over it."""
        own = f"y{self._number}"
        over = [
            f"y{key[5:]}"
            for key, axis in self._layout.items()
            if key.startswith("yaxis") and axis.get("overlaying") == own
        ]
        return [own, *over]

    def _find_twin(self, name: str) -> Axes:
        """Return the axes on the right, made when they are first drawn on."""
        for axes in self._axes.figure.axes:
            if axes.get_label() == name:
                return axes
        axes = self._axes.twinx()
        axes.set_label(name)
        settings = self._layout[f"yaxis{name[1:]}"]
        axes.set_ylabel(_title(settings))
        if settings.get("range"):
            axes.set_ylim(*settings["range"])
        return axes

    def _number_categories(self, traces: Sequence[dict[str, Any]]) -> None:
        names = list(self._x.get("categoryarray") or ())
        names += [x for trace in traces for x in _list(trace.get("x"))]
        is_category = self._x.get("type") == "category"
        if is_category or any(isinstance(name, str) for name in names):
            self._positions = {n: i for i, n in enumerate(dict.fromkeys(names))}

    def _place(self, trace: dict[str, Any]) -> list[Any]:
        found = _list(trace.get("x")) or list(range(len(_list(trace.get("y")))))
        return [self._positions[x] for x in found] if self._positions else found

    def _draw_bars(
        self, trace: dict[str, Any], place: int, bars: Sequence[dict[str, Any]]
    ) -> None:
        stacked = self._layout.get("barmode") == "stack"
        width = _BARS if stacked else _BARS / len(bars)
        shift = 0.0 if stacked else (place - (len(bars) - 1) / 2) * width
        below: defaultdict[Any, float] = defaultdict(float)
        for before in bars[:place] if stacked else ():
            for x, y in zip(self._place(before), _list(before["y"]), strict=True):
                below[x] += y
        places = self._place(trace)
        colour = (trace.get("marker") or {}).get("color")
        self._axes.bar(
            [x + shift for x in places],
            _list(trace["y"]),
            width,
            bottom=[below[x] for x in places],
            color=colour or _COLOURS[place % len(_COLOURS)],
            label=trace.get("name"),
        )

    def _draw_scatter(self, axes: Axes, trace: dict[str, Any], colour: str) -> None:
        line, mode = trace.get("line") or {}, trace.get("mode", "lines+markers")
        style = _DASHES.get(line.get("dash", ""), "-") if "lines" in mode else ""
        own = line.get("color") or (trace.get("marker") or {}).get("color")
        axes.plot(
            self._place(trace),
            [float("nan") if y is None else y for y in _list(trace.get("y"))],
            linestyle=style or "none",
            marker="o" if "markers" in mode else "",
            markersize=4 if style else 7,
            color=own or colour,
            label=trace.get("name"),
        )

    def _draw_lines(self) -> None:
        """Draw lines across the panel, each label at its end and outside."""
        # Loaded here, as all of matplotlib.
        from matplotlib.patheffects import withStroke  # noqa: PLC0415

        here = (f"x{self._number}", f"y{self._number}")
        # Over a bar of its own colour, a line is seen by its white seam.
        seam = [withStroke(linewidth=3, foreground="white")]
        for shape in self._layout.get("shapes", ()):
            line = shape.get("line", {})
            look = {"color": line.get("color"), "linewidth": 1.2,
                    "linestyle": _DASHES.get(line.get("dash", ""), "-")}  # fmt: skip
            if shape.get("yref") == here[1] and shape["y0"] == shape["y1"]:
                self._axes.axhline(shape["y0"], **look, path_effects=seam)
            elif shape.get("xref") == here[0] and shape["x0"] == shape["x1"]:
                self._axes.axvline(shape["x0"], **look)
        for note in self._layout.get("annotations", ()):
            if note.get("yref") == here[1]:
                where = (1.0, note["y"])
                self._axes.annotate(
                    note["text"], where, (4, 0), fontsize=8, va="center",
                    xycoords=("axes fraction", "data"), textcoords="offset points",
                    color=(note.get("font") or {}).get("color"), parse_math=False,
                    annotation_clip=False,
                )  # fmt: skip

    def _finish(self) -> None:
        axes = self._axes
        axes.set_axisbelow(True)
        axes.grid(axis="y", color=_GRID)
        axes.spines[["top", "right"]].set_visible(False)
        axes.set_xlabel(_title(self._x), parse_math=False)
        axes.set_ylabel(_title(self._y), parse_math=False)
        if self._x.get("type") == "log":
            axes.set_xscale("log")
        if str(self._y.get("tickformat", "")).endswith("%"):
            axes.yaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
        if self._y.get("range"):
            axes.set_ylim(*self._y["range"])
        self._write_categories()

    def _write_categories(self) -> None:
        if not self._positions:
            return
        names = [str(name) for name in self._positions]
        if len(names) > _MANY_LABELS:
            self._axes.set_xticks([])
            return
        is_long = sum(map(len, names)) > _LONG_LABELS
        self._axes.set_xticks(
            range(len(names)), names, rotation=90 if is_long else 0, fontsize=8,
            parse_math=False,
        )  # fmt: skip


def _title(axis: dict[str, Any]) -> str:
    return (axis.get("title") or {}).get("text") or ""


def _list(values: Any) -> list[Any]:
    return [] if values is None else list(values)
