"""nDCG by hand, and its expectation against all orders."""

from __future__ import annotations

import math
from itertools import permutations

import numpy as np
import pytest

from mathamr_kedro.evaluation.metrics.measures import expected_ndcg, ndcg


def test_gain_is_the_grade_and_discount_is_logarithmic():
    # ranks     1            2              3
    dcg = 1 / math.log2(2) + 3 / math.log2(3) + 0
    ideal = 3 / math.log2(2) + 2 / math.log2(3) + 1 / math.log2(4)
    score = ndcg(np.array([1, 3, 0]), judged=np.array([0, 1, 2, 3]))
    assert score == pytest.approx(dcg / ideal, abs=1e-15)


def test_unjudged_results_take_a_rank_but_bring_no_gain():
    assert ndcg(np.array([-1, 3]), np.array([3])) == pytest.approx(1 / math.log2(3))


def test_cut_off_cuts_the_ideal_order_too():
    judged = np.array([3, 3, 3])
    assert ndcg(np.array([3]), judged, k=1) == 1.0
    assert ndcg(np.array([3]), judged) < 1.0


def test_topic_without_relevant_documents_scores_zero():
    assert ndcg(np.array([0, 0]), np.array([0, 0])) == 0.0
    assert expected_ndcg(np.array([0, 0]), np.array([0, 0])) == 0.0


@pytest.mark.parametrize("k", [None, 1, 3, 9])
@pytest.mark.parametrize("depth", [None, 2, 9])
def test_expectation_is_the_mean_over_all_orders(k, depth):
    own, judged = np.array([3, 0, 2, -1, 1]), np.array([3, 0, 2, 1, 2])
    orders = [ndcg(np.array(p)[:depth], judged, k) for p in permutations(own)]
    expected = expected_ndcg(own, judged, k, depth)
    assert expected == pytest.approx(np.mean(orders), abs=1e-12)
