"""Runs against judgments, with floor and ceiling."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest

from mathamr_kedro.base.errors import ConfigurationError, MissingInputError
from mathamr_kedro.evaluation.metrics import evaluate_run, parse_measure
from mathamr_kedro.experiments.benchmark import BenchmarkScores
from mathamr_kedro.trec import Qrels
from tests.experiments.benchmark.rows import (
    BEST,
    ENTRY,
    QRELS,
    TOPICS,
    WORST,
    make_run,
    make_scores,
)


def test_scores_are_those_of_evaluate():
    run = make_run("ours", BEST, WORST, BEST)
    found = BenchmarkScores.of_runs(ENTRY, QRELS, [run])
    expected = evaluate_run(run, QRELS, ENTRY.make_protocol())
    for measure in found.measures:
        assert found.systems["ours"][measure].tolist() == (
            expected.column(measure).tolist()
        )
        assert found.mean("ours", measure) == pytest.approx(expected.mean(measure))
        summary = expected.summarise()[measure]
        assert found.floors[measure] == pytest.approx(summary.floor)
        assert found.ceilings[measure] == pytest.approx(summary.ceiling)


def test_floor_of_a_plain_measure_shuffles_the_whole_collection():
    """Where relevant documents alone are judged, a shuffle of them would score 1."""
    entry = replace(ENTRY, protocol="trec", measures=("recall@2", "nDCG@2"), queries=1)
    qrels = Qrels({"A.1": {"a": 1}})
    run = make_run("ours", ("a", "b", "c"))
    found = BenchmarkScores.of_runs(entry, qrels, [run], {"a"}, num_candidates=4)
    orders = [np.array(o) for o in permutations([1, -1, -1, -1])]
    for name in found.measures:
        measure = parse_measure(name, 1)
        slow = np.mean([measure.score(o, np.array([1])) for o in orders])
        assert found.floors[name] == pytest.approx(slow)
    assert found.floors["recall@2"] == 0.5


def test_ceiling_counts_what_is_in_the_collection():
    entry = replace(ENTRY, measures=("recall@10(rel=1)",), queries=1)
    qrels = Qrels({"A.1": {"here": 2, "gone": 2}})
    found = BenchmarkScores.of_runs(entry, qrels, [make_run("x", ("here",))], {"here"})
    assert found.ceilings == {"recall@10(rel=1)": 0.5}


def test_topics_without_a_relevant_document_do_not_count():
    grades = {t: dict(QRELS.grades[t]) for t in TOPICS} | {"A.4": {"bad": 0}}
    entry = replace(ENTRY, average="relevant", queries=3)
    found = BenchmarkScores.of_runs(entry, Qrels(grades), [make_run("x", BEST)])
    assert found.num_topics == 3
    assert not any(note.startswith("Expected") for note in found.notes)
    assert np.isnan(found.systems["x"]["MAP'"]).tolist() == [False] * 3 + [True]
    assert found.mean("x", "MAP'") == pytest.approx(1 / 3)


def test_other_topics_than_expected_are_noted():
    found = BenchmarkScores.of_runs(
        replace(ENTRY, queries=105), QRELS, [make_run("x", BEST)]
    )
    assert found.notes[0].startswith("Expected 105 queries that count (got 4)")


def test_systems_appear_by_the_name_of_their_row():
    entry = replace(ENTRY, rows={"mathamr_plus/with_question": "mathamr_plus"})
    names = ("mathamr_plus/with_question", "new_system")
    found = BenchmarkScores.of_runs(entry, QRELS, [make_run(n, BEST) for n in names])
    assert list(found.systems) == ["mathamr_plus", "new_system"]
    with pytest.raises(ConfigurationError, match="one run for the row 'mathamr_plus'"):
        runs = [make_run(n, BEST) for n in (*names, "mathamr_plus")]
        BenchmarkScores.of_runs(entry, QRELS, runs)


def test_costs_are_those_of_the_evaluation():
    efficiency = {
        "index": {"tasks": {"1": {"bytes": 5_000_000}}},
        "search": [
            {"task": 1, "system": "mathamr_plus", "queries_per_second": 4.0},
            {"task": 1, "system": "bm25", "queries_per_second": 500.0},
            {"task": 1, "system": "elsewhere", "queries_per_second": 1.0},
            {"task": 2, "system": "bm25", "queries_per_second": 1.0},
        ],
    }
    found = make_scores(mathamr_plus=[BEST], bm25=[BEST]).with_costs(efficiency).costs
    assert found["mathamr_plus"]["milliseconds"] == 250
    assert found["mathamr_plus"]["index_megabytes"] == 5
    assert found["bm25"]["milliseconds"] == 2
    assert "index_megabytes" not in found["bm25"]
    assert "elsewhere" not in found


def test_costs_of_other_papers_systems_are_their_own():
    efficiency = {
        "training": {"epochs": 3, "seconds_per_epoch": 20.0},
        "index": {"tasks": {"1": {"bytes": 5_000_000}}},
        "systems": {
            "marf": {"epochs": 2, "training_seconds": 90.0, "index_bytes": 7_000_000}
        },
        "search": [
            {"task": 1, "system": name, "queries_per_second": 4.0}
            for name in ("mathamr_plus", "marf/token", "bm25")
        ],
    }
    scores = make_scores(**{n: [BEST] for n in ("mathamr_plus", "marf/token", "bm25")})
    found = scores.with_costs(efficiency).costs
    costs = {row: {**cost, "machine": ""} for row, cost in found.items()}
    timed = {"milliseconds": 250.0, "machine": ""}
    assert costs == {
        "mathamr_plus": timed | {"index_megabytes": 5.0, "training_seconds": 60.0},
        "marf/token": timed | {"index_megabytes": 7.0, "training_seconds": 90.0},
        "bm25": timed,
    }


def test_chosen_rows_keep_the_reference():
    found = make_scores(ours=[BEST], other=[WORST], bm25=[WORST], bm25_graph=[BEST])
    assert list(found.choose(["our*"]).systems) == ["ours", "bm25_graph"]
    assert list(found.choose([]).systems) == list(found.systems)
    with pytest.raises(MissingInputError, match="known: ours, other"):
        found.choose(["their*"])


def test_no_run_is_refused():
    with pytest.raises(MissingInputError, match="No run to score on 'four'"):
        BenchmarkScores.of_runs(ENTRY, QRELS, [])
