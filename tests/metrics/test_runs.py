"""Runs and qrels in memory."""

from __future__ import annotations

from mathamr_kedro.metrics.runs import Qrels, make_run


def test_a_run_is_made_from_scores_by_topic():
    run = make_run("mine", {"A.1": {"17": 0.9, "4": 0.5}, "A.2": {}})
    assert run.results["A.1"].ids == ("17", "4")
    assert run.results["A.1"].scores.tolist() == [0.9, 0.5]
    assert run.results["A.1"].ranks.tolist() == [1, 2]
    assert run.results["A.2"].ids == ()


def test_judgments_are_counted_over_topics():
    assert Qrels({"A.1": {"17": 3, "4": 0}, "A.2": {"17": 1}}).num_judgments == 3
