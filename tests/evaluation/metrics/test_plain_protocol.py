"""The plain protocol against trec_eval, and what it says where ARQMath's is silent."""

from __future__ import annotations

import math
import random
from collections import Counter

import numpy as np
import pytest

from mathamr_kedro.evaluation.metrics import evaluate_run, protocol_of
from mathamr_kedro.trec import Qrels, Run

PLAIN = protocol_of("trec")
NAMES = {
    "nDCG@10": "ndcg_cut_10", "MAP": "map", "recall@100": "recall_100",
    "MRR": "recip_rank", "P@10": "P_10", "nDCG": "ndcg",
}  # fmt: skip
QRELS = Qrels({"1": {"a": 1, "b": 1}, "2": {"c": 1}})
RUN = Run.from_scores("mine", {"1": {"x": 3.0, "a": 2.0}, "2": {"c": 1.0}})


def draw(rng):
    """A run over 60 documents and sparse graded judgments; one topic is missing."""
    ids = [f"d{i}" for i in range(60)]
    grades = {
        f"t{t}": {i: rng.choice([0, 1, 1, 2, 4]) for i in rng.sample(ids, 4)}
        for t in range(5)
    }
    scores = {
        f"t{t}": {i: float(rng.randint(0, 40)) for i in rng.sample(ids, 50)}
        for t in range(4)
    }
    return scores, grades


def score_slowly(scores, by_id):
    """One topic as trec_eval defines its measures, document by document."""
    order = sorted(scores, key=lambda i: (scores[i], i), reverse=True)
    grades = [by_id.get(i, 0) for i in order]
    relevant = sum(g > 0 for g in by_id.values())
    ideal = sorted((g for g in by_id.values() if g > 0), reverse=True)
    hits, precisions, first = 0, 0.0, 0.0
    for rank, grade in enumerate(grades, start=1):
        if grade > 0:
            hits += 1
            precisions += hits / rank
            first = first or 1 / rank

    def gain(found):
        return sum(g / math.log2(rank + 1) for rank, g in enumerate(found, start=1))

    def divide(a, b):
        return a / b if b else 0.0

    return {
        "nDCG@10": divide(gain(grades[:10]), gain(ideal[:10])),
        "MAP": divide(precisions, relevant),
        "recall@100": divide(sum(g > 0 for g in grades[:100]), relevant),
        "MRR": first,
        "P@10": sum(g > 0 for g in grades[:10]) / 10,
        "nDCG": divide(gain(grades), gain(ideal)),
    }


def test_random_runs_score_as_the_definitions_say():
    rng = random.Random(2)
    for _ in range(200):
        scores, grades = draw(rng)
        found = evaluate_run(Run.from_scores("r", scores), Qrels(grades), PLAIN)
        slow = [score_slowly(scores.get(t, {}), grades[t]) for t in grades]
        for name in NAMES:
            column = [topic[name] for topic in slow]
            np.testing.assert_allclose(found.column(name), column, atol=1e-12)


def test_random_runs_score_as_trec_eval_says():
    pytrec_eval = pytest.importorskip("pytrec_eval")  # no wheels but for x86-64
    rng = random.Random(3)
    for _ in range(200):
        scores, grades = draw(rng)
        found = evaluate_run(Run.from_scores("r", scores), Qrels(grades), PLAIN)
        kinds = {"ndcg_cut", "map", "recall", "recip_rank", "P", "ndcg"}
        evaluator = pytrec_eval.RelevanceEvaluator(grades, kinds)
        totals: Counter[str] = Counter()
        for values in evaluator.evaluate(scores).values():
            totals.update({n: values[key] for n, key in NAMES.items()})
        expected = {n: totals[n] / len(grades) for n in NAMES}
        means = {n: found.mean(n) for n in NAMES}
        assert means == pytest.approx(expected, abs=1e-9)


def test_grade_1_is_relevant_and_unjudged_documents_stay():
    found = evaluate_run(RUN, QRELS, PLAIN)
    assert found.mean("MAP") == pytest.approx((0.25 + 1) / 2)
    assert found.mean("MRR") == pytest.approx((0.5 + 1) / 2)
    assert {m.relevant_from for m in PLAIN.measures} == {1}


def test_the_floor_is_a_random_order_of_all_documents():
    """Judgments of only relevant documents are perfect in any order."""
    few = evaluate_run(RUN, QRELS, PLAIN).summarise()["MRR"]
    # Of the four documents that run and qrels name, one or two are relevant.
    first = np.mean([1, 1 / 2, 1 / 3, 1 / 4])
    second = (2 / 4) + (2 / 4) * (2 / 3) / 2 + (2 / 4) * (1 / 3) / 3
    assert few.floor == pytest.approx((first + second) / 2)
    many = evaluate_run(RUN, QRELS, PLAIN, num_documents=10_000).summarise()
    assert many["nDCG@10"].floor < 0.002
    assert many["nDCG@10"].ceiling == 1


def test_binary_judgments_scored_as_arqmath_are_told():
    found = evaluate_run(RUN, QRELS, protocol_of("1"))
    assert found.mean("MAP'") == 0
    (told,) = [f for f in found.findings if f.code == "no_relevant_grade"]
    assert told.level == "warning"
    assert "reaches 2" in told.message
    assert "MAP', P'@10, Bpref" in told.message
    assert "nDCG'" not in told.message
    assert "--task trec" in told.message
    assert "MAP'(rel=1)" in told.message


def test_judgments_of_nothing_relevant_are_told_under_any_protocol():
    qrels = Qrels({"1": {"a": 0}, "2": {"c": 0}})
    codes = {f.code: f for f in evaluate_run(RUN, qrels, PLAIN).findings}
    assert "fourth column" in codes["no_relevant_grade"].message


def test_sparse_judgments_are_no_sign_of_other_ids():
    """Topics have neighbours that are judged for others, and few hits of their own."""
    ids = [f"d{i}" for i in range(200)]
    grades = {f"t{t}": {ids[t]: 1} for t in range(100)}
    hit = {f"t{t}": ids[t : t + 10] for t in range(50)}
    missed = {f"t{t}": ids[t + 1 : t + 11] for t in range(50, 100)}
    scores = {
        t: {i: 10.0 - n for n, i in enumerate(found)}
        for t, found in (hit | missed).items()
    }
    codes = {
        f.code
        for f in evaluate_run(
            Run.from_scores("r", scores), Qrels(grades), PLAIN
        ).findings
    }
    assert "id_space" not in codes
    wrong = {t: {f"d{(int(t[1:]) * 7 + 50) % 200}": 1.0} for t in scores}
    wrong = {
        t: by_id | {f"x{t}{n}": 0.5 for n in range(9)} for t, by_id in wrong.items()
    }
    codes = {
        f.code
        for f in evaluate_run(
            Run.from_scores("r", wrong), Qrels(grades), PLAIN
        ).findings
    }
    assert "id_space" in codes
