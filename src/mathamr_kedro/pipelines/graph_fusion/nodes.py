"""Nodes of the fusion stage: shards of AMR records to workers, math graphs back.

The ``fuse_*`` nodes yield shards as ``(failures, graphs)``; the graphs come last,
because a shard counts as finished once they are written.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import plotly.graph_objects as go

from mathamr_kedro.datasets.penman_shards import PenmanShards
from mathamr_kedro.datasets.sharded_table import ShardedTable
from mathamr_kedro.errors import WorkerError
from mathamr_kedro.files import fingerprint
from mathamr_kedro.formula import TreeStore
from mathamr_kedro.graph import (
    FusedRecord,
    FuseRecords,
    FusionMode,
    GraphTally,
    draw_graph_sizes,
    read_blocks,
    write_graph_report,
)
from mathamr_kedro.parameters import read_parameters
from mathamr_kedro.progress import report_progress
from mathamr_kedro.records import Failure
from mathamr_kedro.shards import EndOfShards, Shard
from mathamr_kedro.workers import Failed, Partition, WorkerConfig, run_partitions

logger = logging.getLogger(__name__)

Shards = Iterator[tuple[Shard | EndOfShards, Shard | EndOfShards]]
Finished = Callable[[str], frozenset[str]]


@dataclass(frozen=True)
class GraphFusionParameters:
    """What the stage reads from ``conf/<env>/parameters/graph_fusion.yml``."""

    mode: FusionMode = "mathamr_plus"
    """``mathamr_plus``: both trees (thesis 3.1); ``mathamr``: operator trees alone."""
    workers: WorkerConfig = field(default_factory=WorkerConfig)


def fuse_post_graphs(
    amr_graphs: PenmanShards,
    formula_trees: TreeStore,
    finished: Finished,
    parameters: Mapping[str, Any],
) -> Shards:
    """Yield the math graphs of the posts."""
    yield from _fuse("posts", amr_graphs, formula_trees, finished, _read(parameters))


def fuse_topic_graphs(
    topic_amr_graphs: PenmanShards,
    formula_trees: TreeStore,
    finished: Finished,
    parameters: Mapping[str, Any],
) -> Shards:
    """Yield the math graphs of the topics."""
    settings = _read(parameters)
    yield from _fuse("topics", topic_amr_graphs, formula_trees, finished, settings)


def describe_math_graphs(
    math_graphs: PenmanShards,
    amr_failures: ShardedTable,
    fusion_failures: ShardedTable,
    training_pairs: ShardedTable,
    parameters: Mapping[str, Any],
) -> tuple[dict[str, Any], str, go.Figure]:
    """Return statistics as in Table 4.2, a report and a figure."""
    settings = _read(parameters)
    tally = GraphTally()
    workers = replace(settings.workers, batch_size=1)
    files = [Partition(name, [file]) for name, file in math_graphs.shards()]
    for done in report_progress(
        run_partitions(GraphTally.of_files, files, workers), "shards described"
    ):
        if isinstance(done.results[0], Failed):
            raise WorkerError(f"Shard {done.name!r}: {done.results[0].detail}")
        tally.merge(done.results[0])
    lost, notes = _count_reasons(amr_failures, fusion_failures)
    pairs = training_pairs.counts.get("written", 0)
    statistics = {
        "mode": settings.mode,
        **tally.describe(lost, pairs),
        "notes": dict(notes),
    }
    return statistics, write_graph_report(statistics), draw_graph_sizes(statistics)


def _read(parameters: Mapping[str, Any]) -> GraphFusionParameters:
    return read_parameters(GraphFusionParameters, parameters, where="graph_fusion")


def _fuse(
    source: str,
    amr_graphs: PenmanShards,
    trees: TreeStore,
    finished: Finished,
    settings: GraphFusionParameters,
) -> Shards:
    made_from = fingerprint(
        "fusion", amr_graphs.fingerprint, trees.made_from, settings.mode
    )
    done = finished(made_from)
    partitions = (
        Partition(name, list(read_blocks(file)))
        for name, file in amr_graphs.shards()
        if name not in done
    )
    function = FuseRecords(trees.path, settings.mode)
    results = run_partitions(function, partitions, settings.workers)
    for result in report_progress(results, f"{source} fused", lambda r: len(r.items)):
        failures = list(_list_failures(source, result.name, result.results))
        texts = [
            r.text for r in result.results if isinstance(r, FusedRecord) and r.text
        ]
        read, written = len(result.items), len(texts)
        counts = {"read": read, "written": written, "dropped": read - written}
        yield (
            Shard(result.name, made_from, failures, {"written": len(failures)}),
            Shard(result.name, made_from, "".join(texts), counts),
        )
    yield EndOfShards(made_from), EndOfShards(made_from)


def _list_failures(
    source: str, shard: str, results: Sequence[FusedRecord | Failed]
) -> Iterator[Failure]:
    for place, result in enumerate(results):
        if isinstance(result, Failed):
            where = f"{shard}, record {place}"
            yield Failure(
                "graph_fusion", source, where, "", result.reason, result.detail
            )
            continue
        for failure in result.problems:
            yield failure._replace(source=source, place=shard)


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
