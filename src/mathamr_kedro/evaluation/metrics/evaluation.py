"""Evaluation of a run: scores by topic with floor and ceiling, means, break-downs.

Each score has three anchors, all exact:

- ``floor``: all judged documents of the topic in a random order, on average. Re-ranking
  the judged pool by a coin already gives nDCG' 0.57 in ARQMath-3 Task 1. If judgments
  are not those of a pool (protocol ``trec``), all known documents of the collection are
  used, as a random order of only the relevant ones would be perfect.
- ``shuffled``: the run's own results in a random order; it separates the merit of the
order from that of finding the documents.
- ``ceiling``: all judged documents in the ideal order; P'@10 cannot reach 1 if a
  topic has fewer than ten relevant documents.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from mathamr_kedro.base.errors import ConfigurationError, MalformedInputError
from mathamr_kedro.base.formatting import format_score
from mathamr_kedro.base.types import TopicId
from mathamr_kedro.evaluation.metrics.diagnostics import Finding, diagnose
from mathamr_kedro.evaluation.metrics.measures import (
    UNJUDGED,
    GradeArray,
    Measure,
    look_up_grades,
    sort_ideally,
)
from mathamr_kedro.evaluation.metrics.protocols import Protocol
from mathamr_kedro.evaluation.metrics.rankings import FloatArray, Rankings
from mathamr_kedro.trec import DIMENSIONS, Qrels, Run, VisualIds


class Summary(NamedTuple):
    """Mean of one measure over topics, with its anchors."""

    score: float
    floor: float
    shuffled: float
    ceiling: float


class Group(NamedTuple):
    """The topics of one kind, e.g. all proofs, and their means."""

    dimension: str
    value: str
    num_topics: int
    summaries: dict[str, Summary]


@dataclass(frozen=True)
class Evaluation:
    """The scores of one run; arrays have the shape (topics, measures)."""

    run_name: str
    protocol: Protocol
    topics: tuple[TopicId, ...]
    """All judged topics, in the order of the qrels."""
    scores: FloatArray
    floors: FloatArray
    shuffled: FloatArray
    ceilings: FloatArray
    counted: npt.NDArray[np.bool_]
    """Whether a topic counts in the mean of a measure."""
    findings: tuple[Finding, ...]

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The measures, one per column."""
        return self.protocol.measures

    def summarise(
        self, rows: npt.NDArray[np.bool_] | None = None
    ) -> dict[str, Summary]:
        """Return the means by measure, over all topics or over some ``rows``."""
        counted = self.counted if rows is None else self.counted & rows[:, None]
        anchors = (self.scores, self.floors, self.shuffled, self.ceilings)
        number = np.maximum(counted.sum(axis=0), 1)
        means = [np.where(counted, v, 0.0).sum(axis=0) / number for v in anchors]
        names = [measure.name for measure in self.measures]
        return {
            name: Summary(*(float(m[i]) for m in means)) for i, name in enumerate(names)
        }

    def mean(self, measure: str) -> float:
        """Return the mean score of one measure, by name."""
        return self.summarise()[measure].score

    def column(self, measure: str) -> FloatArray:
        """Return one score per topic, by name of the measure."""
        return self.scores[:, [m.name for m in self.measures].index(measure)]

    def break_down(self, notes: Mapping[TopicId, Mapping[str, str]]) -> list[Group]:
        """Return means by kind of topic, from the notes about topics."""
        groups = []
        for dimension in DIMENSIONS:
            values = [notes.get(t, {}).get(dimension, "") for t in self.topics]
            for value in sorted(set(values) - {""}, key=_by_size):
                rows = np.array([v == value for v in values])
                means = self.summarise(rows)
                groups.append(Group(dimension, value, int(rows.sum()), means))
        return groups


def evaluate_run(
    run: Run,
    qrels: Qrels,
    protocol: Protocol,
    visual_ids: VisualIds | None = None,
    corpus_ids: Collection[str] | None = None,
    num_documents: int | None = None,
) -> Evaluation:
    """Score a run by a task's protocol.

    Args:
        run: results of the system.
        qrels: judgments of the assessors.
        protocol: see :func:`mathamr_kedro.evaluation.metrics.protocols.protocol_of`.
        visual_ids: Task 2: visual ids of the run's formulas; absent when the run
            already holds visual ids.
        corpus_ids: all ids a system could return, to report unknown ones.
        num_documents: how many documents a system could return; those that the run, the
            qrels or ``corpus_ids`` name when absent.

    Raises:
        ConfigurationError: a run of formula instances comes without visual ids.
        MalformedInputError: run and qrels have no topic in common, or are of another
            task.
    """
    _check_topics(run, qrels, protocol)
    if run.holds_instances and visual_ids is None:
        raise ConfigurationError(
            f"Expected visual ids for {run.source or run.name}, which holds formula "
            "ids (an ARQMath Task 2 submission), while visual ids are judged; give the "
            "formula index (--visual-ids), or say that it is in TREC form (--format)"
        )
    rankings = Rankings.of(run, qrels.grades, protocol, visual_ids)
    if num_documents is None and not protocol.pooled:
        names = set(corpus_ids or ())
        names.update(*qrels.grades.values(), *(h.ids for h in rankings.lists.values()))
        num_documents = len(names)
    tables = _score(rankings, qrels, protocol, num_documents)
    findings = diagnose(run, qrels, protocol, rankings, visual_ids, corpus_ids)
    evaluation = Evaluation(run.name, protocol, tuple(qrels.grades), *tables, findings)
    if protocol.use_rank:
        return evaluation
    by_rank = Rankings.of(
        run, qrels.grades, replace(protocol, use_rank=True), visual_ids
    )
    if all(by_rank.lists[t].ids == rankings.lists[t].ids for t in rankings.lists):
        return evaluation
    scores = _score_lists(by_rank, qrels, protocol.measures)
    other = replace(evaluation, scores=scores)
    return replace(
        evaluation, findings=(*findings, *_find_rank_effect(evaluation, other))
    )


def _score_lists(
    rankings: Rankings, qrels: Qrels, measures: tuple[Measure, ...]
) -> FloatArray:
    """Return the scores, shape (topics, measures); a missing topic has 0."""
    scores = np.zeros((len(qrels.grades), len(measures)))
    for row, (topic, by_id) in enumerate(qrels.grades.items()):
        if topic in rankings.lists:
            own = look_up_grades(rankings.lists[topic].ids, by_id)
            scores[row] = [m.score(own, _all_grades(by_id)) for m in measures]
    return scores


def _score(
    rankings: Rankings, qrels: Qrels, protocol: Protocol, num_documents: int | None
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray, npt.NDArray[np.bool_]]:
    measures, depth = protocol.measures, protocol.depth
    shape = (len(qrels.grades), len(measures))
    shuffled, ceilings = np.zeros(shape), np.zeros(shape)
    counted = np.ones(shape, dtype=bool)
    for row, (topic, by_id) in enumerate(qrels.grades.items()):
        judged = _all_grades(by_id)
        ideal = sort_ideally(judged)[:depth]
        ceilings[row] = [m.score(ideal, judged) for m in measures]
        if topic in rankings.lists:
            own = look_up_grades(rankings.lists[topic].ids, by_id)
            shuffled[row] = [m.expect(own, judged) for m in measures]
        if protocol.average == "relevant":
            counted[row] = [np.any(judged >= m.relevant_from) for m in measures]
    scores = _score_lists(rankings, qrels, measures)
    floors = _expect_floors(qrels, protocol, num_documents)
    return scores, floors, shuffled, ceilings, counted


def _expect_floors(
    qrels: Qrels, protocol: Protocol, num_documents: int | None
) -> FloatArray:
    """Return the expected scores of a random order, cached by grades."""
    total = 0 if protocol.pooled else num_documents or 0
    known: dict[bytes, list[float]] = {}
    floors = np.zeros((len(qrels.grades), len(protocol.measures)))
    for row, by_id in enumerate(qrels.grades.values()):
        judged = _all_grades(by_id)
        key = np.sort(judged).tobytes()
        if key not in known:
            others = np.full(max(total - judged.size, 0), UNJUDGED)
            every = np.append(judged, others)
            known[key] = [
                m.expect(every, judged, protocol.depth) for m in protocol.measures
            ]
        floors[row] = known[key]
    return floors


def _find_rank_effect(scored: Evaluation, by_rank: Evaluation) -> list[Finding]:
    ours, theirs = scored.summarise(), by_rank.summarise()
    name = max(ours, key=lambda n: abs(theirs[n].score - ours[n].score))
    before, after = ours[name].score, theirs[name].score
    if abs(after - before) < 0.00005:
        return []
    message = (
        f"the rank column gives another order: {name} would be {format_score(after)} "
        f"instead of {format_score(before)} "
        f"({format_score(after - before, signed=True)}) with --use-rank"
    )
    return [Finding("rank_column_differs", "note", 1, message)]


def _all_grades(by_id: Mapping[str, int]) -> GradeArray:
    return np.fromiter(by_id.values(), dtype=np.int64, count=len(by_id))


def _by_size(value: str) -> tuple[int, str]:
    known = ("low", "medium", "high")
    return (known.index(value.lower()) if value.lower() in known else 0, value)


def _check_topics(run: Run, qrels: Qrels, protocol: Protocol) -> None:
    other = {"1": "B.", "2": "A."}.get(protocol.task)
    if other and all(topic.startswith(other) for topic in qrels.grades):
        raise MalformedInputError(
            f"Expected qrels of task {protocol.task}, topics {protocol.topic_prefix}x "
            f"(got {next(iter(qrels.grades))!r} in {qrels.source or 'the qrels'})"
        )
    if run.lists and not run.lists.keys() & qrels.grades.keys():
        raise MalformedInputError(
            f"No topic of {run.source or run.name} is judged: it has "
            f"{_span(run.lists)}, {qrels.source or 'the qrels'} "
            f"{_span(qrels.grades)}; ARQMath-1 has x.1 to x.100, ARQMath-2 x.201 to "
            "x.300, ARQMath-3 x.301 to x.400"
        )


def _span(topics: Collection[TopicId]) -> str:
    names = list(topics)
    return repr(names[0]) if len(names) == 1 else f"{names[0]!r} to {names[-1]!r}"
