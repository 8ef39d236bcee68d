"""Ids of a run against ids of the qrels."""

from __future__ import annotations

from mathamr_kedro.evaluation.metrics import evaluate_run, protocol_of
from mathamr_kedro.evaluation.metrics.diagnostics import count_chance_hits
from mathamr_kedro.evaluation.metrics.rankings import Rankings
from mathamr_kedro.trec import Qrels, Run, VisualIds

TASK1, TASK2, NTCIR = (protocol_of(task) for task in ("1", "2", "ntcir"))


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


def test_half_of_the_hits_on_the_own_topic_are_not_enough():
    """One list hits its own topic, another one the next."""
    qrels = Qrels(topics("A.", lambda t: [str(100 * t + i) for i in range(20)]))
    none = [str(i) for i in range(9000, 9010)]
    lists = [["0", *none[1:]], ["200", *none[1:]], none, none, none]
    run = Run.from_scores(
        "r", {f"A.{t}": dict.fromkeys(i, 1.0) for t, i in enumerate(lists)}
    )
    assert "id_space" in codes(run, qrels, TASK1)
    lists[1] = ["100", *none[1:]]
    run = Run.from_scores(
        "r", {f"A.{t}": dict.fromkeys(i, 1.0) for t, i in enumerate(lists)}
    )
    assert "id_space" not in codes(run, qrels, TASK1)


def test_half_of_the_judged_formulas_outside_the_index_are_noted():
    index = VisualIds({"f1": "v1"}, frozenset({"v1", "v2"}), frozenset())
    qrels = Qrels({"B.1": {"v1": 3, "v2": 0, "v7": 0, "v8": 0}})
    run = Run.from_scores("r", {"B.1": {"f1": 0.9}})
    found = codes(run, qrels, TASK2, visual_ids=index)["judged_not_in_index"]
    assert (found.level, found.count) == ("note", 2)


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


def test_one_document_is_met_by_chance_as_often_as_it_is_asked_for():
    run = Run.from_scores("r", {"A.1": {"1": 1.0}, "A.2": {"1": 1.0}})
    qrels = Qrels({"A.1": {"1": 1}, "A.2": {"1": 0}})
    assert count_chance_hits(qrels, Rankings.of(run, qrels.grades, TASK1)) == 2
