"""Versions on the disk, and how they differ."""

from __future__ import annotations

import json

import numpy as np
import pytest

from mathamr_kedro.base.errors import InputError, MissingInputError
from mathamr_kedro.evaluation.stats import TestConfig
from mathamr_kedro.experiments.benchmark import BenchmarkReport, BenchmarkStore
from tests.experiments.benchmark.rows import BEST, WORST, make_scores

TESTS = TestConfig(num_samples=500)
BEST_4, WORST_4, MIXED = [BEST] * 4, [WORST] * 4, [BEST, WORST, WORST, BEST]


@pytest.fixture
def store(tmp_path) -> BenchmarkStore:
    found = BenchmarkStore(tmp_path / "benchmark")
    old = [
        make_scores("a", ours=WORST_4, bm25=MIXED, gone=BEST_4),
        make_scores("b", ours=MIXED, bm25=MIXED),
    ]
    new = [
        make_scores("a", ours=BEST_4, bm25=MIXED, fresh=BEST_4),
        make_scores("b", ours=BEST_4, bm25=WORST_4, fresh=MIXED),
    ]
    found.save("v1", BenchmarkReport(old, TESTS), {"figure.png": b"x"})
    found.save("v2", BenchmarkReport(new, TESTS), {})
    return found


def test_version_is_a_whole_folder(store):
    assert store.list_versions() == ["v2", "v1"]
    names = {p.name for p in (store.base / "v1").iterdir()}
    assert names == {
        "benchmark.md", "figure.png", "result.json", "scores.parquet", "table.csv",
    }  # fmt: skip
    assert store.read()["version"] == "v2"
    assert store.read("v1")["benchmarks"]["a"]["topics"] == 4
    assert store.read_page("v1").startswith("# Benchmark")


def test_unknown_version_is_refused(store, tmp_path):
    with pytest.raises(MissingInputError, match=r"'v3'.*known: v2, v1"):
        store.read("v3")
    with pytest.raises(MissingInputError, match="`mathamr benchmark` makes one"):
        BenchmarkStore(tmp_path / "none").read()


def test_half_written_version_does_not_count(store):
    (store.base / "v3").mkdir()
    assert store.list_versions() == ["v2", "v1"]


def test_comparison_shows_changed_cells_alone(store):
    table = store.compare("v1", "v2")
    cells = {row.labels[:3]: row.figures for row in table.rows}
    assert set(cells) == {
        ("a", "ours", "nDCG'"), ("a", "ours", "MAP'"),
        ("b", "ours", "nDCG'"), ("b", "ours", "MAP'"),
        ("b", "bm25", "nDCG'"), ("b", "bm25", "MAP'"),
    }  # fmt: skip
    old, new, change, _, p, wins = cells["a", "ours", "MAP'"]
    assert (old.value, new.value) == (pytest.approx(1 / 3), 1)
    assert change.value == pytest.approx(2 / 3)
    assert change.marked and float(p) == 0 and wins == "4/0/0"
    mixed = cells["b", "ours", "MAP'"]
    assert not mixed[2].marked and mixed[5] == "2/2/0"
    text = table.to_markdown()
    assert "6 of 8 cells changed" in text
    assert "Only in the old version: a (gone)." in text
    assert "Only in the new version: a (fresh); b (fresh)." in text
    assert "correction bonferroni over 6 tests" in text


def test_equal_versions_have_no_changed_cell(store):
    table = store.compare("v2")
    assert table.rows == ()
    assert "0 of 12 cells changed" in table.to_markdown()


def test_other_topics_are_noted(store):
    scores = make_scores("a", ours=BEST_4)
    part = {
        row: {m: np.where(np.arange(4) < 3, v, np.nan) for m, v in by.items()}
        for row, by in scores.systems.items()
    }
    fewer = BenchmarkReport([scores.__class__(**vars(scores) | {"systems": part})])
    store.save("v3", fewer, {})
    table = store.compare("v1", "v3")
    assert {row.labels[3] for row in table.rows} == {"3"}
    assert "a: the versions score different topics" in table.to_markdown()


def test_setting_is_chosen_by_all_benchmarks(store):
    choice = store.choose("*", "v2")
    assert choice.winner == "ours"
    assert set(choice.means) == {"ours", "bm25", "fresh"}
    assert choice.means["fresh"]["a"] == 1
    assert set(store.choose("[of]*", "v2").means) == {"ours", "fresh"}
    with pytest.raises(InputError, match="two or more sets"):
        store.choose("*", "v2", ("a",))


def test_result_can_be_read_without_the_project(store):
    result = json.loads((store.base / "v2" / "result.json").read_text())
    assert result["tests"]["correction"] == "bonferroni"
    assert result["benchmarks"]["b"]["headline"] == ["nDCG'", "MAP'"]
