"""Figures as pictures: what was drawn, where it stands."""

from __future__ import annotations

import io

import matplotlib.image
import numpy as np
import plotly.graph_objects as go
import pytest
from plotly.subplots import make_subplots

from mathamr_kedro.figures import _COLOURS, style_figure, write_png
from tests.drawn_pages import keep_pages


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


@pytest.fixture
def draw(monkeypatch):
    """Return the page of a figure with data and a layout."""
    pages = keep_pages(monkeypatch)

    def draw(data, shapes=(), **layout):
        write_png(go.Figure(data, layout={"shapes": shapes, **layout}))
        return pages.pop()

    return draw


def test_bars_of_a_category_stand_side_by_side(draw):
    (axes,) = draw(
        [go.Bar(x=["a", "b"], y=[1, 2], name="one"), go.Bar(x=["b"], y=[3], name="two")]
    ).axes
    bars = [(bar.get_center()[0], bar.get_width(), bar.get_y()) for bar in axes.patches]
    expected = [(-0.2, 0.4, 0), (0.8, 0.4, 0), (1.2, 0.4, 0)]
    assert bars == [pytest.approx(bar) for bar in expected]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["a", "b"]
    assert list(axes.get_xticks()) == [0, 1]


def test_lines_have_their_dashes_points_and_colours_in_turn(draw):
    (axes,) = draw(
        [
            go.Scatter(x=[1, 2], y=[1, None], name="plain"),
            go.Scatter(y=[5, 6], mode="lines", line={"dash": "dot"}),
            go.Scatter(y=[7], mode="markers", marker={"color": "#00ff00"}),
        ]
    ).axes
    plain, dotted, points = axes.lines
    assert (plain.get_linestyle(), plain.get_marker(), plain.get_markersize()) == (
        "-", "o", 4,
    )  # fmt: skip
    assert np.isnan(plain.get_ydata()[1])
    assert (dotted.get_linestyle(), dotted.get_marker()) == (":", "")
    assert list(dotted.get_xdata()) == [0, 1]
    assert (points.get_linestyle(), points.get_markersize()) == ("None", 7)
    colours = [line.get_color() for line in axes.lines]
    assert colours == [_COLOURS[0], _COLOURS[1], "#00ff00"]
    assert plain.get_label() == "plain"


def test_a_legend_names_what_is_drawn_unless_it_is_alone(draw):
    two = [go.Bar(x=["a"], y=[1], name="one"), go.Bar(x=["a"], y=[1], name="two")]
    (legend,) = draw(two).legends
    assert [text.get_text() for text in legend.get_texts()] == ["one", "two"]
    assert not legend.get_frame_on()
    assert draw(two[:1]).legends == []
    assert draw(two, showlegend=False).legends == []


def test_whole_numbers_have_no_ticks_between_them(draw):
    def has_parts(x):
        (axes,) = draw(go.Scatter(x=x, y=[1, 2, 3])).axes
        return any(tick % 1 for tick in axes.get_xticks())

    assert not has_parts([1, 2, 3])
    assert has_parts([1.0, 2.0, 3.5])


def test_axes_have_the_titles_range_and_scale_of_the_figure(draw):
    page = draw(
        go.Scatter(x=[1, 100], y=[0.1, 0.9]),
        title={"text": "all $"},
        xaxis={"type": "log", "title": {"text": "time"}},
        yaxis={"range": [0, 2], "tickformat": ".0%", "title": {"text": "score"}},
    )
    (axes,) = page.axes
    assert page.get_suptitle() == "all $"
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("time", "score")
    assert axes.get_xscale() == "log"
    assert axes.get_ylim() == (0, 2)
    assert axes.yaxis.get_major_formatter()(0.5, 0) == "50%"
    assert page.get_size_inches() == pytest.approx([9.0, 3.4])
    (plain,) = draw(go.Scatter(x=[1, 100], y=[0.1, 0.9])).axes
    assert plain.get_xscale() == "linear"
    assert plain.yaxis.get_major_formatter()(0.5, 0) != "50%"


def test_axes_have_a_grid_across_behind_the_bars(draw):
    (axes,) = draw(go.Bar(x=["a"], y=[1])).axes
    assert axes.get_axisbelow() is True
    assert axes.yaxis.get_gridlines()[0].get_visible()
    assert axes.yaxis.get_gridlines()[0].get_color() == "#e6e6e6"
    assert not axes.xaxis.get_gridlines()[0].get_visible()
    shown = {name for name, spine in axes.spines.items() if spine.get_visible()}
    assert shown == {"left", "bottom"}


def test_panels_stand_by_their_place_with_their_titles(draw):
    page = draw(
        [go.Bar(x=["a"], y=[1], yaxis="y"), go.Bar(x=["a"], y=[2], yaxis="y2")],
        yaxis={"domain": [0, 0.4]},
        yaxis2={"domain": [0.6, 1]},
        annotations=[{"text": "upper", "yref": "paper"}, {"text": "lower"}],
    )
    assert [axes.get_title() for axes in page.axes] == ["upper", "lower"]
    heights = [axes.patches[0].get_height() for axes in page.axes]
    assert heights == [2, 1]
    assert page.get_size_inches() == pytest.approx([9.0, 6.8])


def test_the_axis_on_the_right_has_its_title_and_range(draw):
    points = {"yaxis": "y2", "mode": "markers"}
    page = draw(
        [
            go.Scatter(x=[1], y=[2]),
            go.Scatter(x=[1], y=[30], **points),
            go.Scatter(x=[1], y=[40], **points),
        ],
        yaxis2={"overlaying": "y", "title": {"text": "right"}, "range": [0, 50]},
    )
    left, right = page.axes
    assert (right.get_ylabel(), right.get_ylim()) == ("right", (0, 50))
    assert (len(left.lines), len(right.lines)) == (1, 2)


def test_lines_across_and_down_have_labels_at_their_end(draw):
    line = {"color": "#ff0000", "dash": "dash"}
    shapes = [
        {"yref": "y", "y0": 2, "y1": 2, "line": line},
        {"xref": "x", "yref": "paper", "x0": 3, "x1": 3, "y0": 0, "y1": 1},
        {"yref": "y", "xref": "paper", "y0": 2, "y1": 4},  # no straight line
        {"yref": "y2", "y0": 5, "y1": 5},
    ]
    note = {"text": "$best", "yref": "y", "y": 2, "font": {"color": "#0000ff"}}
    page = draw(go.Bar(x=[1], y=[4]), shapes, annotations=[note])
    across, down = page.axes[0].lines
    assert list(across.get_ydata()) == [2, 2]
    assert (across.get_color(), across.get_linestyle()) == ("#ff0000", "--")
    assert (list(down.get_xdata()), down.get_linestyle()) == ([3, 3], "-")
    (label,) = page.axes[0].texts
    assert (label.get_text(), label.xy, label.xyann) == ("$best", (1.0, 2), (4, 0))
    assert label.get_color() == "#0000ff"
    assert page.axes[0].get_title() == ""


@pytest.mark.parametrize(
    ("names", "rotation", "written"),
    [
        ([f"{n:04}" for n in range(15)], 0, 15),
        ([f"{n:04}" for n in range(16)], 90, 16),
        ([f"{n:04}" for n in range(110)], 90, 110),
        ([f"{n:04}" for n in range(111)], 0, 0),
    ],
)
def test_long_names_of_categories_stand_upright_and_too_many_are_left_out(
    draw, names, rotation, written
):
    (axes,) = draw(go.Bar(x=names, y=[1] * len(names))).axes
    labels = axes.get_xticklabels()
    assert len(labels) == written
    assert all(label.get_rotation() == rotation for label in labels)


def test_categories_stand_in_the_order_of_the_axis(draw):
    order = {"type": "category", "categoryarray": [30, 10, 20]}
    (axes,) = draw(go.Bar(x=[10, 20], y=[1, 2]), xaxis=order).axes
    assert [label.get_text() for label in axes.get_xticklabels()] == ["30", "10", "20"]
    assert [bar.get_center()[0] for bar in axes.patches] == pytest.approx([1, 2])


def test_bars_over_numbers_are_stacked_too(draw):
    bars = [go.Bar(x=[1, 2], y=[1, 2]), go.Bar(x=[2, 3], y=[3, 4])]
    (axes,) = draw(bars, barmode="stack").axes
    found = [
        (bar.get_center()[0], bar.get_y(), bar.get_height()) for bar in axes.patches
    ]
    assert found == [(1, 0, 1), (2, 0, 2), (2, 2, 3), (3, 0, 4)]
    assert [bar.get_width() for bar in axes.patches] == pytest.approx([0.8] * 4)


def test_only_values_have_a_grid():
    layout = {"xaxis": {"title": "system"}, "yaxis": {"title": "nDCG'"}}
    styled = style_figure(go.Figure(go.Bar(x=["a"], y=[1]), layout=layout)).layout
    assert (styled.xaxis.showgrid, styled.yaxis.showgrid) == (False, True)
    assert (styled.xaxis.zeroline, styled.yaxis.zeroline) == (False, False)
