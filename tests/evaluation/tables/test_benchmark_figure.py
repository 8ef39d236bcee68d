"""Dots, intervals and names: their places on the page."""

from __future__ import annotations

from dataclasses import replace

import pytest
from matplotlib.colors import to_hex

from mathamr_kedro.evaluation.stats import TestConfig
from mathamr_kedro.evaluation.tables.benchmark import BenchmarkReport
from mathamr_kedro.evaluation.tables.benchmark_figure import draw_benchmarks, draw_costs
from tests.drawn_pages import keep_pages
from tests.evaluation.tables.collection_scores import BEST, WORST, make_scores

TESTS = TestConfig(num_samples=500, confidence=0.9)
SYSTEMS = {
    "ours": [BEST] * 4,
    "bm25": [WORST] * 4,
    "other": [BEST, WORST, WORST, WORST],
    "other/text": [BEST, BEST, WORST, WORST],
}
COSTS = {"ours": (40.0, 10.0), "bm25": (10.0, 5.0), "other": (20.0, 0.0)}
COSTS |= {"other/text": (90.0, 2.5)}
OURS, REFERENCE, MUTED = "#3b6ea8", "#c8553d", "#6e7781"


@pytest.fixture
def report() -> BenchmarkReport:
    costs = {
        row: {"milliseconds": time, "index_megabytes": size}
        for row, (time, size) in COSTS.items()
    }
    scores = [make_scores(name, costs, **SYSTEMS) for name in ("1", "2", "3")]
    return BenchmarkReport(scores, TESTS)


@pytest.fixture
def pages(monkeypatch):
    return keep_pages(monkeypatch)


def test_one_benchmark_has_the_page_alone(report, pages):
    draw_benchmarks(replace(report, scored=report.scored[:1]))
    assert len(pages[0].axes) == 1
    assert pages[0].get_size_inches()[0] == pytest.approx(6.2)


def test_systems_stand_by_their_score_with_dots_and_intervals(report, pages):
    draw_benchmarks(report)
    axes = pages[0].axes[0]
    (scores, *_), tests = report.scored, report.comparisons["1"]
    order = ["bm25", "other", "other/text", "ours"]
    assert [label.get_text() for label in axes.get_yticklabels()] == order
    assert list(axes.get_yticks()) == [0, 1, 2, 3]
    assert axes.get_ylim() == (-0.6, 3.6)
    dots = [line for line in axes.lines if line.get_marker() == "o"]
    assert [(d.get_xdata()[0], d.get_ydata()[0]) for d in dots] == [
        (pytest.approx(scores.mean(row, "nDCG'")), place)
        for place, row in enumerate(order)
    ]
    assert [d.get_color() for d in dots] == [REFERENCE, OURS, OURS, OURS]
    found = {t.condition: t for t in tests if t.measure == "nDCG'"}
    filled = [True, *(found[row].significant for row in order[1:])]
    assert [d.get_markerfacecolor() != "#ffffff" for d in dots] == filled
    assert True in filled[1:] and False in filled
    assert all(d.get_linestyle() == "None" for d in dots)
    intervals = [line for line in axes.lines if line.get_alpha() == 0.8]
    base = scores.mean("bm25", "nDCG'")
    assert [tuple(line.get_ydata()) for line in intervals] == [(1, 1), (2, 2), (3, 3)]
    for line, row in zip(intervals, order[1:], strict=True):
        ends = [base + end for end in found[row].interval]
        assert list(line.get_xdata()) == pytest.approx(ends)


def test_costs_are_dots_whose_area_is_the_index(report, pages):
    draw_costs(report)
    light = pages[0]
    assert [axes.get_visible() for axes in light.axes] == [True, True, True, True]
    assert light.get_size_inches() == pytest.approx([12.4, 2 * 3.6 + 0.5])
    assert light.axes[0].get_title(loc="left") == "Mean over 3 sets: texts"
    axes, scores = light.axes[1], report.scored[0]
    places = {
        tuple(dot.get_offsets()[0]): (dot.get_sizes()[0], to_hex(dot.get_facecolor()))
        for dot in axes.collections
    }
    assert places == {
        (COSTS[row][0], scores.mean(row, "nDCG'")): (
            pytest.approx(18 + (260 - 18) * COSTS[row][1] / 10),
            REFERENCE if row == "bm25" else OURS,
        )
        for row in SYSTEMS
    }
    (line,) = axes.lines
    front = ["bm25", "other", "ours"]  # as other/text is slower than ours, and worse
    assert list(line.get_xdata()) == [COSTS[row][0] for row in front]
    assert list(line.get_ydata()) == [scores.mean(row, "nDCG'") for row in front]
    assert axes.get_xscale() == "log"
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("ms/query", "nDCG'")
    assert axes.get_title(loc="left") == "1"
    assert axes.margins() == (0.2, 0.12)


def test_systems_without_a_size_are_small_dots(report, pages):
    bare = {row: {"milliseconds": time} for row, (time, _) in COSTS.items()}
    draw_costs(replace(report, scored=[make_scores("1", bare, **SYSTEMS)]))
    assert [dot.get_sizes()[0] for dot in pages[0].axes[0].collections] == [18.0] * 4
    assert len(pages[0].axes) == 1
    assert pages[0].get_size_inches() == pytest.approx([6.2, 4.1])
