"""Similarity matrices, matches, pictures."""

from __future__ import annotations

from html.parser import HTMLParser

import numpy as np
import pytest

from mathamr_kedro.search.explanation import (
    draw_heatmap,
    explain,
    save_heatmap,
    write_html,
)
from mathamr_kedro.search.post_vectors import PostEntry, PostVectors

from .conftest import draw_post, draw_query, slow_maxsim

QUERY = PostEntry(
    "A.301", "topic", np.eye(4, dtype="f4")[[0, 1, 3]], [0, 1, 2], [0, 0, 0], ["q_1"],
    ["9"],
)  # fmt: skip
POST = PostEntry(
    "17", "answer",
    np.array([[0.6, 0.8, 0, 0], [0, 1, 0, 0], [0, 0, 0.6, 0.8]], dtype="f4"),
    [0, 1, 2], [2, 1, 0], ["55"], ["7"],
)  # fmt: skip
CAPTIONS = {(0, 0): r"\sqrt{2} $ <b>", (1, 0): "Why?"}


def test_matches_are_the_best_partners():
    explanation = explain(QUERY, POST, CAPTIONS, {(1, 1): "x  is\neven"})
    assert explanation.query_labels == (r"F0 \sqrt{2} $ <b>", "S0 Why?", "D")
    assert explanation.post_labels == ("F2", "S1 x is even", "D")
    found = [(q[:2], p[:2], round(s, 6)) for q, p, s in explanation.matches()]
    assert found == [("S0", "S1", 1.0), ("D", "D", 0.8), ("F0", "F2", 0.6)]
    assert explanation.score == pytest.approx((0.6 + 1.0 + 0.8) / 3)


def test_score_is_maxsim():
    post = PostVectors.of([draw_post(np.random.default_rng(3), 5)]).entry(0)
    query = draw_query(1)
    score = explain(query, post).score
    assert score == pytest.approx(slow_maxsim(query.vectors, post.vectors), abs=1e-12)


def test_heatmap_frames_one_cell_of_each_row(tmp_path):
    explanation = explain(QUERY, POST, CAPTIONS)
    axes = draw_heatmap(explanation).axes[0]
    frames = {(round(p.get_y() + 0.5), round(p.get_x() + 0.5)) for p in axes.patches}
    assert frames == {(0, 0), (1, 1), (2, 2)}
    assert [t.get_text() for t in axes.get_yticklabels()][1:] == ["S0 Why?", "D"]
    path = tmp_path / "heatmap.png"
    save_heatmap(explanation, path)
    assert path.read_bytes().startswith(b"\x89PNG")


def test_large_heatmap_leaves_out_the_numbers():
    rng = np.random.default_rng(0)
    query, post = (draw_post(rng, 1, formulas=30, sentences=10) for _ in range(2))
    axes = draw_heatmap(explain(query, post)).axes[0]
    assert len(axes.texts) == 0


class _Cells(HTMLParser):
    def __init__(self):
        super().__init__()
        self.best, self.cells, self.tags = 0, 0, set()

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.cells += tag == "td"
        self.best += dict(attrs).get("class") == "best"


def test_page_has_a_cell_for_each_pair_and_no_foreign_markup():
    page = write_html(explain(QUERY, POST, CAPTIONS))
    found = _Cells()
    found.feed(page)
    assert (found.cells, found.best) == (9, 3)
    assert "script" not in found.tags
    assert r"\sqrt{2} $ &lt;b&gt;" in page
    assert "0.80" in page


def test_example_of_the_page_on_retrieval():
    def at(key, kinds, *degrees):
        angles = np.radians(degrees)
        vectors = np.stack([np.cos(angles), np.sin(angles)], axis=1)
        return PostEntry(key, "answer", vectors, kinds, [0] * len(kinds))

    query = at("q", [0, 1, 2], 0, 90, 45)
    first, second = at("1", [0, 1, 2], 0, 90, 180), at("2", [1, 2], 45, 45)
    assert round(explain(query, first).score, 2) == 0.90
    assert round(explain(query, second).score, 2) == 0.80
    assert round(float(query.document() @ first.document()), 2) == -0.71
    assert round(float(query.document() @ second.document()), 2) == 1.0


def test_a_query_that_is_no_formula_of_matplotlib_is_drawn(tmp_path):
    odd = explain(QUERY._replace(key=r"is $\frac{a$ even"), POST)
    save_heatmap(odd, tmp_path / "odd.png")
    assert (tmp_path / "odd.png").read_bytes().startswith(b"\x89PNG")
