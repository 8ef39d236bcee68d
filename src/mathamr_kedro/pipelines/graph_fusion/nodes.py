"""Nodes of the fusion stage: shards of AMR records to workers, what they come to back.

``fuse_graphs`` yields shards as ``(failures, facts)``; the facts come last, because a
shard counts as finished once they are written.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from matplotlib.figure import Figure

from mathamr_kedro.base.checksums import checksum, name_version
from mathamr_kedro.base.records import Failure
from mathamr_kedro.base.shards import EndOfShards, Shard, ShardPairs, StartOfShards
from mathamr_kedro.base.workers import (
    Failed,
    Partition,
    PartitionResult,
    run_partitions,
)
from mathamr_kedro.datasets import (
    MathGraphs,
    PenmanShards,
    ShardedTable,
    StartOfFusion,
)
from mathamr_kedro.datasets.math_graphs import TREES
from mathamr_kedro.formula import TreeStore
from mathamr_kedro.graph import (
    CheckedRecord,
    CheckRecords,
    GraphTally,
    RecordFile,
    ShardFacts,
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
    step = name_version("fusion", CheckRecords.VERSION)
    parts = {
        "AMR graphs": amr_graphs.made_from,
        TREES: formula_trees.made_from,
        "version of the fusion": step,
    }
    made_from = checksum(*parts.values())
    failures = StartOfShards(made_from)
    start = StartOfFusion(
        made_from, parts, amr_graphs=amr_graphs.path, trees=formula_trees.path
    )
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
    function = CheckRecords(formula_trees.path)
    counts = amr_graphs.counts_by_shard
    total = sum(counts[name].get("written", 0) for name in todo)
    for result in run_partitions(
        function, partitions, config.workers, "graphs fused", total
    ):
        yield _make_shards(made_from, result, todo[result.name])
    yield EndOfShards(made_from), EndOfShards(made_from)


def describe_math_graphs(
    math_graphs: MathGraphs,
    amr_failures: ShardedTable,
    fusion_failures: ShardedTable,
    training_pairs: ShardedTable,
    ingestion_statistics: Mapping[str, Any],
    amr_parser: Mapping[str, Any],
) -> tuple[dict[str, Any], str, Figure]:
    """Count nodes, edges and formulas of the graphs, as in Tables 4.2 and 4.3."""
    tally = GraphTally()
    for facts in math_graphs.facts():
        tally.merge(facts.tally)
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
    records = [r if isinstance(r, CheckedRecord) else None for r in result.results]
    facts = ShardFacts.of_records(records)
    read, dropped = len(records), len(facts.dropped)
    counts = {"read": read, "written": read - dropped, "dropped": dropped}
    return (
        Shard.of_rows(result.name, made_from, failures),
        Shard(result.name, made_from, facts, counts, source),
    )


def _list_failures(
    shard: str, results: Sequence[CheckedRecord | Failed]
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
