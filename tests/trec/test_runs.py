"""Runs in memory."""

from __future__ import annotations

import numpy as np

from mathamr_kedro.base.hits import FormulaHits
from mathamr_kedro.trec import Run


def test_a_run_is_made_from_scores_by_topic():
    run = Run.from_scores("mine", {"A.1": {"17": 0.9, "4": 0.5}, "A.2": {}})
    assert run.lists["A.1"].ids == ["17", "4"]
    assert run.lists["A.1"].scores.tolist() == [0.9, 0.5]
    assert run.ranks_of("A.1").tolist() == [1, 2]
    assert run.lists["A.2"].ids == []


def test_documents_of_formulas_are_their_visual_ids():
    formulas = FormulaHits(["f1", "f2"], np.array([2.0, 1.0]), ["70", "71"], ["3", "4"])
    assert Run("mine", {"B.1": formulas}).documents("B.1").ids == ["70", "71"]


def test_a_rank_column_is_kept():
    run = Run.from_scores("mine", {"A.1": {"17": 0.9, "4": 0.5}})
    ranked = Run("mine", run.lists, {"A.1": np.array([2, 1])})
    assert ranked.ranks_of("A.1").tolist() == [2, 1]


def test_a_run_claims_nothing_that_it_was_not_told():
    run = Run("r", {})
    assert (run.task, run.num_bad_lines, run.seconds) == (0, 0, 0.0)
    assert (run.topic_set, run.source, run.holds_instances) == ("", "", False)
    assert (run.ranks, run.query_seconds) == ({}, {})
