"""Fused scores against the definitions, one formula at a time."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mathamr_kedro.systems.formula_rgcn.fusion import fuse_scores

SCORES = st.dictionaries(st.sampled_from("abcdef"), st.floats(-3, 9))


def slow_score(name, lists, ranked, fusion, k):
    if fusion == "rrf":
        return sum(1 / (k + r.index(name) + 1) for r in ranked if name in r)
    values = [scores.get(name, 0.0) for scores in lists]
    if fusion == "max":
        return max(values)
    if fusion == "avg":
        return sum(values) / len(values)
    if min(values) <= 0:
        return 0.0
    a, b = values
    return 2 * a * b / (a + b)


@given(SCORES, SCORES, st.sampled_from(["max", "avg", "f1", "rrf"]), st.integers(0, 99))
def test_scores_are_those_of_the_definitions(first, second, fusion, k):
    lists = [first, second]
    ranked = [sorted(s, key=lambda n, s=s: (-s[n], n)) for s in lists]
    found = fuse_scores(lists, ranked, fusion, k)
    assert set(found.ids) == {*first, *second}
    for name, score in found:
        assert score == pytest.approx(
            slow_score(name, lists, ranked, fusion, k), abs=1e-8
        )
    assert list(found.scores) == sorted(found.scores, reverse=True)
