"""Ranked lists and the rule for ties."""

from __future__ import annotations

import numpy as np
import pytest

from mathamr_kedro.base.hits import FormulaHits, Hits, rank_ids


def test_ranks_of_ids_follow_length_then_text():
    ids = ["q_12", "9", "17", "", "ζ", "10", "a:b"]
    order = sorted(range(len(ids)), key=rank_ids(ids).__getitem__)
    assert [ids[i] for i in order] == sorted(ids, key=lambda i: (len(i), i))


def test_the_ninth_decimal_counts_and_the_tenth_does_not():
    assert Hits.rank(["b", "a"], [0.5 + 4e-10, 0.5]).ids == ["a", "b"]
    assert Hits.rank(["b", "a"], [0.5 + 1e-9, 0.5]).ids == ["b", "a"]


def test_ids_without_a_score_are_refused():
    with pytest.raises(ValueError, match="shorter"):
        Hits.rank(["a", "b"], [0.5])
    with pytest.raises(ValueError, match="shorter"):
        list(Hits(["a", "b"], np.array([0.5])))


def test_the_top_of_formulas_keeps_what_stands_beside_them():
    scores = np.array([0.9, 0.8, 0.7, 0.6])
    hits = FormulaHits(list("1234"), scores, ["70", "70", "71", "72"], list("abcd"))
    assert hits.judged_ids == ["70", "70", "71", "72"]
    best = hits.first_instances().top(2)
    assert isinstance(best, FormulaHits)
    assert (best.ids, best.visual_ids, best.post_ids) == (
        ["1", "3"], ["70", "71"], ["a", "c"],
    )  # fmt: skip
    assert list(best) == [("1", 0.9), ("3", 0.7)]
    assert len(hits.top(9)) == 4


def test_nothing_is_a_list_too():
    nothing = Hits.rank([], [])
    assert (len(nothing), nothing.judged_ids, list(nothing)) == (0, [], [])
    assert nothing.scores.dtype == np.float64
