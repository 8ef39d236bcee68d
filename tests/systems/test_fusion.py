"""Ranks weighted by scores against the sum of its equation, term by term."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mathamr_kedro.systems.fusion import Fusion, fuse_runs
from mathamr_kedro.trec import Run

LISTS = st.dictionaries(
    st.integers(0, 12).map(str), st.integers(-40, 40).map(float), min_size=1
)


def fuse_slowly(runs, weights):
    """The sum of w_r s_r / (60 + rank_r) over the runs that returned a document."""
    total = {}
    for run, weight in zip(runs, weights, strict=True):
        # as trec_eval ranks: by score, then by id, the last first
        order = sorted(run, key=lambda i: (run[i], i), reverse=True)
        low, high = min(run.values()), max(run.values())
        for rank, i in enumerate(order, start=1):
            score = (run[i] - low) / (high - low) if high > low else 1.0
            total[i] = total.get(i, 0.0) + weight * score / (60 + rank)
    return total


@given(st.lists(LISTS, min_size=1, max_size=3))
def test_ranks_are_weighted_by_scores(lists):
    runs = [Run.from_scores(str(n), {"B.1": values}) for n, values in enumerate(lists)]
    weights = tuple(float(n + 1) for n in range(len(runs)))
    hits = fuse_runs(runs, Fusion("score_rrf", weights), "x").lists["B.1"]
    expected = fuse_slowly(lists, weights)
    found = dict(zip(hits.ids, hits.scores.tolist(), strict=True))
    assert found == pytest.approx(expected, abs=1e-8)
    assert [found[i] for i in hits.ids] == sorted(found.values(), reverse=True)
