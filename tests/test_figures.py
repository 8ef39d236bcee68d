"""Figures as pictures: what was drawn, where it stands."""

from __future__ import annotations

import io

import matplotlib.image
import numpy as np
import plotly.graph_objects as go
import pytest
from plotly.subplots import make_subplots

from mathamr_kedro.figures import _COLOURS, style_figure, write_png


def read(figure: go.Figure) -> np.ndarray:
    """Return the picture as 8-bit colours."""
    pixels = matplotlib.image.imread(io.BytesIO(write_png(figure)))
    return (pixels[..., :3] * 255).round().astype(int)


def count(picture: np.ndarray, colour: str, apart: int = 60) -> int:
    """Return how many pixels have a colour, or one no farther apart."""
    wanted = [int(colour[i : i + 2], 16) for i in (1, 3, 5)]
    return int((abs(picture - wanted).max(axis=-1) <= apart).sum())


def test_bars_are_drawn_in_their_colour_and_height():
    bars = go.Bar(x=["a", "b"], y=[1, 3], marker_color="#3b6ea8")
    low = read(go.Figure(bars, layout={"yaxis": {"range": [0, 8]}}))
    high = read(go.Figure(bars, layout={"yaxis": {"range": [0, 4]}}))
    assert count(high, "#3b6ea8") == pytest.approx(2 * count(low, "#3b6ea8"), rel=0.02)


def test_bars_without_a_colour_get_those_of_the_project_in_turn():
    bars = [go.Bar(x=["a"], y=[1], name=str(n)) for n in range(len(_COLOURS) + 1)]
    picture = read(style_figure(go.Figure(bars)))
    areas = [count(picture, colour, apart=0) for colour in _COLOURS]
    assert areas[0] > 1.8 * areas[1] > 0  # the first again for the last
    assert all(area > 0.9 * areas[1] for area in areas)


def test_stacked_bars_stand_on_each_other():
    bars = [
        go.Bar(x=["a"], y=[1], name="one", marker_color="#ff0000"),
        go.Bar(x=["a", "b"], y=[1, 2], name="two", marker_color="#0000ff"),
    ]
    picture = read(
        go.Figure(bars, layout={"barmode": "stack", "yaxis": {"range": [0, 4]}})
    )
    red = np.argwhere((picture == [255, 0, 0]).all(axis=-1))
    column = picture[:, np.bincount(red[:, 1]).argmax()]
    upper = np.flatnonzero((column == [0, 0, 255]).all(axis=-1))
    lower = np.flatnonzero((column == [255, 0, 0]).all(axis=-1))
    assert 0 < lower.min() - upper.max() <= 2


def test_every_panel_is_drawn_and_labels_stand_beside_it():
    figure = make_subplots(rows=2, cols=1, subplot_titles=["one", "two"])
    for row, colour in ((1, "#ff0000"), (2, "#00ff00")):
        figure.add_bar(x=["a"], y=[0.5], marker_color=colour, row=row, col=1)
        note = {"text": "floor $x", "x": 1, "font": {"color": "#0000ff"}}
        line = {"color": "#222222", "dash": "dot"}
        figure.add_hline(y=0.2, line=line, annotation=note, row=row, col=1)
    picture = read(style_figure(figure))
    red, green = (
        np.argwhere((picture == c).all(axis=-1)) for c in ([255, 0, 0], [0, 255, 0])
    )
    assert red[:, 0].max() < green[:, 0].min()
    blue = np.argwhere((picture[..., 2] > 200) & (picture[..., 0] < 60))
    assert len(blue) and blue[:, 1].min() > red[:, 1].max()


def test_lines_points_logarithms_gaps_and_a_second_axis_are_drawn():
    figure = go.Figure(
        [
            go.Scatter(x=[1, 10, 100], y=[0.1, None, 0.9], line={"color": "#ff0000"}),
            go.Scatter(x=[1, 100], y=[2, 1], yaxis="y2", mode="markers",
                       marker={"color": "#0000ff"}),
        ],
        layout={
            "xaxis": {"type": "log"},
            "yaxis": {"tickformat": ".0%"},
            "yaxis2": {"overlaying": "y", "side": "right", "title": {"text": "$right"}},
        },
    )  # fmt: skip
    figure.add_vline(x=10, line={"color": "#00ff00"})
    picture = read(style_figure(figure))
    assert all(count(picture, colour) for colour in ("#ff0000", "#0000ff", "#00ff00"))


@pytest.mark.parametrize("figure", [go.Figure(), go.Figure(go.Bar(x=[], y=[]))])
def test_a_figure_without_data_is_an_empty_picture(figure):
    assert write_png(figure).startswith(b"\x89PNG")


def test_lines_across_are_seen():
    figure = go.Figure(go.Bar(x=["a"], y=[1]))
    figure.add_hline(y=0.5)
    (line,) = style_figure(figure).layout.shapes  # simple_white gives them no width
    assert (line.opacity, line.line.width) == (1, 1.5)


def test_line_is_seen_over_a_bar_of_its_colour():
    colour = "#3b6ea8"
    figure = go.Figure(go.Bar(x=["a"], y=[1.0], marker_color=colour))
    figure.add_hline(y=0.5, line={"color": colour, "dash": "dot"})
    picture = read(style_figure(figure))
    bar = np.argwhere((picture == [0x3B, 0x6E, 0xA8]).all(axis=-1))
    middle = picture[bar[:, 0].min() : bar[:, 0].max(), int(np.median(bar[:, 1]))]
    assert (middle.min(axis=-1) > 200).any()


def test_axes_of_all_panels_are_seen_on_white_and_on_black():
    """Kedro-Viz changes the colours of the first panel alone."""
    figure = make_subplots(rows=2, cols=1)
    for row in (1, 2):
        figure.add_bar(x=["a"], y=[1], row=row, col=1)
    layout = style_figure(figure).to_plotly_json()["layout"]
    for name in ("yaxis", "yaxis2", "xaxis", "xaxis2"):
        assert layout[name]["linecolor"] == layout[name]["tickcolor"] == "#888888"
    for name in ("yaxis", "yaxis2"):
        assert layout[name]["showgrid"]
        assert layout[name]["gridcolor"] == "rgba(128, 128, 128, 0.25)"


def draw_titles(**layout):
    bars = go.Bar(x=["a", "b"], y=[1, 3])
    return read(go.Figure(bars, layout=layout))


@pytest.mark.parametrize(
    "layout",
    [
        {"title": {"text": "a $_{$ b"}},
        {"xaxis": {"title": {"text": "a $_{$ b"}}},
        {"yaxis": {"title": {"text": "a $_{$ b"}}},
    ],
)
def test_titles_are_drawn_and_dollars_in_them_are_dollars(layout):
    assert not np.array_equal(draw_titles(**layout), draw_titles())
