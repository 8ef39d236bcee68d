"""What is odd about a run: findings that explain a score or cast doubt on it."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import numpy as np

from mathamr_kedro.base.hits import Hits
from mathamr_kedro.base.types import TopicId
from mathamr_kedro.evaluation.metrics.findings import Finding, find
from mathamr_kedro.evaluation.metrics.id_spaces import check_ids
from mathamr_kedro.evaluation.metrics.protocols import Protocol
from mathamr_kedro.evaluation.metrics.rankings import FloatArray, Rankings, count_ties
from mathamr_kedro.trec import Qrels, Run, VisualIds

_POOL_ONLY = 0.95
"""Share of judged results above which a run only re-ranks the judged pool."""


def diagnose(
    run: Run,
    qrels: Qrels,
    protocol: Protocol,
    rankings: Rankings,
    visual_ids: VisualIds | None = None,
    corpus_ids: Collection[str] | None = None,
) -> tuple[Finding, ...]:
    """Return what is odd about a run, warnings first.

    Args:
        run: what the system returned.
        qrels: what the assessors said.
        protocol: how the run is scored.
        rankings: the run's judged topics in the order in which they are scored.
        visual_ids: visual ids of the run's formulas, if they were needed.
        corpus_ids: all ids a system could return, if they are known.
    """
    findings = [
        *check_ids(run, qrels, protocol, rankings, visual_ids, corpus_ids),
        *_check_topics(run, qrels, rankings),
        *_check_lines(run, qrels, protocol, rankings),
        *_check_scores(run, qrels, protocol, rankings),
        *_check_pool(qrels, rankings),
        *_check_grades(qrels, protocol),
    ]
    return tuple(sorted(findings, key=lambda f: f.level != "warning"))


def _check_topics(run: Run, qrels: Qrels, rankings: Rankings) -> list[Finding]:
    missing = [t for t in qrels.grades if t not in run.lists]
    unknown = [t for t in run.lists if t not in qrels.grades]
    fruitless = [
        topic
        for topic, hits in rankings.lists.items()
        if qrels.grades[topic].keys().isdisjoint(hits.ids)
    ]
    return [
        *find(
            "missing_topics", "warning", f"{{count}} of {len(qrels.grades)} judged "
            "topics are not in the run and count as 0", missing,
        ),
        *find(
            "topics_without_judged_result", "note", "{count} topics have results, but "
            "none that is judged, and count as 0", fruitless,
        ),
        *find(
            "unjudged_topics", "note", "{count} topics of the run are not judged and "
            "do not count", unknown,
        ),
    ]  # fmt: skip


def _check_lines(
    run: Run, qrels: Qrels, protocol: Protocol, rankings: Rankings
) -> list[Finding]:
    if run.holds_instances:
        repeated = (
            "{count} results look like a better one of their topic and are dropped"
        )
    else:
        repeated = "{count} results repeat a document of their topic and are dropped"
    return [
        *find(
            "repeats", "note" if run.holds_instances else "warning", repeated,
            count=rankings.num_repeats,
        ),
        *find(
            "bad_lines", "warning", "{count} lines of the run have a wrong form and "
            "were skipped or cut", count=run.num_bad_lines,
        ),
        *find(
            "too_deep", "note", f"{{count}} results are below depth {protocol.depth} "
            "and are dropped", count=rankings.num_too_deep,
        ),
        *find(
            "lines_without_judgment", "note", "{count} lines of the qrels state that "
            "there is no judgment (-1, 5 or 6) and are skipped",
            count=qrels.num_unjudged_lines,
        ),
        *find(
            "topics_without_judgment", "note", "{count} topics of the qrels have only "
            "such lines and do not count; trec_eval counts 0 for them",
            qrels.unjudged_topics,
        ),
    ]  # fmt: skip


def _check_scores(
    run: Run, qrels: Qrels, protocol: Protocol, rankings: Rankings
) -> list[Finding]:
    rising = [t for t in rankings.lists if _rises_with_rank(run, t)]
    findings = []
    if len(rising) * 2 > len(rankings.lists):
        findings += find(
            "rising_scores", "warning", "in {count} topics the scores rise with the "
            "rank: a higher score must be better (are they distances?)", rising,
        )  # fmt: skip
    if protocol.use_rank:
        return findings
    lists = rankings.lists
    ties = sum(count_ties(hits.scores) for hits in lists.values())
    judged_ties = sum(
        count_ties(_judged_scores(hits, qrels.grades[t])) for t, hits in lists.items()
    )
    rounded = sum(count_rounding_ties(hits.scores) for hits in lists.values())
    findings += find(
        "ties", "note", f"{{count}} results share their score with another, "
        f"{judged_ties:,} among judged ones; ties are broken by id, as trec_eval does",
        count=ties,
    )  # fmt: skip
    return findings + find(
        "rounding_ties", "note", "{count} of the ties exist only in single precision, "
        "in which trec_eval reads scores", count=rounded,
    )  # fmt: skip


def _check_pool(qrels: Qrels, rankings: Rankings) -> list[Finding]:
    lists = rankings.lists
    returned = sum(len(hits.ids) for hits in lists.values())
    judged = sum(len(qrels.grades[t].keys() & hits.ids) for t, hits in lists.items())
    if not returned or judged < _POOL_ONLY * returned:
        return []
    return find(
        "pool_only", "note", f"{{count}} of {returned:,} results are judged: the run "
        "ranks the judged pool, or was cut to it; compare it with the floor, and not "
        "with runs over the whole corpus", count=judged,
    )  # fmt: skip


def _check_grades(qrels: Qrels, protocol: Protocol) -> list[Finding]:
    """Tell when nothing is relevant: binary judgments, scored as ARQMath's."""
    highest = max(
        (g for by_id in qrels.grades.values() for g in by_id.values()), default=0
    )
    blind = [
        m for m in protocol.measures if m.uses_threshold and m.relevant_from > highest
    ]
    if not blind:
        return []
    level = min(m.relevant_from for m in blind)
    remedy = (
        f"score them by the plain protocol (--task trec), or name the grade, e.g. "
        f"{blind[0].name.partition('(')[0]}(rel={highest})"
        if highest
        else "check the fourth column of the qrels"
    )
    names = ", ".join(m.name for m in blind)
    return find(
        "no_relevant_grade", "warning", f"no grade of the qrels reaches {level}, from "
        f"which {names} count a document as relevant (the highest is {highest}), so "
        f"they are 0; {remedy}", count=len(blind),
    )  # fmt: skip


def _rises_with_rank(run: Run, topic: TopicId) -> bool:
    scores = run.lists[topic].scores
    if scores.size < 3:
        return False
    steps = np.diff(scores[np.argsort(run.ranks_of(topic), kind="stable")])
    return bool(np.all(steps >= 0) and np.any(steps > 0))


def _judged_scores(hits: Hits, judged: Mapping[str, int]) -> FloatArray:
    return hits.scores[[i in judged for i in hits.ids]]


def count_rounding_ties(scores: FloatArray) -> int:
    """Return how many results are tied only because scores are rounded.

    >>> count_rounding_ties(np.array([1.0, 1.0 + 1e-12, 0.5, 0.5]))
    1
    """
    return count_ties(scores) - int(scores.size - np.unique(scores).size)
