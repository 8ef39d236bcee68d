"""Whole runs against trec_eval, means, anchors, break-downs."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from mathamr_kedro.base.errors import ConfigurationError, MalformedInputError
from mathamr_kedro.base.hits import Hits
from mathamr_kedro.evaluation.metrics import evaluate_run, protocol_of
from mathamr_kedro.trec import Qrels, Run

TASK1 = protocol_of("1")
TREC = {
    "nDCG'": "ndcg", "MAP'": "map", "P'@10": "P_10", "Bpref": "bpref",
    "nDCG'@10": "ndcg_cut_10", "P'@5": "P_5", "recall'@100": "recall_100",
    "nDCG@10": "ndcg_cut_10", "MAP": "map", "P@10": "P_10", "recall@5": "recall_5",
    "nDCG": "ndcg", "MRR": "recip_rank", "MRR'": "recip_rank",
}  # fmt: skip


def draw(rng: random.Random):
    """Draw a run with ties, repeats and missing topics, as lines of a file."""
    pool = [str(rng.randrange(10**6)) for _ in range(40)]
    ties = rng.choice([1, 3, 10**6])
    lines: dict[str, list[tuple[str, float]]] = {}
    grades: dict[str, dict[str, int]] = {}
    for t in range(rng.randint(1, 5)):
        judged = rng.sample(pool, rng.randint(1, 30))
        top = rng.choice([0, 1, 3, 3, 3])
        grades[f"A.{t}"] = {i: rng.randint(0, top) for i in judged}
        if rng.random() < 0.2:
            continue
        returned = rng.choices(pool, k=rng.randint(0, 40))
        lines[f"A.{t}"] = [
            (i, rng.randint(0, ties) / 7 + rng.choice([0, 1e-10])) for i in returned
        ]
    if lines:
        lines["A.99"] = [(pool[0], 1.0)]
    return lines, grades


def as_run(lines) -> Run:
    return Run(
        "r",
        {
            topic: Hits(
                [i for i, _ in rows],
                np.array([score for _, score in rows], dtype=float),
            )
            for topic, rows in lines.items()
        },
    )


def first_lines(lines):
    """The run as a mapping; a repeated document keeps its first line."""
    kept: dict[str, dict[str, float]] = {}
    for topic, rows in lines.items():
        for i, score in rows:
            kept.setdefault(topic, {}).setdefault(i, score)
    return kept


def by_trec_eval(scores, grades, names):
    """Mean over all judged topics, a missing one counting zero."""
    prime = {
        t: {i: s for i, s in by_id.items() if i in grades.get(t, {})}
        for t, by_id in scores.items()
    }
    totals: Counter[str] = Counter()
    for is_prime, run in ((True, prime), (False, scores)):
        wanted = {n: TREC[n] for n in names if ("'" in n or n == "Bpref") == is_prime}
        if not wanted:
            continue
        measures = {"ndcg", "map", "bpref", "P", "ndcg_cut", "recall", "recip_rank"}
        pytrec_eval = pytest.importorskip("pytrec_eval")  # no wheels but for x86-64
        evaluator = pytrec_eval.RelevanceEvaluator(grades, measures, relevance_level=2)
        for values in evaluator.evaluate({t: r for t, r in run.items() if r}).values():
            totals.update({n: values[key] for n, key in wanted.items()})
    return {n: totals[n] / len(grades) for n in names}


def test_random_runs_score_as_trec_eval_says():
    rng = random.Random(8)
    protocol = TASK1.with_measures(TREC)
    seen: Counter[str] = Counter()
    for _ in range(1000):
        lines, grades = draw(rng)
        evaluation = evaluate_run(as_run(lines), Qrels(grades), protocol)
        expected = by_trec_eval(first_lines(lines), grades, TREC)
        means = {n: s.score for n, s in evaluation.summarise().items()}
        assert means == pytest.approx(expected, abs=1e-9)
        seen.update(finding.code for finding in evaluation.findings)
    # the draw holds what it is meant to hold
    assert min(seen[c] for c in ("ties", "repeats", "missing_topics")) > 100
    assert seen["rounding_ties"] > 100


def test_depth_cuts_in_the_order_of_trec_eval():
    rng = random.Random(9)
    protocol = replace(TASK1.with_measures(TREC), depth=7)
    for _ in range(100):
        lines, grades = draw(rng)
        cut = {
            t: dict(
                sorted(by_id.items(), key=lambda p: (np.float32(p[1]), p[0]))[::-1][:7]
            )
            for t, by_id in first_lines(lines).items()
        }
        evaluation = evaluate_run(as_run(lines), Qrels(grades), protocol)
        expected = by_trec_eval(cut, grades, TREC)
        means = {n: s.score for n, s in evaluation.summarise().items()}
        assert means == pytest.approx(expected, abs=1e-9)


def test_random_runs_score_as_ir_measures_says():
    # its Judged@10 breaks ties in another way than trec_eval: scores are distinct
    ir_measures = pytest.importorskip("ir_measures")
    pytest.importorskip("pytrec_eval")  # computes most of them
    from ir_measures import AP, RR, Bpref, Judged, P, R, nDCG

    rng = random.Random(10)
    wanted = {
        "nDCG'": nDCG(judged_only=True), "MAP'": AP(rel=2, judged_only=True),
        "P'@10": P(rel=2, judged_only=True) @ 10, "Bpref": Bpref(rel=2),
        "judged@10": Judged @ 10, "recall@5": R(rel=2) @ 5, "MRR": RR(rel=2),
    }  # fmt: skip
    protocol = TASK1.with_measures(wanted)
    for _ in range(30):
        _, grades = draw(rng)
        pool = sorted({i for by_id in grades.values() for i in by_id} | {"x", "y"})
        scores = {
            t: {i: float(s) for s, i in enumerate(rng.sample(pool, len(pool)))}
            for t in grades
        }
        expected = ir_measures.calc_aggregate(wanted.values(), grades, scores)
        evaluation = evaluate_run(Run.from_scores("r", scores), Qrels(grades), protocol)
        for name, measure in wanted.items():
            assert evaluation.mean(name) == pytest.approx(expected[measure], abs=1e-9)


def test_example_of_the_documentation_holds():
    qrels = Qrels({"A.1": {"17": 3, "90": 1, "2": 2, "55": 0}})
    run = Run.from_scores("r", {"A.1": {"17": 5, "4": 4, "90": 3, "2": 2, "33": 1}})
    expected = {"P'@10": 0.2, "MAP'": 0.8333, "nDCG'": 0.9725, "Bpref": 0.75,
                "judged@5": 0.6, "recall@1": 0.5}  # fmt: skip
    evaluation = evaluate_run(run, qrels, TASK1.with_measures(expected))
    for name, score in expected.items():
        assert evaluation.mean(name) == pytest.approx(score, abs=5e-5)


def test_all_judged_topics_count_or_those_with_a_relevant_document():
    qrels = Qrels({"A.1": {"1": 3}, "A.2": {"1": 2}, "A.3": {"1": 1}})
    run = Run.from_scores("r", {"A.1": {"1": 1.0}, "A.3": {"1": 1.0}})
    assert evaluate_run(run, qrels, TASK1).mean("MAP'") == pytest.approx(1 / 3)
    relevant = replace(TASK1, average="relevant")
    assert evaluate_run(run, qrels, relevant).mean("MAP'") == pytest.approx(1 / 2)


def test_each_level_of_relevance_has_its_own_topics():
    qrels = Qrels({"NTCIR12-MathWiki-1": {"a:1": 4}, "NTCIR12-MathWiki-2": {"a:1": 1}})
    run = Run.from_scores("r", {"NTCIR12-MathWiki-1": {"a:1": 1.0}})
    protocol = replace(protocol_of("ntcir"), average="relevant")
    evaluation = evaluate_run(run, qrels, protocol)
    assert evaluation.mean("Bpref full") == 1.0
    assert evaluation.mean("Bpref partial") == 0.5


def test_scores_stand_between_their_anchors():
    qrels = Qrels({"A.1": {str(i): i % 4 for i in range(40)}})
    ideal = sorted(qrels.grades["A.1"], key=lambda i: qrels.grades["A.1"][i])
    best = Run.from_scores("best", {"A.1": {i: float(s) for s, i in enumerate(ideal)}})
    worst = Run.from_scores(
        "worst", {"A.1": {i: -float(s) for s, i in enumerate(ideal)}}
    )
    top = evaluate_run(best, qrels, TASK1).summarise()
    low = evaluate_run(worst, qrels, TASK1).summarise()
    for name in ("nDCG'", "MAP'", "P'@10", "Bpref"):
        assert top[name].score == pytest.approx(top[name].ceiling)
        assert low[name].score < low[name].floor < top[name].score
        # the whole pool came back: its own shuffle is the pool's shuffle
        assert top[name].shuffled == pytest.approx(top[name].floor)


@pytest.mark.parametrize("depth", [1, 3, 5, 40])
def test_ceiling_is_what_the_best_list_of_that_depth_reaches(depth):
    """A list may hold no more documents than the depth: nor may the ideal one."""
    qrels = Qrels({"A.1": {str(i): i % 4 for i in range(40)}, "A.2": {"x": 3}})
    best = {
        topic: {i: float(grade) for i, grade in grades.items()}
        for topic, grades in qrels.grades.items()
    }
    protocol = replace(TASK1, depth=depth)
    summary = evaluate_run(Run.from_scores("best", best), qrels, protocol).summarise()
    for name, figures in summary.items():
        assert figures.score == pytest.approx(figures.ceiling), name
    # 20 documents have a grade of 2 or 3; P'@10 divides by ten all the same.
    assert summary["P'@10"].ceiling == pytest.approx((min(depth, 10) + 1) / 20)
    assert summary["MAP'"].ceiling == pytest.approx((min(depth, 20) / 20 + 1) / 2)


def test_anchors_are_means_over_random_orders_of_the_pool():
    rng = np.random.default_rng(4)
    grades = {str(i): int(g) for i, g in enumerate(rng.integers(0, 4, 30))}
    qrels = Qrels({"A.1": grades})
    protocol = replace(TASK1, depth=12)
    runs = (
        Run.from_scores(
            "r", {"A.1": dict(zip(grades, rng.permutation(30) + 1.0, strict=True))}
        )
        for _ in range(800)
    )
    drawn = np.array([evaluate_run(run, qrels, protocol).scores[0] for run in runs])
    floors = evaluate_run(Run.from_scores("r", {}), qrels, protocol).floors[0]
    error = drawn.std(axis=0) / np.sqrt(len(drawn))
    assert (np.abs(drawn.mean(axis=0) - floors) <= 4.5 * error + 1e-12).all()


def test_topics_are_broken_down_by_kind():
    qrels = Qrels({f"A.{t}": {"1": 3, "2": 0} for t in range(1, 5)})
    run = Run.from_scores("r", {"A.1": {"1": 1.0}, "A.2": {"1": 1.0}})
    info = {
        "A.1": {"category": "Proof", "difficulty": "High"},
        "A.2": {"category": "Concept", "difficulty": "Low"},
        "A.3": {"category": "Proof", "difficulty": "Medium"},
    }
    groups = evaluate_run(run, qrels, TASK1).break_down(info)
    assert [(g.dimension, g.value, g.num_topics) for g in groups] == [
        ("category", "Concept", 1), ("category", "Proof", 2),
        ("difficulty", "Low", 1), ("difficulty", "Medium", 1),
        ("difficulty", "High", 1),
    ]  # fmt: skip
    assert [g.summaries["MAP'"].score for g in groups] == [1.0, 0.5, 1.0, 0.0, 1.0]


def test_one_column_has_one_score_per_topic():
    qrels = Qrels({"A.2": {"1": 3}, "A.1": {"1": 2}})
    evaluation = evaluate_run(Run.from_scores("r", {"A.1": {"1": 1.0}}), qrels, TASK1)
    assert evaluation.topics == ("A.2", "A.1")
    assert evaluation.column("MAP'").tolist() == [0.0, 1.0]


def test_formula_instances_need_visual_ids():
    run = replace(Run.from_scores("r", {"B.1": {"501": 1.0}}), holds_instances=True)
    with pytest.raises(ConfigurationError, match=r"formula ids.*--visual-ids"):
        evaluate_run(run, Qrels({"B.1": {"7": 3}}), protocol_of("2"))


@pytest.mark.parametrize(
    ("topic", "judged", "task", "message"),
    [
        ("A.301", "A.1", "1", r"No topic.*'A.301'.*'A.1'.*ARQMath-3 x.301"),
        ("A.1", "B.1", "1", r"Expected qrels of task 1, topics A.x \(got 'B.1'"),
        ("B.1", "A.1", "2", r"Expected qrels of task 2, topics B.x \(got 'A.1'"),
    ],
)
def test_run_and_qrels_of_different_tasks_or_years_are_refused(
    topic, judged, task, message
):
    with pytest.raises(MalformedInputError, match=message):
        evaluate_run(
            Run.from_scores("r", {topic: {"1": 1.0}}), Qrels({judged: {"1": 3}}),
            protocol_of(task),
        )  # fmt: skip
