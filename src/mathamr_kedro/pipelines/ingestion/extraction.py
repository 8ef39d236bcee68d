"""Nodes that read the collection: raw records to shards of clean ones.

Every ``extract_*`` node yields shards as ``(failures, records)``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

from mathamr_kedro.base.checksums import checksum
from mathamr_kedro.base.progress import report_progress
from mathamr_kedro.base.shards import EndOfShards, Shard, ShardPairs, StartOfShards
from mathamr_kedro.corpus import (
    Collection,
    Part,
    PostCleaner,
    TopicFormulas,
    VisualIndex,
    clean_comment,
    clean_in_batches,
    clean_topic,
)
from mathamr_kedro.corpus.extraction import VERSION as CLEANER_VERSION
from mathamr_kedro.datasets import ShardedTable
from mathamr_kedro.pipelines.ingestion.parameters import IngestionConfig
from mathamr_kedro.pipelines.ingestion.selection import open_subset

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


def extract_formulas(
    collection: Collection, chosen_posts: ShardedTable, parameters: Mapping[str, Any]
) -> ShardPairs:
    """Read the formula index of the collection."""
    collection = open_subset(collection, chosen_posts, parameters)
    size = IngestionConfig.read(parameters).formulas_per_shard
    yield from _extract_shards("formulas", collection, collection.formulas(), size)


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
        table: its name, which is that of the reader of a collection: ``judgments``,
            ``topic_formulas`` (``post_id`` holds the topic), ``statements`` or
            ``statement_links``; most collections lack some.
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
    size = IngestionConfig.read(parameters).records_per_shard
    yield from _extract_shards(table, collection, raw, size, clean)


def _extract_shards(
    table: str,
    collection: Collection,
    raw: Iterable[Any],
    size: int,
    clean: Callable[..., Any] | None = None,
) -> ShardPairs:
    """Yield shards as ``(failures, records)``.

    Args:
        table: name of the table.
        collection: what it is read from.
        raw: raw records.
        size: raw records per shard.
        clean: returns the clean record and what was wrong with the raw one; ``None``
            if records are as they should be.
    """
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
