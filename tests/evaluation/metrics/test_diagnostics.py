"""What is odd about a run: findings, and ids that name something else."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from mathamr_kedro.base.hits import Hits
from mathamr_kedro.evaluation.metrics import evaluate_run, protocol_of
from mathamr_kedro.trec import Qrels, Run, VisualIds

TASK1 = protocol_of("1")
QRELS = Qrels({"A.1": {"1": 3, "2": 0, "3": 2}, "A.2": {"1": 2, "4": 0}})
TASK1, TASK2, NTCIR = (protocol_of(task) for task in ("1", "2", "ntcir"))


def run_of(**topics):
    """Topics as A_1=[(id, rank, score), ...]."""
    lists, all_ranks = {}, {}
    for name, lines in topics.items():
        topic = name.replace("_", ".")
        ids, ranks, scores = zip(*lines, strict=True)
        lists[topic] = Hits(list(ids), np.array(scores, dtype=float))
        all_ranks[topic] = np.array(ranks)
    return Run("r", lists, all_ranks)


def findings(run, qrels=QRELS, protocol=TASK1):
    return {f.code: f for f in evaluate_run(run, qrels, protocol).findings}


def test_a_clean_run_over_the_corpus_has_no_findings():
    lines = [(str(i), i, 1 / i) for i in range(1, 30)]
    assert findings(run_of(A_1=lines, A_2=lines)) == {}


def test_missing_topics_count_zero_and_are_named():
    found = findings(Run.from_scores("r", {"A.1": {"1": 1.0, "x": 0.5}}))
    assert found["missing_topics"].examples == ("A.2",)
    assert found["missing_topics"].level == "warning"


def test_topics_nobody_judged_are_named():
    both = {"1": 1.0, "x": 0.5}
    found = findings(Run.from_scores("r", {"A.1": both, "A.2": both, "A.7": both}))
    assert found["unjudged_topics"].examples == ("A.7",)


def test_topics_with_unjudged_results_only_are_named():
    found = findings(
        Run.from_scores("r", {"A.1": {"1": 1.0}, "A.2": {"x": 1.0, "y": 0.5}})
    )
    assert found["topics_without_judged_result"].examples == ("A.2",)


def test_repeats_and_depth_are_counted():
    lines = [("1", 1, 3), ("2", 2, 2), ("1", 3, 1), ("x", 4, 0.5), ("y", 5, 0.4)]
    found = findings(run_of(A_1=lines, A_2=lines), protocol=replace(TASK1, depth=3))
    assert found["repeats"].count == 2
    assert found["too_deep"].count == 2


def test_ties_are_counted_in_all_and_among_judged_results():
    lines = [("1", 1, 1.0), ("2", 2, 1.0), ("x", 3, 0.5), ("y", 4, 0.5 + 1e-12)]
    found = findings(run_of(A_1=lines, A_2=[("1", 1, 1.0), ("z", 2, 0.5)]))
    assert found["ties"].count == 2
    assert "1 among judged" in found["ties"].message
    assert found["rounding_ties"].count == 1


def test_effect_of_the_rank_column_is_stated():
    lines = [("1", 1, 1.0), ("2", 2, 1.0), ("x", 3, 0.5)]  # trec_eval puts 2 first
    found = findings(run_of(A_1=lines, A_2=lines))
    assert "would be" in found["rank_column_differs"].message
    by_rank = findings(
        run_of(A_1=lines, A_2=lines), protocol=replace(TASK1, use_rank=True)
    )
    assert not {"ties", "rank_column_differs"} & by_rank.keys()


def test_distances_given_as_scores_are_noticed():
    lines = [("1", 1, 0.1), ("2", 2, 0.2), ("x", 3, 0.9)]
    assert findings(run_of(A_1=lines, A_2=lines))["rising_scores"].count == 2
    falling = [(i, rank, -score) for i, rank, score in lines]
    assert "rising_scores" not in findings(run_of(A_1=falling, A_2=falling))


def test_a_run_of_the_judged_pool_is_labelled():
    run = Run.from_scores(
        "r", {"A.1": {"1": 3, "2": 2, "3": 1}, "A.2": {"1": 2, "4": 1}}
    )
    assert "5 of 5 results are judged" in findings(run)["pool_only"].message


def test_left_out_lines_are_reported():
    run = replace(Run.from_scores("r", {"A.1": {"1": 3, "x": 2}}), num_bad_lines=4)
    assert findings(run)["bad_lines"].count == 4
    qrels = replace(QRELS, num_unjudged_lines=7)
    assert findings(run, qrels)["lines_without_judgment"].count == 7


def test_warnings_come_before_notes():
    lines = [("1", 1, 1.0), ("1", 2, 1.0), ("2", 3, 1.0), ("x", 4, 0.5)]
    levels = [f.level for f in evaluate_run(run_of(A_1=lines), QRELS, TASK1).findings]
    assert levels == sorted(levels, reverse=True)
    assert {"warning", "note"} == set(levels)


@pytest.mark.parametrize("topics", [{}, {"A.1": {}, "A.2": {}}])
def test_an_empty_run_scores_zero(topics):
    evaluation = evaluate_run(Run.from_scores("r", topics), QRELS, TASK1)
    assert evaluation.mean("nDCG'") == 0.0
    assert evaluation.summarise()["nDCG'"].floor > 0


RISING = [("1", 1, 0.1), ("2", 2, 0.2), ("x", 3, 0.9)]


@pytest.mark.parametrize(
    "lines",
    [
        RISING[:2],  # two results rise by chance
        [(i, rank, 0.5) for i, rank, _ in RISING],
        [("1", 1, 0.1), ("2", 2, 0.2), ("x", 3, 0.15)],
    ],
    ids=["two", "equal", "up and down"],
)
def test_scores_rise_where_three_or_more_never_fall(lines):
    assert "rising_scores" not in findings(run_of(A_1=lines, A_2=lines))
    flat = [("1", 1, 0.1), ("2", 2, 0.1), ("x", 3, 0.2)]
    assert "rising_scores" in findings(run_of(A_1=flat, A_2=flat))


@pytest.mark.parametrize(("unjudged", "is_pool"), [(1, True), (2, False)])
def test_a_run_is_of_the_pool_where_19_of_20_results_are_judged(unjudged, is_pool):
    qrels = Qrels({"A.1": {str(n): n % 4 for n in range(20 - unjudged)}})
    run = Run.from_scores("r", {"A.1": {str(n): -float(n) for n in range(20)}})
    found = findings(run, qrels)
    assert ("pool_only" in found) == is_pool


def test_judgments_that_nothing_is_relevant_by_are_explained():
    run = Run.from_scores("r", {"A.1": {"1": 1.0, "x": 0.5}})
    found = findings(run, Qrels({"A.1": {"1": 1, "2": 0}}))["no_relevant_grade"]
    blind = [m for m in TASK1.measures if m.uses_threshold]
    assert (found.level, found.count) == ("warning", len(blind))
    assert "no grade of the qrels reaches 2" in found.message
    assert "MAP'(rel=1)" in found.message
    found = findings(run, Qrels({"A.1": {"1": 0}}))["no_relevant_grade"]
    assert "(the highest is 0)" in found.message
    assert "check the fourth column" in found.message
    assert "no_relevant_grade" not in findings(run, Qrels({"A.1": {"1": 2}}))


def test_the_measure_that_ranks_change_most_is_named():
    """By ranks the relevant one comes first: its reciprocal rank doubles."""
    lines = [("1", 1, 0.1), ("2", 2, 0.9), ("x", 3, 0.05)]
    protocol = TASK1.with_measures(["recall@1000", "P'@10", "MRR", "nDCG'"])
    found = findings(run_of(A_1=lines, A_2=lines), protocol=protocol)
    message = found["rank_column_differs"].message
    assert "MRR would be 1.0000 instead of 0.5000 (+0.5000) with --use-rank" in message


def codes(run, qrels, protocol, **options):
    evaluation = evaluate_run(run, qrels, protocol, **options)
    return {finding.code: finding for finding in evaluation.findings}


def topics(prefix, ids_of, count=5):
    return {f"{prefix}{t}": {i: 2 for i in ids_of(t)} for t in range(count)}


def test_hits_on_no_topic_look_like_another_numbering():
    qrels = Qrels(topics("B.", lambda t: [str(100 * t + i) for i in range(20)]))
    run = Run.from_scores(
        "r", topics("B.", lambda t: [str(9000 + i) for i in range(10)])
    )
    found = codes(run, qrels, TASK2)["id_space"]
    assert found.level == "warning"
    assert "only 0 of the 50 results" in found.message
    assert "formula ids against visual ids" in found.message


def test_hits_on_any_topic_alike_look_like_another_numbering():
    qrels = Qrels(topics("A.", lambda t: [str(100 * t + i) for i in range(20)]))
    # every list holds one document that is judged, but for the next topic
    run = Run.from_scores(
        "r",
        topics(
            "A.", lambda t: [str(100 * ((t + 1) % 5)), *map(str, range(9000, 9009))]
        ),
    )
    assert "0 of the 50" in codes(run, qrels, TASK1)["id_space"].message
    assert "(5 for any topic)" in codes(run, qrels, TASK1)["id_space"].message


def test_few_hits_on_the_own_topic_are_no_reason_to_worry():
    qrels = Qrels(topics("A.", lambda t: [str(100 * t + i) for i in range(20)]))
    run = Run.from_scores(
        "r",
        {
            f"A.{t}": {i: 1.0 for i in [*map(str, range(9000, 9009)), str(100 * t)]}
            for t in range(4)
        },
    )
    assert "id_space" not in codes(run, qrels, TASK1)


def test_qrels_stripped_of_unicode_are_noticed():
    qrels = Qrels({"NTCIR12-MathWiki-1": {"RiemannSiegel:9": 4, "Golden_ratio:1": 0}})
    run = Run.from_scores(
        "r", {"NTCIR12-MathWiki-1": {"Riemann–Siegel:9": 2.0, "Golden_ratio:1": 1.0}}
    )
    found = codes(run, qrels, NTCIR)["stripped_names"]
    assert (found.count, found.examples) == (1, ("Riemann–Siegel:9",))


def test_size_of_the_2020_files_is_known():
    grades = {"B.1": {str(i): 2 for i in range(6437)}}
    run = Run.from_scores("r", {"B.1": {"5": 1.0}})
    assert "numbering_of_2020" in codes(run, Qrels(grades), TASK2)
    assert "numbering_of_2020" not in codes(
        Run.from_scores("r", {"A.1": {"5": 1.0}}), Qrels({"A.1": grades["B.1"]}), TASK1
    )


def test_formulas_outside_the_index_and_outside_the_posts_are_reported():
    index = VisualIds({"f1": "v1", "f2": "v2"}, frozenset({"v1"}), frozenset({"f2"}))
    qrels = Qrels({"B.1": {"v1": 3, "v7": 0, "v8": 0}})
    run = Run.from_scores("r", {"B.1": {"f1": 0.9, "f2": 0.8, "f3": 0.7}})
    found = codes(run, qrels, TASK2, visual_ids=index)
    assert found["unknown_formulas"].examples == ("f3",)
    assert found["not_retrievable"].examples == ("f2",)
    assert found["judged_not_in_index"].level == "warning"  # more than half
    assert found["judged_not_in_index"].count == 2
    assert "already_visual" not in found


def test_a_run_of_visual_ids_does_not_want_the_index():
    index = VisualIds({"v1": "x"}, frozenset({"v1", "v2"}), frozenset())
    qrels = Qrels({"B.1": {"v1": 3, "v2": 0}})
    run = Run.from_scores("r", {"B.1": {"v1": 0.9, "v2": 0.8}})
    found = codes(run, qrels, TASK2, visual_ids=index)
    assert "omit --visual-ids" in found["already_visual"].message


def test_corpus_tells_what_nobody_could_return():
    qrels = Qrels({"A.1": {"1": 3, "2": 0, "3": 2}})
    run = Run.from_scores("r", {"A.1": {"1": 0.9, "9": 0.8}})
    found = codes(run, qrels, TASK1, corpus_ids=["1", "2"])
    assert found["unknown_ids"].examples == ("9",)
    assert found["judged_not_in_corpus"].examples == ("3",)
    assert not {"unknown_ids", "judged_not_in_corpus"} & codes(run, qrels, TASK1).keys()
