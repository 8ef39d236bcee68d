"""Measures by name."""

from __future__ import annotations

import numpy as np
import pytest

from mathamr_kedro.base.errors import ConfigurationError
from mathamr_kedro.evaluation.metrics.measures import Measure, parse_measure

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


@pytest.mark.parametrize(
    "name", ["nDCG'", "MAP'", "P'@3", "Bpref", "MRR", "MRR@3", "recall@3", "judged@3"]
)
def test_expectation_lies_where_random_orders_do(name):
    measure, rng = parse_measure(name), np.random.default_rng(5)
    drawn = [measure.score(rng.permutation(GRADES), JUDGED) for _ in range(4000)]
    error = np.std(drawn) / np.sqrt(len(drawn))
    assert abs(measure.expect(GRADES, JUDGED) - np.mean(drawn)) <= 5 * error + 1e-12
