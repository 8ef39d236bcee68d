"""How figures look, and what several of them draw alike."""

from __future__ import annotations

import pytest

from mathamr_kedro.figures import (
    COLOURS,
    add_legend,
    draw_bars,
    make_figure,
    write_names,
    write_png,
)


def list_bars(axes):
    """Left edge, foot and head of each bar."""
    found = [(b.get_x(), b.get_y(), b.get_y() + b.get_height()) for b in axes.patches]
    return [tuple(round(value, 6) for value in bar) for bar in found]


def test_panels_stand_below_one_another():
    figure, panels = make_figure("Scores of $x", 2)
    assert (
        len(panels) == 2 and panels[0].get_position().y0 > panels[1].get_position().y0
    )
    assert write_png(figure).startswith(b"\x89PNG")  # a lone dollar is a letter


def test_bars_stand_side_by_side():
    _, (axes,) = make_figure("")
    draw_bars(axes, ["a", "b"], {"one": [1, 2], "two": [3, 4]})
    assert list_bars(axes) == [(-0.4, 0, 1), (0.6, 0, 2), (0, 0, 3), (1, 0, 4)]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["a", "b"]


def test_bars_stand_upon_one_another():
    _, (axes,) = make_figure("")
    series = {"one": [1, 2], "two": [3, 4]}
    draw_bars(axes, ["a", "b"], series, colours=["red"], is_stacked=True)
    assert list_bars(axes) == [(-0.4, 0, 1), (0.6, 0, 2), (-0.4, 1, 4), (0.6, 2, 6)]


def test_nothing_to_draw_is_an_empty_panel():
    figure, (axes,) = make_figure("")
    draw_bars(axes, [], {})
    add_legend(figure)
    assert not axes.patches and not figure.legends


@pytest.mark.parametrize(
    ("names", "turn"), [(["a", "b"], 0), (["a long name of a system"] * 3, 90)]
)
def test_long_names_are_turned(names, turn):
    _, (axes,) = make_figure("")
    write_names(axes, names)
    assert axes.get_xticklabels()[0].get_rotation() == turn


def test_too_many_names_are_left_out():
    _, (axes,) = make_figure("")
    write_names(axes, ["topic"] * 111)
    assert len(axes.get_xticks()) == 0


def test_a_legend_names_each_series_of_all_panels_once():
    figure, panels = make_figure("", 2)
    for axes in panels:
        draw_bars(axes, ["a"], {"nDCG": [1.0], "MAP": [0.5]})
    add_legend(figure)
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["nDCG", "MAP"]


def test_one_series_needs_no_legend():
    figure, (axes,) = make_figure("")
    draw_bars(axes, ["a"], {"posts": [1]})
    add_legend(figure)
    assert not figure.legends


def test_lines_take_the_colours_in_turn():
    _, (axes,) = make_figure("")
    lines = [axes.plot([0, 1], [0, 1])[0] for _ in COLOURS]
    assert [line.get_color() for line in lines] == [*COLOURS]
