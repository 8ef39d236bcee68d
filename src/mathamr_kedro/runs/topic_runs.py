"""Queries in, runs out: a system asked for many topics, batch by batch, timed."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from functools import partial

from mathamr_kedro.base.formatting import format_duration
from mathamr_kedro.base.hits import Hits
from mathamr_kedro.base.progress import report_progress
from mathamr_kedro.base.records import Topic
from mathamr_kedro.base.types import PostId, TopicId
from mathamr_kedro.graph import FusedRecord, MathGraph
from mathamr_kedro.systems.base import Index
from mathamr_kedro.systems.query import TARGET_OF, Query, Target, TreeLookup
from mathamr_kedro.trec import Run

logger = logging.getLogger(__name__)

TASK_OF_TARGET: Mapping[Target, int] = {"posts": 1, "formulas": 2}

_NO_VECTORS = "has no vectors: see what was skipped in its graph in the report of AMR"


def read_queries(
    topics: Iterable[Topic],
    trees_of: TreeLookup,
    find_graph: Callable[[TopicId], FusedRecord | None] = lambda topic: None,
) -> dict[Target, list[Query]]:
    """Return topics as queries by what they ask for; not those that show nothing."""
    topics = [topic for topic in topics if topic.task in TARGET_OF]
    blank = find_blank_queries(topics, trees_of)
    for topic_id, reason in blank.items():
        logger.warning("topic %s is not searched and counts as 0: %s", topic_id, reason)
    found: dict[Target, list[Query]] = {"posts": [], "formulas": []}
    for topic in topics:
        if topic.topic_id not in blank:
            read = partial(_read_graph, find_graph, topic.topic_id)
            query = Query.of_topic(topic, trees_of, read)
            found[query.target].append(query)
    return found


def _read_graph(
    find: Callable[[TopicId], FusedRecord | None], topic: TopicId
) -> MathGraph | None:
    record = find(topic)
    return record.graph if record is not None else None


def run_system(
    index: Index,
    ranking: str,
    queries: Sequence[Query],
    depth: int,
    batch_size: int = 32,
    documents: Set[PostId] = frozenset(),
) -> Run:
    """Ask a system for all queries, ``batch_size`` at once; only searches are timed.

    The first query is searched once more before all others: that loads what they find
    loaded, and does not count. With one query at once the time of each is kept.

    Args:
        index: of the system.
        ranking: which of its rankings; the name of the run.
        queries: all of one target.
        depth: results of each.
        batch_size: queries at once.
        documents: queries that are documents too; they are excluded from their own
            results.
    """
    asked = index.prepare(queries, ranking)
    task = TASK_OF_TARGET[queries[0].target]
    lists: dict[TopicId, Hits] = {}
    times: list[float] = []
    if asked:
        index.rank(asked[:1], depth, ranking)
    starts = range(0, len(asked), batch_size)
    for start in report_progress(
        starts,
        f"task {task}, {ranking}: topics",
        lambda start: min(batch_size, len(asked) - start),
        total=len(asked),
        ends=False,
    ):
        batch = asked[start : start + batch_size]
        deeper = depth + any(query.key in documents for query in batch)
        started = time.perf_counter()
        found = index.rank(batch, deeper, ranking)
        times.append(time.perf_counter() - started)
        for query, hits in zip(batch, found, strict=True):
            others = [n for n, i in enumerate(hits.ids) if i != query.key]
            kept = hits.take(others) if query.key in documents else hits
            lists[query.key] = kept.top(depth)
    seconds = sum(times)
    logger.info(
        "task %d, %s: %s topics searched in %s",
        task, ranking, len(lists), format_duration(seconds),
    )  # fmt: skip
    each = dict(zip(lists, times, strict=True)) if batch_size == 1 else {}
    return Run(
        ranking,
        lists,
        task=task,
        seconds=seconds,
        query_seconds=each,
        device=index.device,
    )


def find_blank_queries(
    topics: Iterable[Topic], trees_of: TreeLookup
) -> dict[TopicId, str]:
    """Return the topics of Task 2 whose formula shows nothing, with the reason.

    A formula without a tree has a vector all the same, one that is near to every blank
    formula. Such a query is not searched: it counts as 0, and the report says so.
    """
    problems: dict[TopicId, str] = {}
    for topic in topics:
        query = Query.of_topic(topic, trees_of)
        if query.formula is None:
            continue
        if query.trees is None or query.trees.is_blank:
            problems[topic.topic_id] = (
                f"formula {query.formula.formula_id!r} has no tree: neither the "
                f"formula files nor its LaTeX ({query.formula.latex!r}) show a symbol"
            )
    return problems


def list_unsearched(
    runs: Sequence[Run], topics: Sequence[Topic], blank: Mapping[TopicId, str]
) -> list[tuple[TopicId, str, str]]:
    """Return topics that systems did not search: topic, systems, reason."""
    found = []
    for topic in topics:
        target = TARGET_OF.get(topic.task)
        task = TASK_OF_TARGET[target] if target is not None else None
        systems = [run for run in runs if run.task == task]
        missing = [r.name for r in systems if topic.topic_id not in r.lists]
        if missing or topic.topic_id in blank:
            who = "all systems" if len(missing) == len(systems) else ", ".join(missing)
            found.append((topic.topic_id, who, _explain(topic, blank)))
    return found


def _explain(topic: Topic, blank: Mapping[TopicId, str]) -> str:
    if topic.topic_id in blank:
        return blank[topic.topic_id]
    formula_id = topic.formula_id
    if formula_id and formula_id not in {m.formula_id for m in topic.formula_map}:
        return f"formula {formula_id!r} is not in its question"
    return _NO_VECTORS
