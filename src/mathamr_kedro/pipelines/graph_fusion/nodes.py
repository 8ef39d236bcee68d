"""Nodes of the fusion stage: shards of AMR records to workers, math graphs back.

``fuse_graphs`` yields shards as ``(failures, graphs)``; the graphs come last,
because a shard counts as finished once they are written.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from matplotlib.figure import Figure

from mathamr_kedro.base.checksums import checksum, name_version
from mathamr_kedro.base.progress import report_progress
from mathamr_kedro.base.records import Failure
from mathamr_kedro.base.shards import (
    EndOfShards,
    Shard,
    ShardPairs,
    StartOfShards,
    pair_shards,
)
from mathamr_kedro.base.workers import (
    Failed,
    Partition,
    PartitionResult,
    run_each,
    run_partitions,
)
from mathamr_kedro.datasets import PenmanShards, ShardedTable
from mathamr_kedro.formula import TreeStore
from mathamr_kedro.graph import (
    FusedRecord,
    FuseRecords,
    GraphTally,
    RecordFile,
    report_graphs,
)
from mathamr_kedro.pipelines.graph_fusion import GraphFusionConfig

logger = logging.getLogger(__name__)


def fuse_graphs(
    amr_graphs: PenmanShards, formula_trees: TreeStore, parameters: Mapping[str, Any]
) -> ShardPairs:
    """Fuse formula trees into AMR graphs of posts or topics (thesis 3.1)."""
    config = GraphFusionConfig.read(parameters)
    formula_trees.check()
    step = name_version("fusion", FuseRecords.VERSION)
    inputs = amr_graphs.made_from, formula_trees.made_from
    made_from = checksum(step, *inputs)
    names = ("AMR graphs", "formula trees", "version of the fusion")
    parts = dict(zip(names, (*inputs, step), strict=True))
    failures, start = StartOfShards(made_from), StartOfShards(made_from, parts)
    yield failures, start
    todo = {
        name: source
        for name, source in amr_graphs.checksums().items()
        if name not in failures.finished or not start.is_finished(name, source)
    }
    partitions = (
        Partition(name, list(RecordFile(file).blocks()))
        for name, file in amr_graphs.shards()
        if name in todo
    )
    function = FuseRecords(formula_trees.path)
    counts = amr_graphs.counts_by_shard
    total = sum(counts[name].get("written", 0) for name in todo)
    for result in run_partitions(
        function, partitions, config.workers, "graphs fused", total
    ):
        yield _make_shards(made_from, result, todo[result.name])
    yield EndOfShards(made_from), EndOfShards(made_from)


def describe_math_graphs(
    math_graphs: PenmanShards,
    amr_failures: ShardedTable,
    fusion_failures: ShardedTable,
    training_pairs: ShardedTable,
    ingestion_statistics: Mapping[str, Any],
    amr_parser: Mapping[str, Any],
    parameters: Mapping[str, Any],
) -> tuple[dict[str, Any], str, Figure]:
    """Count nodes, edges and formulas of the graphs, as in Tables 4.2 and 4.3."""
    config = GraphFusionConfig.read(parameters)
    tally = GraphTally()
    tallies = run_each(GraphTally.of_files, math_graphs.shards(), config.workers)
    total = len(math_graphs.counts_by_shard)
    for _, found in report_progress(tallies, "shards described", total=total):
        tally.merge(found)
    lost, notes = _count_reasons(amr_failures, fusion_failures)
    pairs = training_pairs.counts.get("written", 0)
    statistics = {
        "parser": dict(amr_parser),
        **tally.describe(lost, pairs),
        "notes": dict(notes),
        "collection": {
            "posts": ingestion_statistics["posts"],
            "formulas": ingestion_statistics["formulas"]["rows"],
            "judgments": ingestion_statistics["judgments"],
        },
    }
    return statistics, *report_graphs(statistics)


def _make_shards(
    made_from: str, result: PartitionResult, source: str
) -> tuple[Shard, Shard]:
    failures = list(_list_failures(result.name, result.results))
    texts = [r.text for r in result.results if isinstance(r, FusedRecord) and r.text]
    read = len(result.items)
    return pair_shards(result.name, made_from, failures, texts, read, source)


def _list_failures(
    shard: str, results: Sequence[FusedRecord | Failed]
) -> Iterator[Failure]:
    source = shard.partition("-")[0]  # shards are named after their table
    for place, result in enumerate(results):
        if isinstance(result, Failed):
            where = f"{shard}, record {place}"
            head = ("graph_fusion", source, where, "")
            yield Failure(*head, result.reason, result.detail).classify()
            continue
        for failure in result.problems:
            yield failure._replace(source=source, place=shard).classify()


def _count_reasons(*tables: ShardedTable) -> tuple[Counter[str], Counter[str]]:
    """Count the reasons why posts have no graph, and the notes on those that have."""
    lost: Counter[str] = Counter()
    notes: Counter[str] = Counter()
    for table in tables:
        for part in table.tables(["reason", "kept"]):
            for reason, kept in zip(
                part["reason"].to_pylist(), part["kept"].to_pylist(), strict=True
            ):
                (notes if kept else lost)[reason] += 1
    return lost, notes
