"""Pieces of a table of texts, and the shards that come of them."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from mathamr_kedro.amr import ParsedText, ParseFailure, make_printable
from mathamr_kedro.base.errors import GraphError
from mathamr_kedro.base.records import CleanText, Failure, Post, Topic
from mathamr_kedro.base.shards import Shard
from mathamr_kedro.base.workers import Failed
from mathamr_kedro.corpus import QueryPart, name_part, take_part
from mathamr_kedro.datasets import ShardedTable
from mathamr_kedro.graph import GraphRecord
from mathamr_kedro.pipelines.amr_parsing.reuse import checksum_text


class _Piece(NamedTuple):
    """Rows of one input shard that become one output shard."""

    name: str
    file: Path
    start: int
    stop: int


class TextPieces:
    """A table of texts in pieces of at most ``size`` rows; none crosses a shard."""

    def __init__(self, texts: ShardedTable, size: int) -> None:
        self._texts = texts
        self._pieces = list(_cut_table(texts, size))

    def read(
        self, columns: Sequence[str] | None = None, skip: Container[str] = ()
    ) -> Iterator[tuple[str, pa.Table]]:
        """Yield names and rows of pieces; a file is read once for all of its pieces.

        Args:
            columns: those to read; ``None``: all.
            skip: names of pieces to skip.
        """
        chosen = (piece for piece in self._pieces if piece.name not in skip)
        for file, group in groupby(chosen, key=lambda piece: piece.file):
            table = self._texts.read_file(file, columns)
            for piece in group:
                yield piece.name, table.slice(piece.start, piece.stop - piece.start)

    def count(self, skip: Container[str] = ()) -> int:
        """Return the number of rows of all pieces but those to skip."""
        return sum(p.stop - p.start for p in self._pieces if p.name not in skip)


def add_parts(rows: Sequence[Any], parts: Sequence[QueryPart]) -> list[Post | Topic]:
    """Return rows, and behind them the parts of topics of Task 1 as topics."""
    added = [
        topic._replace(
            topic_id=name_part(topic.topic_id, part),
            **take_part(CleanText(topic.text, topic.formula_map), part)._asdict(),
        )
        for part in parts
        for topic in rows
        if isinstance(topic, Topic) and topic.task == "task1"
    ]
    return [*rows, *added]


def make_shards(
    source: str,
    name: str,
    made_from: str,
    rows: Sequence[Post | Topic],
    results: Sequence[ParsedText | ParseFailure | Failed],
) -> tuple[Shard, Shard]:
    """Return the shards of failures and of graphs that come of a piece.

    Every row becomes a graph or a failure that was not kept.

    Args:
        source: ``posts`` or ``topics``.
        name: name of the shards.
        made_from: checksum of the texts and of the parser.
        rows: what was to be parsed.
        results: what came back, in the same order.
    """
    blocks: list[str] = []
    failures: list[Failure] = []
    for row, parsed in zip(rows, results, strict=True):
        head = ("amr_parsing", source, name, row[0])  # ids come first
        record = _make_record(row, parsed)
        if isinstance(record, ParseFailure):
            failures.append(Failure(*head, *record, kept=False).classify())
            continue
        blocks.append(record)
        lost = parsed.failures if isinstance(parsed, ParsedText) else ()
        notes = (Failure(*head, *failure, kept=True) for failure in lost)
        failures.extend(note.classify() for note in notes)
    written = len(blocks)
    counts = {"read": len(rows), "written": written, "dropped": len(rows) - written}
    return (
        Shard.of_rows(name, made_from, failures),
        Shard(name, made_from, "".join(blocks), counts),
    )


def _cut_table(texts: ShardedTable, size: int) -> Iterator[_Piece]:
    for file in texts.files():
        rows = pq.read_metadata(file).num_rows
        for number, start in enumerate(range(0, rows, size)):
            name = f"{file.stem}-{number:03d}"
            yield _Piece(name, file, start, min(start + size, rows))


def _make_record(
    row: Post | Topic, parsed: ParsedText | ParseFailure | Failed
) -> str | ParseFailure:
    if isinstance(parsed, Failed):
        is_known = parsed.reason != "exception"
        reason = parsed.reason if is_known else "all_chunks_failed"
        return ParseFailure(reason, make_printable(parsed.detail))
    if isinstance(parsed, ParseFailure):
        return parsed
    make = GraphRecord.of_post if isinstance(row, Post) else GraphRecord.of_topic
    record = make(row, parsed.graph, parsed.missing)  # type: ignore[arg-type]
    if not parsed.failures:
        record = record._replace(text_checksum=checksum_text(row.text))
    try:
        return record.format()
    except GraphError as exc:
        return ParseFailure("penman_error", str(exc))
