"""Ties, repeats, depth and visual ids."""

from __future__ import annotations

import numpy as np
import pytest

from mathamr_kedro.base.hits import Hits
from mathamr_kedro.evaluation.metrics.rankings import (
    rank_documents,
    rank_visual_ids,
)


def hits_of(*lines: tuple[str, float]) -> Hits:
    """Lines as (id, score)."""
    return Hits(
        [i for i, _ in lines], np.array([score for _, score in lines], dtype=float)
    )


def test_ties_go_to_the_larger_string():
    ranking = rank_documents(hits_of(("17", 0.5), ("9", 0.5), ("100", 0.5), ("4", 0.9)))
    assert ranking.hits.ids == ["4", "9", "17", "100"]


def test_scores_are_equal_when_they_are_in_single_precision():
    ranking = rank_documents(hits_of(("1", 1.0 + 1e-12), ("2", 1.0)))
    assert ranking.hits.ids == ["2", "1"]


def test_scores_beyond_single_precision_are_all_infinite():
    assert rank_documents(hits_of(("2", 1e300), ("1", 1e200))).hits.ids == ["2", "1"]
    assert rank_documents(hits_of(("1", 1e300), ("2", 1e200))).hits.ids == ["2", "1"]


def test_rank_column_may_be_honoured():
    lines = hits_of(("17", 0.5), ("9", 0.5), ("4", 0.9))
    assert rank_documents(lines, ranks=np.arange(3)).hits.ids == ["17", "9", "4"]


def test_a_repeat_loses_against_the_earlier_line():
    ranking = rank_documents(hits_of(("1", 0.1), ("2", 0.5), ("1", 0.9)))
    assert (ranking.hits.ids, ranking.num_repeats) == (["2", "1"], 1)


def test_depth_cuts_after_ordering_and_after_repeats():
    lines = hits_of(("1", 0.1), ("1", 0.1), ("2", 0.5), ("3", 0.9))
    ranking = rank_documents(lines, depth=2)
    assert (ranking.hits.ids, ranking.num_too_deep) == (["3", "2"], 1)


def test_visual_id_has_the_score_of_its_best_instance():
    # formula  f1   f2   f3   f4
    # visual   v1   v2   v1   v2
    lines = hits_of(("f1", 0.2), ("f2", 0.5), ("f3", 0.9), ("f4", 0.1))
    ranking = rank_visual_ids(lines, {"f1": "v1", "f2": "v2", "f3": "v1", "f4": "v2"})
    assert ranking.hits.ids == ["v1", "v2"]
    assert ranking.hits.scores.tolist() == [0.9, 0.5]
    assert ranking.num_repeats == 2


def test_tied_visual_ids_follow_the_tie_rule_for_visual_ids():
    lines = hits_of(("f1", 0.5), ("f2", 0.5))
    assert rank_visual_ids(lines, {"f1": "10", "f2": "9"}).hits.ids == ["9", "10"]


def test_depth_counts_formula_instances():
    lines = hits_of(("f1", 0.9), ("f2", 0.8), ("f3", 0.7))
    ranking = rank_visual_ids(lines, {"f1": "v1", "f2": "v1", "f3": "v2"}, depth=2)
    assert (ranking.hits.ids, ranking.num_too_deep) == (["v1"], 1)


def test_unknown_formulas_are_dropped_and_named():
    lines = hits_of(("f1", 0.9), ("f7", 0.8))
    ranking = rank_visual_ids(lines, {"f1": "v1"})
    assert (ranking.hits.ids, ranking.unknown_ids) == (["v1"], ("f7",))


def test_visual_ids_need_no_index():
    lines = hits_of(("v1", 0.2), ("v2", 0.5), ("v1", 0.9))
    assert rank_visual_ids(lines, None).hits.ids == ["v1", "v2"]


def test_rank_column_decides_which_instance_comes_first():
    lines = hits_of(("f1", 0.2), ("f2", 0.5), ("f3", 0.9))
    of_formula = {"f1": "v1", "f2": "v2", "f3": "v1"}
    assert rank_visual_ids(lines, of_formula, ranks=np.arange(3)).hits.ids == [
        "v1",
        "v2",
    ]


@pytest.mark.parametrize("task", ["documents", "visual ids"])
def test_order_is_that_of_a_plain_sort(task):
    rng = np.random.default_rng(3)
    for _ in range(200):
        n = int(rng.integers(0, 30))
        lines = [
            (str(rng.integers(0, 20)), float(rng.integers(0, 6)) / 3) for _ in range(n)
        ]
        best: dict[str, float] = {}
        for i, score in lines:
            if task == "documents":
                best.setdefault(i, score)
            else:
                best[i] = max(score, best.get(i, 0.0))
        expected = sorted(best, key=lambda i: (np.float32(best[i]), i), reverse=True)
        if task == "documents":
            assert rank_documents(hits_of(*lines)).hits.ids == expected
        else:
            assert rank_visual_ids(hits_of(*lines), None).hits.ids == expected


def test_no_results_make_no_ranking():
    assert rank_documents(hits_of()).hits.ids == []
    assert rank_visual_ids(hits_of(), {}).hits.ids == []
