"""Tables of a benchmark."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mathamr_kedro.evaluation.stats import TestConfig, bootstrap_interval
from mathamr_kedro.experiments.benchmark import BenchmarkReport
from mathamr_kedro.experiments.benchmark.figure import (
    draw_benchmarks,
    draw_costs,
    find_front,
)
from tests.experiments.benchmark.rows import BEST, WORST, make_scores

TESTS = TestConfig(num_samples=500)
BEST_4, WORST_4, MIXED = [BEST] * 4, [WORST] * 4, [BEST, WORST, WORST, BEST]


@pytest.fixture
def report() -> BenchmarkReport:
    first = make_scores("first", ours=BEST_4, bm25=WORST_4, other=MIXED)
    costs = {"ours": {"milliseconds": 12.0, "machine": "a laptop"}}
    second = make_scores("second", ours=MIXED, bm25=MIXED)
    slow = {"ours": {"milliseconds": 95.0, "machine": "a laptop"}}
    scored = [replace(first, costs=costs), replace(second, costs=slow)]
    return BenchmarkReport(scored, TESTS, {"third": "set THIRD"}, {"version": "now"})


def _row(text: str, label: str) -> list[str]:
    line = next(line for line in text.splitlines() if line.startswith(f"| {label}"))
    return [cell.strip() for cell in line.split("|")[2:-1]]


def test_overview_has_systems_and_benchmarks(report):
    text = report.summarise().to_markdown()
    assert _row(text, "System") == ["first", "second", "Mean", "ms/query"]
    first, second, mean, time = _row(text, "ours")
    assert first == "1.000* / 1.000*"  # the same difference on every topic
    assert time == "12–95"
    assert _row(text, "bm25")[0].endswith("†") and _row(text, "bm25")[1].endswith("†")
    assert "Measures: nDCG' / MAP'." in text
    assert "Bonferroni correction over the 2 to 4 tests of a benchmark" in text
    values = [float(v.strip("*")) for v in (first + " / " + second).split(" / ")]
    expected = [(values[0] + values[2]) / 2, (values[1] + values[3]) / 2]
    assert [float(m) for m in mean.split(" / ")] == pytest.approx(expected, abs=0.001)


def test_mean_is_of_rows_that_all_benchmarks_have(report):
    text = report.summarise().to_markdown()
    assert _row(text, "other")[1:] == ["–", "–", "–"]
    assert "for the 2 of 3 systems that all of them have" in text
    apart = replace(report.scored[1].benchmark, in_mean=False)
    scored = [report.scored[0], replace(report.scored[1], benchmark=apart)]
    alone = replace(report, scored=scored).summarise().to_markdown()
    assert "Mean" not in alone


def test_floor_reference_and_ceiling_are_rows(report):
    text = report.summarise().to_markdown()
    assert _row(text, r"\*floor"[1:])[0].startswith("0.7")
    assert _row(text, "*reference")[0] == _row(text, "bm25")[0].strip("†")
    assert _row(text, "*ceiling")[:2] == ["1.000 / 1.000"] * 2


def test_detail_shows_the_paired_interval(report):
    scores = report.scored[0]
    text = report.detail(scores).to_markdown()
    d = scores.values("other", "nDCG'") - scores.values("bm25", "nDCG'")
    low, high = bootstrap_interval(d, num_samples=500)
    assert _row(text, "other")[1] == f"{d.mean():+.3f} [{low:+.3f}, {high:+.3f}]"
    assert _row(text, "bm25†")[1] == "–"
    assert _row(text, "ours")[-3] == "12.0"
    assert "on a laptop" in text
    assert "first: 4 topics" in text
    order = [text.index(f"| {name}") for name in ("ours", "other", "bm25†")]
    assert order == sorted(order)


def test_page_names_what_was_left_out(report):
    page = report.to_markdown()
    assert "- third: set THIRD" in page
    assert "figure_dark.png" in page
    assert page.count("## ") == 3
    assert page.endswith("- third: set THIRD\n")


def test_csv_and_json_hold_every_cell(report):
    lines = list(csv.DictReader(io.StringIO(report.to_csv())))
    assert len(lines) == (3 + 2 + 2 + 2) * 3
    (found,) = (
        line
        for line in lines
        if (line["benchmark"], line["row"], line["measure"])
        == ("first", "ours", "nDCG'")
    )
    assert (found["mean"], found["significant"], found["milliseconds"]) == (
        "1.0", "1", "12.0",
    )  # fmt: skip
    result = json.loads(json.dumps(report.describe()))
    cells = result["benchmarks"]["first"]["cells"]
    assert {c["kind"] for c in cells} == {"system", "floor", "ceiling"}
    assert {c["row"] for c in cells if c["reference"]} == {"bm25"}
    assert result["benchmarks"]["second"]["chosen_reference"] == "bm25"
    assert result["left_out"] == {"third": "set THIRD"}


def test_one_topic_is_scored_but_not_tested():
    scores = make_scores(ours=[BEST], bm25=[WORST])
    one = {
        row: {m: np.where(np.arange(4) == 0, v, np.nan) for m, v in by.items()}
        for row, by in scores.systems.items()
    }
    report = BenchmarkReport([replace(scores, systems=one)], TESTS)
    assert report.comparisons == {"four": []}
    assert _row(report.detail(report.scored[0]).to_markdown(), "ours")[:2] == [
        "1.000", "–",
    ]  # fmt: skip


def test_benchmark_without_a_reference_has_no_tests():
    report = BenchmarkReport([make_scores(ours=BEST_4, other=MIXED)], TESTS)
    assert report.comparisons == {"four": []}
    assert "*reference" not in report.summarise().to_markdown()
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
