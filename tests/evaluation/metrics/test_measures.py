"""Measures: by hand, by name, and their expectations against all orders."""

from __future__ import annotations

import math
from itertools import permutations

import numpy as np
import pytest

from mathamr_kedro.base.errors import ConfigurationError
from mathamr_kedro.evaluation.metrics.measures import (
    Measure,
    average_precision,
    bpref,
    expected_bpref,
    ndcg,
    parse_measure,
    precision_at,
    recall_at,
    reciprocal_rank,
)

GRADES = np.array([-1, 3, 0, -1, 2, 1])
JUDGED = np.array([3, 2, 1, 0, 0])


@pytest.mark.parametrize(
    ("written", "measure"),
    [
        ("nDCG'", Measure("nDCG'", "nDCG", prime=True)),
        ("ndcg′@10", Measure("nDCG'@10", "nDCG", 10, prime=True)),
        ("map", Measure("MAP", "MAP")),
        ("P’@5", Measure("P'@5", "P", 5, prime=True)),
        ("bpref full", Measure("Bpref full", "Bpref", relevant_from=3)),
        ("P@20 PARTIAL", Measure("P@20 partial", "P", 20, relevant_from=1)),
        ("recall@100(rel=1)", Measure("recall@100(rel=1)", "recall", 100, False, 1)),
        ("judged@10", Measure("judged@10", "judged", 10)),
        ("MRR", Measure("MRR", "MRR")),
        ("mrr'@10", Measure("MRR'@10", "MRR", 10, prime=True)),
    ],
)
def test_names_are_read_in_any_case_and_with_any_apostrophe(written, measure):
    assert parse_measure(written) == measure


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ("ndcg_cut_10", "nDCG@10"), ("ndcg", "nDCG"), ("map", "MAP"), ("P_10", "P@10"),
        ("recip_rank", "MRR"), ("recall_100", "recall@100"), ("bpref", "Bpref"),
        ("P_5(rel=1)", "P@5(rel=1)"),
    ],
)  # fmt: skip
def test_names_of_trec_eval_are_understood(theirs, ours):
    assert parse_measure(theirs) == parse_measure(ours)


@pytest.mark.parametrize("name", ["nosuch", "Rprec", "ndcg_cut_", "p@"])
def test_an_unknown_name_lists_the_known_ones(name):
    with pytest.raises(ConfigurationError) as caught:
        parse_measure(name)
    for known in ("nDCG, MAP, MRR, P, Bpref, judged, recall", "ndcg_cut_10", "bpref"):
        assert known in str(caught.value)


@pytest.mark.parametrize("name", ["nDCG'", "P'@10", "Bpref partial", "MAP(rel=1)"])
def test_a_shown_name_reads_back_as_the_same_measure(name):
    assert parse_measure(parse_measure(name).name) == parse_measure(name)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("nDGC'", r"Unknown measure \"nDGC'\"; did you mean 'nDCG'\?"),
        ("P'", "Expected a cut-off in measure \"P'\", e.g. 'P@10'"),
        ("Bpref@10", "Expected no cut-off in measure 'Bpref@10'"),
        ("Bpref'", 'Expected no prime in measure "Bpref\'"'),
        ("P@0", "Unknown measure 'P@0'"),
        ("MAP (rel=0)", "Unknown measure"),
        ("", "Unknown measure ''"),
    ],
)
def test_a_wrong_name_is_explained(name, message):
    with pytest.raises(ConfigurationError, match=message):
        parse_measure(name)


@pytest.mark.parametrize("name", ["nDCG", "nDCG@3", "MAP", "P@1", "MRR", "recall@1"])
def test_prime_is_the_same_measure_without_unjudged_results(name):
    plain, prime = parse_measure(name), parse_measure(name.replace("@", "'@", 1))
    if "@" not in name:
        prime = parse_measure(name + "'")
    filtered = GRADES[GRADES >= 0]
    assert prime.score(GRADES, JUDGED) == plain.score(filtered, JUDGED)
    assert prime.score(GRADES, JUDGED) != plain.score(GRADES, JUDGED)
    assert prime.expect(GRADES, JUDGED) == plain.expect(filtered, JUDGED)


@pytest.mark.parametrize("depth", [None, 1, 2, 4, 50])
@pytest.mark.parametrize(
    "own", [[3, 0, -1, 2, 1], [3], [2, 3], [0, -1, 2], [0, 1], [3, 0, 0, 0, 0], []]
)
@pytest.mark.parametrize(
    "name",
    ["nDCG", "nDCG@3", "MAP", "MRR", "MRR@3", "P@3", "P@10", "recall@3", "Bpref",
     "judged@3"],
)  # fmt: skip
def test_expectation_is_the_mean_over_all_orders(name, own, depth):
    measure, judged = parse_measure(name), np.array([3, 2, 2, 1, 0, 0, 3])
    if name == "Bpref":  # it passes over unjudged results, its depth counts judged ones
        own = [grade for grade in own if grade >= 0]
    orders = [np.array(p, dtype=np.int64) for p in permutations(own)]
    scores = [measure.score(order[:depth], judged) for order in orders]
    expected = measure.expect(np.array(own, dtype=np.int64), judged, depth)
    assert expected == pytest.approx(np.mean(scores), abs=1e-12)


@pytest.mark.parametrize("name", ["nDCG", "MAP", "MRR", "P@5", "recall@5", "Bpref"])
def test_a_topic_without_relevant_documents_scores_zero(name):
    measure, grades = parse_measure(name), np.array([0, 0])
    assert measure.score(grades, grades) == measure.expect(grades, grades) == 0.0


def test_expectation_of_a_long_list_is_the_same_when_cut_where_all_is_lost():
    judged = np.array([2] * 300 + [0] * 900)
    full = expected_bpref(judged, judged)
    assert expected_bpref(judged, judged, depth=200) < 0.9 * full
    # Below rank 900 a relevant result has 300 others above it and counts nothing.
    assert expected_bpref(judged, judged, depth=900) == pytest.approx(full, rel=1e-9)


def test_gain_is_the_grade_and_discount_is_logarithmic():
    # ranks     1            2              3
    dcg = 1 / math.log2(2) + 3 / math.log2(3) + 0
    ideal = 3 / math.log2(2) + 2 / math.log2(3) + 1 / math.log2(4)
    score = ndcg(np.array([1, 3, 0]), judged=np.array([0, 1, 2, 3]))
    assert score == pytest.approx(dcg / ideal, abs=1e-15)
    # an unjudged result takes a rank but brings no gain
    assert ndcg(np.array([-1, 3]), np.array([3])) == pytest.approx(1 / math.log2(3))


def test_a_cut_off_cuts_the_ideal_order_too():
    judged = np.array([3, 3, 3])
    assert ndcg(np.array([3]), judged, k=1) == 1.0
    assert ndcg(np.array([3]), judged) < 1.0


def test_grades_two_and_three_are_relevant_to_average_precision():
    # rank        1  2  3  4
    grades = np.array([2, 1, 3, 0])
    score = average_precision(grades, judged=np.array([2, 1, 3, 0, 3]))
    assert score == pytest.approx((1 / 1 + 2 / 3) / 3)
    assert average_precision(np.array([0, 1]), np.array([1]), relevant_from=1) == 0.5


def test_the_first_relevant_result_has_the_reciprocal_rank():
    grades = np.array([1, -1, 3, 2])
    assert reciprocal_rank(grades) == 1 / 3
    assert reciprocal_rank(grades, relevant_from=1) == 1
    assert reciprocal_rank(grades, k=2) == 0


def test_precision_divides_by_the_cut_off_even_with_fewer_results():
    assert precision_at(np.array([3, 2]), k=10) == 0.2
    assert precision_at(np.array([0, 1, 3, 3]), k=3) == pytest.approx(1 / 3)


def test_recall_divides_by_the_number_of_relevant_documents():
    judged = np.array([3, 2, 2, 2, 1, 0])
    assert recall_at(np.array([3, 1, 2]), judged, k=2) == 0.25
    assert recall_at(np.array([3, 1, 2]), judged, k=3) == 0.5


@pytest.mark.parametrize(
    ("grades", "judged", "score"),
    [
        # R = 3, N = 4: each relevant result loses by the others above it
        ([0, 3, 1, -1, 2], [3, 2, 2, 0, 0, 1, 1], ((1 - 1 / 3) + (1 - 2 / 3)) / 3),
        # R = 3, N = 1: trec_eval divides by 1, not 3
        ([3, 0, 2], [3, 2, 2, 0], 1 / 3),
        ([0, 0, 0, 3], [3, 0, 0, 0], 0.0),  # no more than everything is lost
        ([3, -1, 2], [3, 2], 1.0),  # there are no others
    ],
)
def test_bpref_by_hand(grades, judged, score):
    assert bpref(np.array(grades), np.array(judged)) == pytest.approx(score)
