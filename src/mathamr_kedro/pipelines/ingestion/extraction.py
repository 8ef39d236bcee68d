"""Raw records to shards of clean ones, in the form that the catalog saves."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any

from mathamr_kedro.base.checksums import checksum
from mathamr_kedro.base.progress import report_progress
from mathamr_kedro.base.shards import EndOfShards, Shard, ShardPairs, StartOfShards
from mathamr_kedro.corpus import Collection, Part, clean_in_batches
from mathamr_kedro.corpus.extraction import VERSION as CLEANER_VERSION


def extract_shards(
    made_from: str,
    sources: Iterable[tuple[str, Iterable[Any]]],
    clean: Callable[..., Any] | None,
    size: int,
    parts: Mapping[str, str],
    of: tuple[str, int],
) -> ShardPairs:
    """Yield shards as ``(failures, records)``.

    Args:
        made_from: checksum of the raw files and of what else decides the shards.
        sources: names of shards without their number, and raw records.
        clean: returns the clean record and what was wrong with the raw one; ``None``
            where records are as they should be.
        size: raw records per shard.
        parts: what ``made_from`` consists of, by a name for people.
        of: name of the records, and the size of the raw files that they are read from.
    """
    failures, start = StartOfShards(made_from), StartOfShards(made_from, parts)
    yield failures, start
    finished = start.finished & failures.finished
    rows = ((name, row) for name, raw in sources for row in raw)
    counted = report_progress(rows, of[0], total_bytes=of[1])
    for name, group in groupby(counted, key=itemgetter(0)):
        raw = (row for _, row in group)
        yield from _clean_shards(made_from, name, raw, clean, size, finished)
    yield EndOfShards(made_from), EndOfShards(made_from)


def _clean_shards(
    made_from: str,
    name: str,
    raw: Iterable[Any],
    clean: Callable[..., Any] | None,
    size: int,
    finished: frozenset[str],
) -> Iterator[tuple[Shard, Shard]]:
    batches = clean_in_batches(
        raw, clean, size, lambda number: f"{name}-{number:05d}" in finished
    )
    for batch in batches:
        shard = f"{name}-{batch.number:05d}"
        yield (
            Shard.of_rows(shard, made_from, batch.failures),
            Shard(shard, made_from, batch.records, batch.counts),
        )


def name_inputs(
    table: str, collection: Collection, raw_parts: Sequence[Part], size: int
) -> tuple[str, dict[str, str]]:
    """Return what a table is made from: a checksum, and its parts by name."""
    parts = {
        "raw files": collection.checksum(*raw_parts),
        "size of shards": str(size),
        "version of the readers": str(CLEANER_VERSION),
    }
    return checksum(table, parts), parts
