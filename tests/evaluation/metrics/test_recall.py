"""Recall by hand, and its expectation against all orders."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from mathamr_kedro.evaluation.metrics.measures import expected_recall_at, recall_at


def test_divisor_is_the_number_of_relevant_documents():
    judged = np.array([3, 2, 2, 2, 1, 0])
    assert recall_at(np.array([3, 1, 2]), judged, k=2) == 0.25
    assert recall_at(np.array([3, 1, 2]), judged, k=3) == 0.5


def test_topic_without_relevant_documents_scores_zero():
    assert recall_at(np.array([1]), np.array([1]), k=5) == 0.0
    assert expected_recall_at(np.array([1]), np.array([1]), k=5) == 0.0


@pytest.mark.parametrize("k", [1, 3, 10])
@pytest.mark.parametrize("depth", [None, 2])
def test_expectation_is_the_mean_over_all_orders(k, depth):
    own, judged = np.array([3, 0, -1, 2, 1]), np.array([3, 2, 2, 0])
    orders = [recall_at(np.array(p)[:depth], judged, k) for p in permutations(own)]
    expected = expected_recall_at(own, judged, k, depth=depth)
    assert expected == pytest.approx(np.mean(orders), abs=1e-12)
