"""Runs against judgments: each run of a folder with its scores."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from dataclasses import replace

import pyarrow as pa
import pyarrow.compute as pc

from mathamr_kedro.datasets import RunFolder, ShardedTable
from mathamr_kedro.metrics import Protocol, evaluate_run
from mathamr_kedro.pipelines.evaluation.report import ScoredRun
from mathamr_kedro.progress import report_progress
from mathamr_kedro.runs import TASK_1_TYPES, TopicSet

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
    corpora = {key: _find_in_corpus(s, posts, returnable) for key, s in sets.items()}
    scored = []
    for entry, run in report_progress(runs, "runs scored", total=len(runs.entries)):
        key = entry.task, entry.topic_set
        if key not in sets:
            logger.warning("task %d, %s: no judgments, no scores", *key)
            continue
        chosen, known = sets[key], corpora[key]
        judged = {t: run.lists[t] for t in chosen.qrels.grades if t in run.lists}
        returned = {i for topic in judged for i in run.documents(topic).ids}
        evaluation = evaluate_run(
            replace(run, lists=judged),
            chosen.qrels,
            protocol_of(entry.task),
            corpus_ids=known | returned,
        )
        groups = tuple(evaluation.break_down(chosen.notes))
        scored.append(ScoredRun(entry, evaluation, groups))
    return scored


def _find_in_corpus(
    chosen: TopicSet, posts: ShardedTable, returnable: ShardedTable
) -> frozenset[str]:
    """Return the judged documents that a system could return."""
    judged = pa.array(sorted({i for g in chosen.qrels.grades.values() for i in g}))
    if chosen.task == 1:
        column, tables = "post_id", posts.tables(["post_id", "post_type"])
    else:
        column, tables = "visual_id", returnable.tables(["visual_id"])
    found: set[str] = set()
    for table in tables:
        kept = pc.is_in(table[column], value_set=judged)
        if chosen.task == 1:
            types = pa.array(TASK_1_TYPES)
            kept = pc.and_(kept, pc.is_in(table["post_type"], value_set=types))
        found.update(table[column].filter(kept).to_pylist())
    return frozenset(found)
