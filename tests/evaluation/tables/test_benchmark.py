"""The tables of the benchmark: systems × collections."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mathamr_kedro.evaluation.stats import TestConfig
from mathamr_kedro.evaluation.stats.significance import bootstrap_interval
from mathamr_kedro.evaluation.tables.benchmark import BenchmarkReport
from mathamr_kedro.evaluation.tables.benchmark_figure import (
    draw_benchmarks,
    draw_costs,
    find_front,
)
from tests.evaluation.tables.collection_scores import BEST, ENTRY, WORST, make_scores

TESTS = TestConfig(num_samples=500)
BEST_4, WORST_4, MIXED = [BEST] * 4, [WORST] * 4, [BEST, WORST, WORST, BEST]


@pytest.fixture
def report() -> BenchmarkReport:
    fast, slow = ({"ours": {"milliseconds": time}} for time in (12.0, 95.0))
    first = make_scores("first", fast, ours=BEST_4, bm25=WORST_4, other=MIXED)
    second = make_scores("second", slow, ours=MIXED, bm25=MIXED)
    scored = [first, second]
    return BenchmarkReport(scored, TESTS, {"third": "set THIRD"}, {"version": "now"})


def _row(text: str, label: str) -> list[str]:
    line = next(line for line in text.splitlines() if line.startswith(f"| {label}"))
    return [cell.strip() for cell in line.split("|")[2:-1]]


def test_overview_has_systems_and_benchmarks(report):
    text = report.tables["overview"].to_markdown()
    assert _row(text, "System") == ["first", "second", "ms/query"]
    first, _, time = _row(text, "ours")
    assert first == "1.000* / 0.500*"  # the same difference on every topic
    assert time == "12–95"
    assert _row(text, "bm25")[0].endswith("†") and _row(text, "bm25")[1].endswith("†")
    assert "Measures: nDCG' / MAP'." in text
    assert "Bonferroni correction over the 2 to 4 tests of a benchmark" in text


def test_means_over_sets_have_intervals_over_their_queries(report):
    """Each set weighs the same, and a difference is paired query by query."""
    text = report.tables["mean_texts"].to_markdown()
    first, second = (s.systems["ours"].per_topic["nDCG'"] for s in report.scored)
    error = np.sqrt(first.var(ddof=1) / 4 + second.var(ddof=1) / 4) / 2
    mean = (first.mean() + second.mean()) / 2
    low, high = mean - 1.96 * error, mean + 1.96 * error
    ours = _row(text, "ours")
    assert ours[0] == f"{mean:.3f} [{low:.3f}, {high:.3f}]"
    assert ours[1] == "+0.250 [+0.250, +0.250]"  # 0.5 on each query, then 0
    assert ours[4] == "53.5"  # milliseconds of 12 and 95
    assert _row(text, "bm25†")[1] == "–"
    assert "Each set weighs the same: first; second." in text


def test_means_are_of_systems_and_sets_that_count(report):
    assert "| other" not in report.tables["mean_texts"].to_markdown()
    apart = replace(report.scored[1].benchmark, in_mean=False)
    scored = [report.scored[0], replace(report.scored[1], benchmark=apart)]
    assert "mean_texts" not in replace(report, scored=scored).tables
    formulas = replace(report.scored[1].benchmark, task=2)
    scored = [report.scored[0], replace(report.scored[1], benchmark=formulas)]
    assert "mean_texts" not in replace(report, scored=scored).tables


def test_missing_models_are_named_below_their_table(report):
    first = report.scored[0]
    absent = replace(first, facts={**first.facts, "not_available": ["mpnet"]})
    text = replace(report, scored=[absent]).tables["first"].to_markdown()
    assert "Not available: mpnet (`mathamr models`" in text


def test_floor_reference_and_ceiling_are_rows(report):
    text = report.tables["overview"].to_markdown()
    assert _row(text, r"\*floor"[1:])[0].startswith("0.7")
    assert _row(text, "*reference")[0] == _row(text, "bm25")[0].strip("†")
    assert _row(text, "*ceiling")[:2] == ["1.000 / 0.500"] * 2


def test_detail_shows_the_paired_interval(report):
    scores = report.scored[0]
    text = report.tables["first"].to_markdown()
    d = (
        scores.systems["other"].per_topic["nDCG'"]
        - scores.systems["bm25"].per_topic["nDCG'"]
    )
    low, high = bootstrap_interval(d, num_samples=500)
    assert _row(text, "other")[1] == f"{d.mean():+.3f} [{low:+.3f}, {high:+.3f}]"
    assert _row(text, "bm25†")[1] == "–"
    assert _row(text, "ours")[-3] == "12.0"
    assert "On a laptop, 2 cores" in text
    assert "first: 4 topics" in text
    order = [text.index(f"| {name}") for name in ("ours", "other", "bm25†")]
    assert order == sorted(order)


def test_page_names_what_was_skipped(report):
    page = report.to_markdown()
    assert "- third: set THIRD" in page
    assert "figure_dark.png" in page
    assert page.count("## ") == 3
    assert page.endswith("- third: set THIRD\n")


def test_version_holds_the_scores_of_every_topic(report):
    result = json.loads(json.dumps(report.describe()))
    assert list(result["tables"]) == ["overview", "mean_texts", "first", "second"]
    first = result["collections"]["first"]
    assert first["rows"]["other"][0]["scores"]["nDCG'"] == MIXED
    assert first["floors"]["nDCG'"] == 0.7
    costs = {"milliseconds": 12, "machine": "a laptop, 2 cores"}
    assert first["costs"] == {"ours": costs}
    assert {t["condition"] for t in first["tests"]["first"]} == {"ours", "other"}
    assert result["skipped"] == {"third": "set THIRD"}


def test_one_topic_is_scored_but_not_tested():
    report = BenchmarkReport([make_scores(ours=[BEST], bm25=[WORST])], TESTS)
    assert report.comparisons == {"four": []}
    assert _row(report.tables["four"].to_markdown(), "ours")[:2] == ["1.000", "–"]


def test_other_topics_than_expected_are_noted():
    scores = make_scores(ours=BEST_4, bm25=MIXED)
    other = replace(scores, benchmark=replace(ENTRY, queries=105))
    text = BenchmarkReport([other], TESTS).tables["four"].to_markdown()
    assert "Expected 105 queries that count (got 4)" in text


def test_benchmark_without_a_reference_has_no_tests():
    report = BenchmarkReport([make_scores(ours=BEST_4, other=MIXED)], TESTS)
    assert report.comparisons == {"four": []}
    assert "*reference" not in report.tables["overview"].to_markdown()
    assert draw_benchmarks(report)


def test_figure_is_drawn_for_light_and_dark_pages(report):
    pictures = draw_benchmarks(report)
    assert set(pictures) == {"figure.png", "figure_dark.png"}
    assert all(p.startswith(b"\x89PNG") for p in pictures.values())
    assert pictures["figure.png"] != pictures["figure_dark.png"]


def test_costs_are_drawn_where_searches_were_timed(report):
    pictures = draw_costs(report)
    assert set(pictures) == {"cost.png", "cost_dark.png"}
    assert 'src="cost.png"' in report.to_markdown()
    untimed = BenchmarkReport([make_scores(ours=BEST_4, other=MIXED)], TESTS)
    assert draw_costs(untimed) == {}
    assert "cost.png" not in untimed.to_markdown()


@given(
    st.dictionaries(
        st.text("abcdef", min_size=1, max_size=2),
        st.tuples(st.integers(1, 5), st.integers(1, 5)),
        min_size=1,
    )
)
def test_front_holds_the_systems_that_no_other_beats(places):
    front = find_front(places)
    for time, score in places.values():
        is_beaten = any(
            t <= time and s >= score and (t, s) != (time, score)
            for t, s in places.values()
        )
        twins = {n for n, place in places.items() if place == (time, score)}
        assert is_beaten != bool(twins & set(front))


def test_reference_is_the_best_of_its_pattern():
    rows = {"ours": BEST_4, "bm25": WORST_4, "bm25_graph": MIXED}
    assert make_scores(**rows).reference == "bm25_graph"
    assert make_scores(ours=BEST_4).reference is None
