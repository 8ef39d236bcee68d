"""Pieces of a table of texts, and the shards that come of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from mathamr_kedro.amr import ParsedText, ParseFailure, make_printable
from mathamr_kedro.datasets.sharded_table import ShardedTable
from mathamr_kedro.errors import GraphError
from mathamr_kedro.graph import GraphRecord
from mathamr_kedro.records import Failure, Post, Topic
from mathamr_kedro.workers import Failed


class Piece(NamedTuple):
    """Rows of one input shard that become one output shard."""

    name: str
    file: Path
    start: int
    stop: int


class ParsedPiece(NamedTuple):
    """What a piece became: every row is a record or a failure that was not kept."""

    records: str
    """Text of the records, one after another."""
    failures: list[Failure]
    counts: dict[str, int]


def cut_table(texts: ShardedTable, size: int) -> Iterator[Piece]:
    """Yield pieces of at most ``size`` rows, in order; none crosses a shard."""
    for file in texts.files():
        rows = pq.read_metadata(file).num_rows
        for number, start in enumerate(range(0, rows, size)):
            name = f"{file.stem}-{number:03d}"
            yield Piece(name, file, start, min(start + size, rows))


def read_pieces(
    pieces: Sequence[Piece], columns: Sequence[str] | None = None
) -> Iterator[tuple[Piece, pa.Table]]:
    """Yield the pieces with their rows; a file is read once for all of its pieces."""
    for file, group in groupby(pieces, key=lambda piece: piece.file):
        table = pq.read_table(file, columns=list(columns) if columns else None)
        for piece in group:
            yield piece, table.slice(piece.start, piece.stop - piece.start)


def assemble_piece(
    source: str,
    name: str,
    rows: Sequence[Post | Topic],
    results: Sequence[ParsedText | ParseFailure | Failed],
) -> ParsedPiece:
    """Return records and failures of a piece.

    Args:
        source: ``posts`` or ``topics``.
        name: name of the shard.
        rows: what was to be parsed.
        results: what came back, in the same order.
    """
    blocks: list[str] = []
    failures: list[Failure] = []
    for row, parsed in zip(rows, results, strict=True):
        record_id = row.post_id if isinstance(row, Post) else row.topic_id
        head = ("amr_parsing", source, name, record_id)
        record = _make_record(row, parsed)
        if isinstance(record, ParseFailure):
            failures.append(Failure(*head, *record, kept=False))
            continue
        blocks.append(record)
        lost = parsed.failures if isinstance(parsed, ParsedText) else ()
        failures.extend(Failure(*head, *failure, kept=True) for failure in lost)
    written = len(blocks)
    counts = {"read": len(rows), "written": written, "dropped": len(rows) - written}
    return ParsedPiece("".join(blocks), failures, counts)


def _make_record(
    row: Post | Topic, parsed: ParsedText | ParseFailure | Failed
) -> str | ParseFailure:
    if isinstance(parsed, Failed):
        is_known = parsed.reason in ("timeout", "worker_died")
        reason = parsed.reason if is_known else "all_chunks_failed"
        return ParseFailure(reason, make_printable(parsed.detail))
    if isinstance(parsed, ParseFailure):
        return parsed
    make: Any = GraphRecord.of_post if isinstance(row, Post) else GraphRecord.of_topic
    try:
        return make(row, parsed.graph, parsed.missing).format()
    except GraphError as exc:
        return ParseFailure("penman_error", str(exc))
