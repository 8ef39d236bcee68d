"""Topics in, runs out: searches over many topics, batch by batch, with their time."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeVar

from mathamr_kedro.base.errors import MalformedInputError, MissingInputError
from mathamr_kedro.base.formatting import format_duration
from mathamr_kedro.base.hits import FormulaHits, Hits
from mathamr_kedro.base.progress import report_progress
from mathamr_kedro.base.records import Topic
from mathamr_kedro.base.types import TopicId
from mathamr_kedro.corpus import QueryParts, name_part
from mathamr_kedro.trec import Run
from mathamr_kedro.vectors import PostEntry, Vectors, VectorStore

logger = logging.getLogger(__name__)

Q = TypeVar("Q")
Search = Callable[[Sequence[Q], int], Sequence[Hits | FormulaHits]]
"""Queries and a depth in, a list for each query out."""


class Queries(NamedTuple):
    """Topics of one task that can be asked, and what is asked."""

    topics: list[TopicId]
    posts: list[PostEntry]

    @classmethod
    def read(
        cls, topics: Sequence[Topic], store: VectorStore, parts: QueryParts = "all"
    ) -> Queries:
        """Find the vectors of topics; topics without are skipped with a warning.

        Args:
            topics: what is asked.
            store: the vectors of topics, and of their parts.
            parts: what of each topic is asked.

        Raises:
            MissingInputError: no topic has vectors of its part alone.
        """
        keys = {t.topic_id: name_part(t.topic_id, parts) for t in topics}
        known = [topic for topic, key in keys.items() if key in store.places]
        missing = [topic for topic in keys if topic not in {*known}]
        if missing and not known and parts != "all":
            raise MissingInputError(
                f"No topic has vectors of its {parts} alone; run the stages from "
                f"amr_parsing to indexing with amr_parsing.query_parts [{parts}] "
                "(conf/<env>/parameters/amr_parsing.yml), or drop query_parts from "
                "the strategy"
            )
        if missing:
            logger.warning(
                "%s topics have no vectors%s and count as 0, e.g. %s",
                len(missing),
                "" if parts == "all" else f" of their {parts} alone",
                ", ".join(missing[:3]),
            )
        found = store.read([keys[topic] for topic in known]).entries()
        return cls(
            known, [e._replace(key=t) for t, e in zip(known, found, strict=True)]
        )

    def formulas(self, topics: Sequence[Topic]) -> tuple[list[TopicId], list[Vectors]]:
        """Return vectors of the query formulas; others are skipped with a warning."""
        wanted = {t.topic_id: t.formula_id or "" for t in topics}
        found: dict[TopicId, Vectors] = {}
        for topic, post in zip(self.topics, self.posts, strict=True):
            try:
                found[topic] = post.formula(wanted[topic])
            except MalformedInputError as problem:
                logger.warning("topic %s counts as 0: %s", topic, problem)
        return list(found), list(found.values())


def run_search(
    task: int,
    system: str,
    topics: Sequence[TopicId],
    queries: Sequence[Q],
    search: Search[Q],
    depth: int,
    batch_size: int,
    device: str = "cpu",
) -> Run:
    """Search for all topics, ``batch_size`` at once; only searches are timed.

    The first query is searched once more before all others: that loads what they find
    loaded, and does not count. With one query at once the time of each is kept.
    """
    lists: dict[TopicId, Hits | FormulaHits] = {}
    times: list[float] = []
    if queries:
        search(queries[:1], depth)
    starts = range(0, len(queries), batch_size)
    for start in report_progress(
        starts,
        f"task {task}, {system}: topics",
        lambda start: min(batch_size, len(queries) - start),
        total=len(queries),
        ends=False,
    ):
        batch = slice(start, start + batch_size)
        started = time.perf_counter()
        found = search(queries[batch], depth)
        times.append(time.perf_counter() - started)
        lists.update(zip(topics[batch], found, strict=True))
    seconds = sum(times)
    logger.info(
        "task %d, %s: %s topics searched in %s",
        task, system, len(lists), format_duration(seconds),
    )  # fmt: skip
    each = dict(zip(topics, times, strict=True)) if batch_size == 1 else {}
    return Run(
        system, lists, task=task, seconds=seconds, query_seconds=each, device=device
    )
