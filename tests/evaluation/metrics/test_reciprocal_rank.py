"""Reciprocal rank by hand, and its expectation against all orders."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from mathamr_kedro.evaluation.metrics.measures import (
    expected_reciprocal_rank,
    reciprocal_rank,
)


def test_the_first_relevant_result_counts():
    grades = np.array([1, -1, 3, 2])
    assert reciprocal_rank(grades) == 1 / 3
    assert reciprocal_rank(grades, relevant_from=1) == 1
    assert reciprocal_rank(grades, k=2) == 0
    assert reciprocal_rank(np.array([], dtype=np.int64)) == 0


@pytest.mark.parametrize("own", [[3, 0, -1, 2, 1], [2, 2, 3], [0, 1], []])
@pytest.mark.parametrize("k", [None, 1, 3, 10])
@pytest.mark.parametrize("depth", [None, 2])
def test_expectation_is_the_mean_over_all_orders(own, k, depth):
    own = np.array(own, dtype=np.int64)
    orders = [
        reciprocal_rank(np.array(p, dtype=np.int64)[:depth], k)
        for p in permutations(own)
    ]
    expected = expected_reciprocal_rank(own, k, depth=depth)
    assert expected == pytest.approx(np.mean(orders), abs=1e-12)
