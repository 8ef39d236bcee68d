"""Nodes of the AMR parsing stage: shards of texts to workers, graphs back to shards.

``parse_texts`` yields shards as ``(failures, graphs)``; the graphs come last,
because a shard counts as finished once they are written.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from mathamr_kedro.amr import (
    AUTO,
    ParsedText,
    ParseFailure,
    ParseTexts,
    check_account,
    describe_outcomes,
    describe_parser,
    make_printable,
    report_parsing,
)
from mathamr_kedro.base.checksums import checksum
from mathamr_kedro.base.errors import GraphError, MissingInputError
from mathamr_kedro.base.records import CleanText, Failure, Post, Topic
from mathamr_kedro.base.shards import (
    EndOfShards,
    Shard,
    ShardPairs,
    StartOfShards,
    pair_shards,
)
from mathamr_kedro.base.workers import Failed, Partition, run_partitions
from mathamr_kedro.corpus import QueryPart, RecordTables, name_part, take_part
from mathamr_kedro.datasets import PenmanShards, ShardedTable
from mathamr_kedro.graph import GraphRecord, RecordFile
from mathamr_kedro.pipelines.amr_parsing import AmrParsingConfig
from mathamr_kedro.pipelines.amr_parsing.reuse import KnownGraphs, checksum_text

logger = logging.getLogger(__name__)


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
        """Yield names and rows of pieces; a file is read once for all of its pieces."""
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
    return pair_shards(name, made_from, failures, blocks, len(rows))


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
    record = GraphRecord.of(row, parsed.graph, parsed.missing)
    if not parsed.failures:
        record = record._replace(text_checksum=checksum_text(row.text))
    try:
        return record.format()
    except GraphError as exc:
        return ParseFailure("penman_error", str(exc))


class _WaitingRows(NamedTuple):
    """Rows whose texts are with a worker."""

    rows: list[Any]
    known: list[ParsedText | None]
    """Of each row: its graph, if the same text was parsed before."""
    read: int
    """Rows with those that are not parsed."""


def resolve_parser(
    earlier: Mapping[str, Any], parameters: Mapping[str, Any]
) -> dict[str, Any]:
    """Resolve which parser parses all texts, and record it with the graphs.

    With ``auto`` the parser of existing graphs is kept.
    """
    config = AmrParsingConfig.read(parameters)
    resolved = config.resolve(earlier)
    description = resolved.parser_settings.describe()
    line, before = describe_parser(description), earlier.get("parser")
    if before not in (None, resolved.parser):
        logger.warning("%s Graphs by %r are rebuilt.", line, before)
    elif config.parser != AUTO or resolved.parser != config.builtin.name:
        logger.info(line)
    elif not config.transition.is_installed:
        place = config.transition.python
        logger.warning("%s The thesis' parser is not installed (no %s).", line, place)
    else:
        logger.warning(
            "%s It parsed the existing graphs; to rebuild them with the thesis' "
            "parser: --params amr_parsing.parser=transition.",
            line,
        )
    return description


def parse_texts(
    texts: ShardedTable, parser: Mapping[str, Any], parameters: Mapping[str, Any]
) -> ShardPairs:
    """Parse texts of posts or topics to AMR graphs; record why a text has none.

    A text that the same parser has parsed before is not parsed again. Of topics, parts
    may be parsed as well.
    """
    config = AmrParsingConfig.read(parameters).resolve(parser)
    made_from = _made_from(texts, config)
    failures, start = StartOfShards(made_from), _ask_for_shards(texts, config)
    yield failures, start
    finished = start.finished & failures.finished
    unfinished = [f for name, f in start.files.items() if name not in finished]
    known = KnownGraphs([*start.previous, *unfinished])
    pieces = TextPieces(texts, config.posts_per_shard)
    source = "topics" if texts.record is Topic else "posts"
    # Rows wait here while their texts are with a worker; the runner bounds how many.
    waiting: dict[str, _WaitingRows] = {}
    parts = _list_parts(texts, config)
    todo = pieces.read(skip=finished)
    partitions = _make_partitions(todo, texts.record, parts, known, waiting)
    function = ParseTexts(config.parser_settings)
    for result in run_partitions(
        function,
        partitions,
        config.parser_settings.limit(config.workers),
        f"{source} parsed",
        pieces.count(skip=finished),
        lambda result: waiting[result.name].read - len(result.items),
    ):
        rows, parsed, _ = waiting.pop(result.name)
        new = iter(result.results)
        merged = [next(new) if found is None else found for found in parsed]
        yield make_shards(source, result.name, made_from, rows, merged)
    yield EndOfShards(made_from), EndOfShards(made_from)


def describe_parsing(
    posts: ShardedTable,
    topics: ShardedTable,
    graphs: PenmanShards,
    topic_graphs: PenmanShards,
    failures: ShardedTable,
    topic_failures: ShardedTable,
    parser: Mapping[str, Any],
    parameters: Mapping[str, Any],
) -> tuple[dict[str, Any], str]:
    """Count graphs and failures; refuse a text that is neither, or both."""
    config = AmrParsingConfig.read(parameters).resolve(parser)
    statistics = {
        "parser": config.describe_shards(),
        "posts": _describe(posts, graphs, failures, config),
        "topics": _describe(topics, topic_graphs, topic_failures, config),
    }
    return statistics, report_parsing(statistics)


def _made_from(texts: ShardedTable, config: AmrParsingConfig) -> str:
    parts = _list_parts(texts, config)
    return checksum("amr", texts.checksum, config.describe_shards(), *parts)


def _list_parts(texts: ShardedTable, config: AmrParsingConfig) -> tuple[QueryPart, ...]:
    return config.query_parts if texts.record is Topic else ()


def _ask_for_shards(texts: ShardedTable, config: AmrParsingConfig) -> StartOfShards:
    parts = {
        "texts": texts.checksum,
        "parser": checksum(config.describe_graphs()),
        "size of shards": str(config.posts_per_shard),
    }
    if query_parts := _list_parts(texts, config):
        parts["query parts"] = checksum(*query_parts)
    return StartOfShards(
        _made_from(texts, config),
        parts,
        reuse="parser",
        discard="amr_parsing.discard",
        may_discard=config.discard,
    )


def _make_partitions(
    pieces: Iterator[tuple[str, pa.Table]],
    record: type,
    parts: Sequence[QueryPart],
    known: KnownGraphs,
    waiting: dict[str, _WaitingRows],
) -> Iterator[Partition]:
    """Yield the texts to parse; keep all rows, and what is known of them."""
    for name, table in pieces:
        rows: list[Any] = list(RecordTables(record).read(table))
        rows = add_parts(rows, parts)
        found = [known.find(row.text) if len(known) else None for row in rows]
        waiting[name] = _WaitingRows(rows, found, table.num_rows)
        pairs = zip(rows, found, strict=True)
        yield Partition(name, [row.text for row, graph in pairs if graph is None])


def _describe(
    texts: ShardedTable,
    graphs: PenmanShards,
    failures: ShardedTable,
    config: AmrParsingConfig,
) -> dict[str, Any]:
    """Return the statistics of one table, shard by shard."""
    if graphs.made_from != _made_from(texts, config):
        raise MissingInputError(
            "The graphs were made from other texts or parameters; run the whole stage: "
            "`kedro run --pipelines amr_parsing`"
        )
    kinds: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    partial: Counter[str] = Counter()
    placeholders = missing = 0
    files = dict(graphs.shards())
    failed_files = {file.stem: file for file in failures.files()}
    id_column = texts.empty().column_names[0]
    pieces = TextPieces(texts, config.posts_per_shard)
    parts = _list_parts(texts, config)
    for name, table in pieces.read(None if parts else [id_column]):
        failed = list(failures.read_rows(failed_files[name]))
        lost = [failure for failure in failed if not failure.kept]
        parsed: list[str] = []
        for record in RecordFile(files[name]):
            parsed.append(record.graph_id)
            kinds[record.post_type] += 1
            placeholders += len(record.formula_map)
            missing += len(record.missing)
        ids = table[id_column].to_pylist()
        if parts:
            rows = add_parts([*RecordTables(Topic).read(table)], parts)
            ids = [row[0] for row in rows]
        check_account(name, ids, parsed, [f.record_id for f in lost])
        reasons.update(failure.reason for failure in lost)
        partial.update(failure.reason for failure in failed if failure.kept)
    return describe_outcomes(kinds, reasons, partial, placeholders, missing)
