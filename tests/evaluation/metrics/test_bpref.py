"""Bpref by hand, and its expectation against all orders."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from mathamr_kedro.evaluation.metrics.measures import bpref, expected_bpref


def test_each_relevant_result_loses_by_the_others_above_it():
    # rank          1  2  3   4  5
    grades = np.array([0, 3, 1, -1, 2])
    judged = np.array([3, 2, 2, 0, 0, 1, 1])  # R = 3, N = 4, least 3
    assert bpref(grades, judged) == pytest.approx(((1 - 1 / 3) + (1 - 2 / 3)) / 3)


def test_fewer_others_than_relevant_make_the_divisor_smaller():
    judged = np.array([3, 2, 2, 0])  # R = 3, N = 1: trec_eval divides by 1, not 3
    assert bpref(np.array([3, 0, 2]), judged) == pytest.approx((1 + 0) / 3)


def test_more_others_than_relevant_cannot_lose_more_than_everything():
    assert bpref(np.array([0, 0, 0, 3]), np.array([3, 0, 0, 0])) == 0.0


def test_without_others_every_relevant_result_counts_one():
    assert bpref(np.array([3, -1, 2]), np.array([3, 2])) == 1.0


def test_topic_without_relevant_documents_scores_zero():
    assert bpref(np.array([1, 0]), np.array([1, 0])) == 0.0
    assert expected_bpref(np.array([1, 0]), np.array([1, 0])) == 0.0


@pytest.mark.parametrize("depth", [None, 1, 2, 4, 6, 50])
@pytest.mark.parametrize(
    "own", [[3, 0, 2, 1, 2, 0], [3], [2, 3], [0, 0, 2], [0, 1], [3, 0, 0, 0, 0, 0]]
)
def test_expectation_is_the_mean_over_all_orders(own, depth):
    judged = np.array([3, 2, 2, 1, 0, 0, 3])
    orders = [bpref(np.array(p)[:depth], judged) for p in permutations(own)]
    expected = expected_bpref(np.array(own), judged, depth=depth)
    assert expected == pytest.approx(np.mean(orders), abs=1e-12)


@pytest.mark.parametrize("own", [[3, 0, 0], [0, 3], [3]])
def test_expectation_where_one_document_is_relevant(own):
    judged = np.array([3, 0, 0, 1])
    orders = [bpref(np.array(p), judged) for p in permutations(own)]
    assert expected_bpref(np.array(own), judged) == pytest.approx(np.mean(orders))
    assert np.mean(orders) > 0


def test_expectation_of_a_long_list_is_the_same_when_cut_where_all_is_lost():
    judged = np.array([2] * 300 + [0] * 900)
    full = expected_bpref(judged, judged)
    assert expected_bpref(judged, judged, depth=200) < 0.9 * full
    # Below rank 900 a relevant result has 300 others above it and counts nothing.
    assert expected_bpref(judged, judged, depth=900) == pytest.approx(full, rel=1e-9)
