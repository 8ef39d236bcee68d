"""Precision by hand, and its expectation against all orders."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from mathamr_kedro.evaluation.metrics.measures import (
    expected_precision_at,
    precision_at,
)


def test_divisor_is_the_cut_off_even_with_fewer_results():
    assert precision_at(np.array([3, 2]), k=10) == 0.2


def test_only_the_top_counts():
    assert precision_at(np.array([0, 1, 3, 3]), k=3) == pytest.approx(1 / 3)


@pytest.mark.parametrize("k", [1, 3, 10])
@pytest.mark.parametrize("depth", [None, 2])
def test_expectation_is_the_mean_over_all_orders(k, depth):
    own = np.array([3, 0, -1, 2, 1])
    orders = [precision_at(np.array(p)[:depth], k) for p in permutations(own)]
    expected = expected_precision_at(own, k, depth=depth)
    assert expected == pytest.approx(np.mean(orders), abs=1e-12)


def test_no_results_have_no_precision():
    assert expected_precision_at(np.array([], dtype=int), 5) == 0.0
