"""Nodes of the ingestion stage: statements of a book, and which of them proofs cite."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from mathamr_kedro.base.shards import ShardPairs
from mathamr_kedro.corpus import Collection, Part
from mathamr_kedro.datasets import ShardedTable
from mathamr_kedro.pipelines.ingestion.extraction import extract_shards, name_inputs
from mathamr_kedro.pipelines.ingestion.parameters import IngestionConfig
from mathamr_kedro.pipelines.ingestion.selection import open_subset


def extract_statements(
    collection: Collection, chosen_posts: ShardedTable, parameters: Mapping[str, Any]
) -> ShardPairs:
    """Read kind, number, name and place of statements; most collections have none."""
    collection = open_subset(collection, chosen_posts, parameters)
    rows = collection.statements()
    yield from _extract("statements", collection, rows, parameters)


def extract_statement_links(
    collection: Collection, chosen_posts: ShardedTable, parameters: Mapping[str, Any]
) -> ShardPairs:
    """Read which statements the proof of each statement cites."""
    collection = open_subset(collection, chosen_posts, parameters)
    rows = collection.statement_links()
    yield from _extract("statement_links", collection, rows, parameters)


def _extract(
    table: str,
    collection: Collection,
    rows: Iterable[Any],
    parameters: Mapping[str, Any],
) -> ShardPairs:
    size = IngestionConfig.read(parameters).records_per_shard
    raw: tuple[Part, ...] = ("posts", "pairs") if table != "statements" else ("posts",)
    made_from, parts = name_inputs(table, collection, raw, size)
    of = (table, 0)  # the files are read for the posts
    yield from extract_shards(made_from, [(table, rows)], None, size, parts, of)
