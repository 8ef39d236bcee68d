"""Pictures of explanations."""

from __future__ import annotations

import numpy as np

from mathamr_kedro.search.explanation import explain
from mathamr_kedro.search.heatmap import draw_panels, save_heatmap
from tests.vectors.conftest import draw_post

from .test_explanation import POST, QUERY, TEXT


def test_a_query_that_is_no_formula_of_matplotlib_is_drawn(tmp_path):
    odd = explain(QUERY._replace(key=r"is $\frac{a$ even"), POST)
    save_heatmap(odd, tmp_path / "odd.png")
    assert (tmp_path / "odd.png").read_bytes().startswith(b"\x89PNG")


def test_panels_share_one_scale_and_have_short_names():
    found = explain(QUERY, POST, TEXT)
    figure = draw_panels({"none": found, "full": found, "odd": found})
    *panels, _, bar = figure.axes
    assert [axes.get_title()[:8] for axes in panels] == [
        "(a) none",
        "(b) full",
        "(c) odd:",
    ]
    assert bar.get_ylabel() == "cosine"
    assert panels[0].get_xlabel() == f"post {found.post_key}"
    assert panels[0].get_ylabel() == f"topic {found.query_key}"
    assert not panels[0].xaxis.label.get_parse_math()
    assert not panels[0].yaxis.label.get_parse_math()
    assert {axes.images[0].get_clim() for axes in panels} == {(-1.0, 1.0)}
    assert [t.get_text() for t in panels[0].get_yticklabels()] == ["F0", "S1", "D"]
    patches = panels[0].patches
    frames = {(round(p.get_y() + 0.5), round(p.get_x() + 0.5)) for p in patches}
    assert frames == {(0, 0), (1, 1), (2, 2)}


def test_a_long_axis_shows_some_of_its_names():
    rng = np.random.default_rng(0)
    query, post = (draw_post(rng, 1, formulas=90, sentences=60) for _ in range(2))
    axes = draw_panels({"one": explain(query, post)}).axes[0]
    assert 20 < len(axes.get_xticks()) < 60


def test_nothing_to_compare_is_an_empty_figure():
    assert not draw_panels({}).axes[0].images
