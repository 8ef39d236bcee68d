"""Average precision by hand, and its expectation against all orders."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from mathamr_kedro.evaluation.metrics.measures import (
    average_precision,
    expected_average_precision,
)


def test_grades_two_and_three_are_relevant():
    # rank        1  2  3  4
    grades = np.array([2, 1, 3, 0])
    score = average_precision(grades, judged=np.array([2, 1, 3, 0, 3]))
    assert score == pytest.approx((1 / 1 + 2 / 3) / 3)


def test_level_of_relevance_may_be_lower():
    assert average_precision(np.array([0, 1]), np.array([1]), relevant_from=1) == 0.5


def test_topic_without_relevant_documents_scores_zero():
    assert average_precision(np.array([1, 0]), np.array([1, 0])) == 0.0
    assert expected_average_precision(np.array([1, 0]), np.array([1, 0])) == 0.0


@pytest.mark.parametrize("depth", [None, 1, 3])
@pytest.mark.parametrize("own", [[3, 0, 2, 1, 2], [3], [2, 3], [0, -1, 2], [0, 1]])
def test_expectation_is_the_mean_over_all_orders(own, depth):
    judged = np.array([3, 2, 2, 1, 0, 3])
    orders = [average_precision(np.array(p)[:depth], judged) for p in permutations(own)]
    expected = expected_average_precision(np.array(own), judged, depth=depth)
    assert expected == pytest.approx(np.mean(orders), abs=1e-12)
