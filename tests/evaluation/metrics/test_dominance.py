"""Scores on topics whose formulas outweigh words."""

from __future__ import annotations

from dataclasses import replace

import pytest

from mathamr_kedro.base.errors import ConfigurationError
from mathamr_kedro.evaluation.metrics import MathDominance, evaluate_run, protocol_of
from mathamr_kedro.trec import Qrels, Run

GRADES = {
    "A.1": {"a": 3, "b": 2, "c": 0},
    "A.2": {"a": 2, "d": 3},
    "A.3": {"c": 2, "d": 0},
}
LISTS = {
    "A.1": {"a": 3.0, "c": 2.0},  # b is lost
    "A.2": {"d": 2.0, "x": 1.0},  # a is lost
    "A.3": {"d": 2.0, "c": 1.0},
}
TOPICS = {"A.1": 0.2, "A.2": 0.55, "A.3": 0.8}
DOCUMENTS = {"a": 0.9, "b": 0.1, "c": 0.65, "d": 0.5}
PROTOCOL = protocol_of("1").with_measures(["nDCG'", "P'@10"])


@pytest.fixture
def dominance() -> MathDominance:
    return MathDominance(TOPICS, DOCUMENTS)


def test_topics_above_each_threshold_are_averaged(dominance) -> None:
    evaluation = evaluate_run(Run.from_scores("r", LISTS), Qrels(GRADES), PROTOCOL)
    groups = dominance.by_query(evaluation)
    by_topic = dict(zip(evaluation.topics, evaluation.column("nDCG'"), strict=True))
    assert [(g.value, g.num_topics) for g in groups] == [
        ("all", 3), (">50 %", 2), (">60 %", 1), (">70 %", 1),
    ]  # fmt: skip
    for group, least in zip(groups, (-1, 0.5, 0.6, 0.7), strict=True):
        chosen = [by_topic[t] for t, share in TOPICS.items() if share > least]
        mean = sum(chosen) / len(chosen)
        assert group.summaries["nDCG'"].score == pytest.approx(mean)


def recall_slowly(least: float) -> tuple[int, float]:
    """Mean over topics of the share of relevant answers above that were found."""
    recalls = []
    for topic, by_id in GRADES.items():
        relevant = [d for d, g in by_id.items() if g >= 2 and DOCUMENTS[d] > least]
        if relevant:
            found = [d for d in relevant if d in LISTS[topic]]
            recalls.append(len(found) / len(relevant))
    return len(recalls), sum(recalls) / len(recalls)


def test_recall_of_answers_above_each_threshold_as_its_slow_twin(dominance) -> None:
    groups = dominance.by_document(Run.from_scores("r", LISTS), Qrels(GRADES), PROTOCOL)
    assert [g.value for g in groups] == ["all", ">50 %", ">60 %", ">70 %"]
    for group, least in zip(groups, (-1, 0.5, 0.6, 0.7), strict=True):
        number, mean = recall_slowly(least)
        assert group.num_topics == number
        assert group.summaries["recall@1000"].score == pytest.approx(mean)


def test_a_topic_without_results_counts_as_nothing_found(dominance) -> None:
    run = Run.from_scores("r", {"A.1": LISTS["A.1"]})
    groups = dominance.by_document(run, Qrels(GRADES), PROTOCOL)
    assert (groups[0].num_topics, groups[0].summaries["recall@1000"].score) == (
        3, pytest.approx(0.5 / 3),
    )  # fmt: skip


def test_no_relevant_answer_above_is_no_row() -> None:
    groups = MathDominance(TOPICS, DOCUMENTS, (0.95,)).by_document(
        Run.from_scores("r", LISTS), Qrels(GRADES), PROTOCOL
    )
    assert [g.value for g in groups] == ["all"]


def test_a_threshold_is_a_share() -> None:
    with pytest.raises(ConfigurationError, match="of at least 0 and below 1"):
        MathDominance({}, {}, (50,))
    with pytest.raises(ConfigurationError, match=r"got \(0\.5, 1\.0\)"):
        MathDominance({}, {}, (0.5, 1.0))
    assert MathDominance({}, {}, (0.0,)).thresholds == (0.0,)


def test_without_a_depth_recall_goes_to_the_end_of_the_longest_list(dominance) -> None:
    plain = replace(PROTOCOL, depth=None)
    groups = dominance.by_document(Run.from_scores("r", LISTS), Qrels(GRADES), plain)
    assert list(groups[0].summaries) == ["recall@2"]
    (group, *_) = dominance.by_document(Run("r", {}), Qrels(GRADES), plain)
    assert group.summaries["recall@1"].score == 0.0
