"""Runs against judgments: each run of a folder with its scores."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from dataclasses import replace

from mathamr_kedro.base.progress import report_progress
from mathamr_kedro.datasets import RunFolder, ShardedTable
from mathamr_kedro.evaluation.metrics import Protocol, evaluate_run
from mathamr_kedro.pipelines.evaluation.report import ScoredRun
from mathamr_kedro.runs import TopicSet

logger = logging.getLogger(__name__)


def score_folder(
    runs: RunFolder,
    topic_sets: Iterable[TopicSet],
    posts: ShardedTable,
    returnable: ShardedTable,
    protocol_of: Callable[[int], Protocol],
) -> list[ScoredRun]:
    """Score all runs of judged topic sets; warn of those that are not judged.

    Args:
        runs: what the systems returned.
        topic_sets: topics with their judgments.
        posts: to know which judged posts are in the collection.
        returnable: the same of formulas.
        protocol_of: how runs of a task are scored.
    """
    sets = {(s.task, s.name): s for s in topic_sets if s.qrels.grades}
    found = {
        key: s.find_candidates(posts.tables, returnable.tables)
        for key, s in sets.items()
    }
    scored = []
    for entry, run in report_progress(runs, "runs scored", total=len(runs.entries)):
        key = entry.task, entry.topic_set
        if key not in sets:
            logger.warning("task %d, %s: no judgments, no scores", *key)
            continue
        chosen, (known, size) = sets[key], found[key]
        judged = {t: run.lists[t] for t in chosen.qrels.grades if t in run.lists}
        returned = {i for topic in judged for i in run.documents(topic).ids}
        evaluation = evaluate_run(
            replace(run, lists=judged),
            chosen.qrels,
            protocol_of(entry.task),
            corpus_ids=known | returned,
            num_documents=size,
        )
        groups = tuple(evaluation.break_down(chosen.notes))
        scored.append(ScoredRun(entry, evaluation, groups))
    return scored
