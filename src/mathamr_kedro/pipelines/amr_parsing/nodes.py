"""Nodes of the AMR parsing stage: shards of texts to workers, graphs back to shards.

The ``parse_*`` nodes yield shards as ``(failures, graphs)``; the graphs come last,
because a shard counts as finished once they are written.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import plotly.graph_objects as go
import pyarrow.parquet as pq

from mathamr_kedro.amr.report import draw_sizes, write_report
from mathamr_kedro.amr.statistics import (
    GraphStatistics,
    check_account,
    describe_outcomes,
)
from mathamr_kedro.amr.texts import ParseTexts
from mathamr_kedro.corpus import RecordTables
from mathamr_kedro.datasets.penman_shards import PenmanShards
from mathamr_kedro.datasets.sharded_table import ShardedTable
from mathamr_kedro.errors import MissingInputError
from mathamr_kedro.files import fingerprint
from mathamr_kedro.graph.penman_records import read_records
from mathamr_kedro.pipelines.amr_parsing.parameters import AmrParsingParameters
from mathamr_kedro.pipelines.amr_parsing.pieces import (
    Piece,
    assemble_piece,
    cut_table,
    read_pieces,
)
from mathamr_kedro.progress import report_progress
from mathamr_kedro.records import Failure
from mathamr_kedro.shards import EndOfShards, Shard
from mathamr_kedro.workers import Partition, run_partitions

Shards = Iterator[tuple[Shard | EndOfShards, Shard | EndOfShards]]
Finished = Callable[[str], frozenset[str]]


def parse_posts(
    posts: ShardedTable, finished: Finished, parameters: Mapping[str, Any]
) -> Shards:
    """Yield the graphs of the posts, or the reasons why there are none."""
    yield from _parse("posts", posts, finished, AmrParsingParameters.read(parameters))


def parse_topics(
    topics: ShardedTable, finished: Finished, parameters: Mapping[str, Any]
) -> Shards:
    """Yield the graphs of the topics, or the reasons why there are none."""
    yield from _parse("topics", topics, finished, AmrParsingParameters.read(parameters))


def collect_parse_failures(*tables: ShardedTable) -> Iterator[Shard | EndOfShards]:
    """Put all failures into one table."""
    made_from = fingerprint("amr_failures", *(table.fingerprint for table in tables))
    for table in tables:
        for file, failures in zip(table.files(), table.tables(), strict=True):
            if failures.num_rows:
                counts = {"written": failures.num_rows}
                yield Shard(file.stem, made_from, failures, counts)
    yield EndOfShards(made_from)


def describe_parsing(
    posts: ShardedTable,
    topics: ShardedTable,
    graphs: PenmanShards,
    topic_graphs: PenmanShards,
    failures: ShardedTable,
    topic_failures: ShardedTable,
    parameters: Mapping[str, Any],
) -> tuple[dict[str, Any], str, go.Figure]:
    """Return statistics, report and figure; refuse accounts that do not balance."""
    settings = AmrParsingParameters.read(parameters)
    statistics = {
        "parser": settings.identity(),
        "posts": _describe(posts, graphs, failures, settings),
        "topics": _describe(topics, topic_graphs, topic_failures, settings),
    }
    return statistics, write_report(statistics), draw_sizes(statistics)


def _parse(
    source: str, texts: ShardedTable, finished: Finished, settings: AmrParsingParameters
) -> Shards:
    made_from = _made_from(texts, settings)
    done = finished(made_from)
    pieces = cut_table(texts, settings.posts_per_shard)
    missing = [piece for piece in pieces if piece.name not in done]
    # Rows wait here while their texts are with a worker; the runner bounds how many.
    waiting: dict[str, list[Any]] = {}
    partitions = _make_partitions(missing, texts.record, waiting)
    function = ParseTexts(settings.parser_settings, settings.max_chunk_tokens)
    results = run_partitions(function, partitions, settings.runner_settings)
    for result in report_progress(results, f"{source} parsed", lambda r: len(r.items)):
        rows = waiting.pop(result.name)
        parsed = assemble_piece(source, result.name, rows, result.results)
        failed = {"written": len(parsed.failures)}
        yield (
            Shard(result.name, made_from, parsed.failures, failed),
            Shard(result.name, made_from, parsed.records, parsed.counts),
        )
    yield EndOfShards(made_from), EndOfShards(made_from)


def _made_from(texts: ShardedTable, settings: AmrParsingParameters) -> str:
    return fingerprint("amr", texts.fingerprint, settings.identity())


def _make_partitions(
    pieces: Sequence[Piece], record: type, waiting: dict[str, list[Any]]
) -> Iterator[Partition]:
    for piece, table in read_pieces(pieces):
        rows: list[Any] = list(RecordTables(record).read(table))
        waiting[piece.name] = rows
        yield Partition(piece.name, [row.text for row in rows])


def _describe(
    texts: ShardedTable,
    graphs: PenmanShards,
    failures: ShardedTable,
    settings: AmrParsingParameters,
) -> dict[str, Any]:
    """Return the statistics of one table, shard by shard."""
    if graphs.fingerprint != _made_from(texts, settings):
        raise MissingInputError(
            "The graphs were made from other texts or parameters; run the whole stage: "
            "kedro run --pipeline amr_parsing"
        )
    statistics = GraphStatistics()
    reasons: Counter[str] = Counter()
    partial: Counter[str] = Counter()
    files = dict(graphs.shards())
    failed_files = {file.stem: file for file in failures.files()}
    id_column = texts.empty().column_names[0]
    pieces = list(cut_table(texts, settings.posts_per_shard))
    for piece, table in read_pieces(pieces, [id_column]):
        table_of_failed = pq.read_table(failed_files[piece.name])
        failed = list(RecordTables(Failure).read(table_of_failed))
        lost = [failure for failure in failed if not failure.kept]
        parsed = _count_graphs(files[piece.name], statistics)
        ids = table[id_column].to_pylist()
        check_account(piece.name, ids, parsed, [f.record_id for f in lost])
        reasons.update(failure.reason for failure in lost)
        partial.update(failure.reason for failure in failed if failure.kept)
    described = statistics.describe()
    by_type = described.pop("graphs")
    outcomes = describe_outcomes(by_type.pop("total"), reasons, partial)
    return {**outcomes, "graphs_by_type": by_type, **described}


def _count_graphs(file: Any, statistics: GraphStatistics) -> list[str]:
    """Count the graphs of a shard; return their ids."""
    ids: list[str] = []
    for record in read_records(file):
        ids.append(record.graph_id)
        formulas, missing = len(record.formula_map), len(record.missing)
        statistics.add(record.post_type, record.graph, formulas, missing)
    return ids
