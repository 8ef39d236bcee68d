"""Reciprocal rank, by hand and as the mean over all orders."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from mathamr_kedro.metrics.reciprocal_rank import RECIPROCAL_RANK


@pytest.mark.parametrize(
    ("grades", "k", "score"),
    [
        ([3, 0, 2], None, 1.0), ([-1, 1, 2, 3], None, 1 / 3), ([0, 1], None, 0.0),
        ([], None, 0.0), ([0, 0, 3], 2, 0.0), ([0, 0, 3], 3, 1 / 3),
    ],
)  # fmt: skip
def test_first_relevant_result_decides(grades, k, score):
    assert RECIPROCAL_RANK.score(np.array(grades), 2, k) == score


@pytest.mark.parametrize("depth", [None, 2, 9])
@pytest.mark.parametrize("k", [None, 1, 3])
@pytest.mark.parametrize("grades", [[3, 2, 0, 0, 1], [0, 0], [2, 2], []])
def test_expectation_is_the_mean_over_all_orders(grades, k, depth):
    orders = [np.array(order)[:depth] for order in permutations(grades)]
    mean = np.mean([RECIPROCAL_RANK.score(order, 2, k) for order in orders])
    expected = RECIPROCAL_RANK.expect(np.array(grades), 2, k, depth)
    assert expected == pytest.approx(mean)
