"""Grades of results and the prime filter."""

from __future__ import annotations

import numpy as np

from mathamr_kedro.evaluation.metrics.measures import (
    look_up_grades,
    remove_unjudged,
    sort_ideally,
)


def test_a_document_without_judgment_is_minus_one():
    grades = look_up_grades(["17", "4", "90"], {"17": 3, "90": 0, "5": 2})
    assert grades.tolist() == [3, -1, 0]


def test_no_results_have_no_grades():
    assert look_up_grades([], {"17": 3}).tolist() == []


def test_prime_filter_keeps_order_and_zeros():
    assert remove_unjudged(np.array([0, -1, 3, -1, 0])).tolist() == [0, 3, 0]


def test_ideal_order_is_best_first():
    assert sort_ideally(np.array([0, 3, 1, 2])).tolist() == [3, 2, 1, 0]
