"""Nodes that read the collection: raw records to shards of clean ones.

Every ``extract_*`` node yields shards as ``(failures, records)``.
"""

from __future__ import annotations

import itertools
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict
from functools import partial
from typing import Any

from mathamr_kedro.base.checksums import checksum
from mathamr_kedro.base.progress import report_progress
from mathamr_kedro.base.records import Failure, TrainingPair
from mathamr_kedro.base.shards import (
    EndOfShards,
    Shard,
    ShardItem,
    ShardPairs,
    StartOfShards,
)
from mathamr_kedro.base.types import PostId
from mathamr_kedro.corpus import Collection, Part, PostCleaner, VisualIndex
from mathamr_kedro.corpus.extraction import VERSION as CLEANER_VERSION
from mathamr_kedro.corpus.extraction import clean_comment, clean_in_batches
from mathamr_kedro.corpus.raw import make_failure
from mathamr_kedro.corpus.subset import PostChoice, SubsetCollection
from mathamr_kedro.corpus.topics import TopicFormulas, clean_topic
from mathamr_kedro.corpus.training import Threads
from mathamr_kedro.datasets import ShardedTable
from mathamr_kedro.pipelines.ingestion import IngestionConfig

logger = logging.getLogger(__name__)


def choose_posts(
    collection: Collection, parameters: Mapping[str, Any]
) -> Iterator[ShardItem]:
    """Choose the posts of the judged subset; without one the table is empty."""
    config = IngestionConfig.read(parameters)
    if config.subset is None:
        yield EndOfShards(checksum("chosen", "all"))
        return
    raw = collection.checksum("posts", "formulas", "qrels")
    made_from = checksum("chosen", raw, asdict(config.subset), config.pairs)
    start = StartOfShards(made_from)
    yield start
    if not start.finished:
        rows, counts = PostChoice(collection, config.subset).choose(config.pairs)
        numbers = ", ".join(f"{name} {n:,}" for name, n in counts.items())
        logger.info("judged subset: %s", numbers)
        yield Shard("chosen", made_from, rows, {"written": len(rows), **counts})
    yield EndOfShards(made_from)


def open_subset(
    collection: Collection, chosen_posts: ShardedTable, parameters: Mapping[str, Any]
) -> Collection:
    """Return the collection as the stage reads it: whole, or its chosen posts."""
    subset = IngestionConfig.read(parameters).subset
    if subset is None:
        return collection
    rows = chosen_posts.records()
    return SubsetCollection(collection, rows, chosen_posts.checksum, subset)


def pair_posts(
    collection: Collection,
    posts: ShardedTable,
    statement_links: ShardedTable,
    chosen_posts: ShardedTable,
    parameters: Mapping[str, Any],
) -> ShardPairs:
    """Pair questions with answers for training; note threads that are not whole.

    By ``pairs: links``, a statement is paired with each one that its proof cites.
    """
    config = IngestionConfig.read(parameters)
    answers = config.pairs
    collection = open_subset(collection, chosen_posts, parameters)
    if answers == "judged":
        yield from _pair_judged(collection, posts)
        return
    columns = Threads.COLUMNS
    threads = Threads(
        values
        for table in posts.tables(columns)
        for values in zip(*(table[c].to_pylist() for c in columns), strict=True)
    )
    found = (
        itertools.starmap(TrainingPair, statement_links.records())
        if answers == "links"
        else threads.pairs(answers)
    )
    pairs = list(filter(collection.keeps_pair, found))
    # Threads of a subset are not meant to be whole.
    problems = list(threads.problems()) if config.subset is None else []
    links = [statement_links.checksum] if answers == "links" else []
    made_from = checksum("pairs", posts.checksum, answers, *links)
    yield (
        Shard.of_rows("threads", made_from, problems),
        Shard.of_rows("pairs", made_from, pairs),
    )
    yield EndOfShards(made_from), EndOfShards(made_from)


def _pair_judged(collection: Collection, posts: ShardedTable) -> ShardPairs:
    """Pair queries with the documents that judgments for training call relevant."""
    made_from = checksum("pairs", posts.checksum, collection.checksum("pairs"))
    known: set[PostId] = set()
    for table in posts.tables(["post_id"]):
        known.update(table["post_id"].to_pylist())
    pairs, problems = [], []
    for found in collection.pairs():
        if isinstance(found, Failure):
            problems.append(found)
        elif known.issuperset(found):
            pairs.append(found)
        else:
            detail = f"not among the posts: {', '.join(sorted({*found} - known))}"
            place, reason = f"query {found.question_id}", "pair_without_post"
            problems.append(
                make_failure("pairs", place, reason, detail, found.answer_id)
            )
    yield (
        Shard.of_rows("judgments", made_from, problems),
        Shard.of_rows("pairs", made_from, pairs),
    )
    yield EndOfShards(made_from), EndOfShards(made_from)


_PARTS: Mapping[str, tuple[Part, ...]] = {
    "formulas": ("formulas",),
    "posts": ("posts", "formulas"),
    "comments": ("comments", "formulas"),
    "topics": ("topics", "topic_formulas", "topic_notes"),
    "topic_formulas": ("topic_formulas",),
    "judgments": ("qrels",),
    "statements": ("posts",),
    "statement_links": ("posts", "pairs"),
}
"""What each table is made from; formula ids of posts are looked up in the index."""


def extract_posts(
    collection: Collection,
    visual_index: VisualIndex,
    chosen_posts: ShardedTable,
    parameters: Mapping[str, Any],
) -> ShardPairs:
    """Read the posts and put placeholders for formulas into their clean texts."""
    collection = open_subset(collection, chosen_posts, parameters)
    clean = PostCleaner(visual_index.find_row if len(visual_index) else None)
    raw = clean.watch(collection.posts())
    yield from _extract("posts", collection, raw, parameters, clean)


def extract_comments(
    collection: Collection,
    visual_index: VisualIndex,
    chosen_posts: ShardedTable,
    parameters: Mapping[str, Any],
) -> ShardPairs:
    """Read the comments and put placeholders for formulas into their clean texts."""
    collection = open_subset(collection, chosen_posts, parameters)
    find_row = visual_index.find_row if len(visual_index) else None
    clean = partial(clean_comment, find_row=find_row)
    raw = collection.comments()
    yield from _extract("comments", collection, raw, parameters, clean)


def extract_topics(
    collection: Collection, chosen_posts: ShardedTable, parameters: Mapping[str, Any]
) -> ShardPairs:
    """Read the topics with clean texts and what the organisers noted about them."""
    collection = open_subset(collection, chosen_posts, parameters)
    formulas = TopicFormulas(collection.topic_formulas())
    clean = partial(
        clean_topic,
        notes=collection.topic_notes(),
        formulas=formulas if len(formulas) else None,
    )
    yield from _extract("topics", collection, collection.topics(), parameters, clean)


def extract_as_read(table: str) -> Callable[..., ShardPairs]:
    """Return the node that reads a table whose records need no cleaning.

    Args:
        table: its name, which is that of the reader of a collection: ``formulas``,
            ``judgments``, ``topic_formulas`` (``post_id`` holds the topic),
            ``statements`` or ``statement_links``; most collections lack some.
    """

    def extract(
        collection: Collection,
        chosen_posts: ShardedTable,
        parameters: Mapping[str, Any],
    ) -> ShardPairs:
        """Read a table whose records need no cleaning."""
        collection = open_subset(collection, chosen_posts, parameters)
        raw = getattr(collection, table)()
        yield from _extract(table, collection, raw, parameters)

    return extract


def _extract(
    table: str,
    collection: Collection,
    raw: Iterable[Any],
    parameters: Mapping[str, Any],
    clean: Callable[..., Any] | None = None,
) -> ShardPairs:
    """Yield shards as ``(failures, records)``.

    ``clean`` returns the clean record and what was wrong with the raw one; ``None`` if
    records are as they should be.
    """
    config = IngestionConfig.read(parameters)
    size = config.records_per_shard
    if table == "formulas":
        size = config.formulas_per_shard
    parts = {
        "raw files": collection.checksum(*_PARTS[table]),
        "size of shards": str(size),
        "version of the readers": str(CLEANER_VERSION),
    }
    made_from = checksum(table, parts)
    failures, start = StartOfShards(made_from), StartOfShards(made_from, parts)
    yield failures, start
    finished = start.finished & failures.finished
    is_read_before = table.startswith("statement")  # from the files of the posts
    total = 0 if is_read_before else collection.count_bytes(_PARTS[table][0])
    counted = report_progress(raw, table, total_bytes=total)
    for batch in clean_in_batches(
        counted, clean, size, lambda number: _name_shard(table, number) in finished
    ):
        name = _name_shard(table, batch.number)
        yield (
            Shard.of_rows(name, made_from, batch.failures),
            Shard(name, made_from, batch.records, batch.counts),
        )
    yield EndOfShards(made_from), EndOfShards(made_from)


def _name_shard(table: str, number: int) -> str:
    return f"{table}-{number:05d}"
