"""Nodes of the preprocessing stage: math graphs to arrays, one variant at a time."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import plotly.graph_objects as go

from mathamr_kedro.datasets.graph_blocks import GraphBlocks, VariantShard
from mathamr_kedro.datasets.penman_shards import PenmanShards
from mathamr_kedro.datasets.sharded_table import ShardedTable
from mathamr_kedro.errors import ConfigurationError, WorkerError
from mathamr_kedro.files import fingerprint
from mathamr_kedro.graph import (
    BuildBlocks,
    GraphBlock,
    LabelCounts,
    PairSplit,
    Preparation,
    PreparedStore,
    PreprocessingConfig,
    Vocabularies,
    describe_prepared,
    draw_vocabulary,
    write_preparation_report,
)
from mathamr_kedro.progress import report_progress
from mathamr_kedro.shards import EndOfShards, Shard
from mathamr_kedro.workers import Failed, Partition, run_partitions

logger = logging.getLogger(__name__)


def build_post_blocks(
    math_graphs: PenmanShards,
    so_far: GraphBlocks,
    parameters: Mapping[str, Any],
    fusion: Mapping[str, Any],
) -> Iterator[VariantShard]:
    """Yield the graphs of the posts as arrays, numbered shard by shard."""
    settings = PreprocessingConfig.read(parameters)
    _refuse_missing_trees(settings, fusion)
    yield from _build("posts", math_graphs, so_far, settings)


def build_topic_blocks(
    topic_math_graphs: PenmanShards, so_far: GraphBlocks, parameters: Mapping[str, Any]
) -> Iterator[VariantShard]:
    """Yield the graphs of the topics as arrays, numbered shard by shard."""
    settings = PreprocessingConfig.read(parameters)
    yield from _build("topics", topic_math_graphs, so_far, settings)


def split_training_pairs(
    training_pairs: ShardedTable, blocks: GraphBlocks, parameters: Mapping[str, Any]
) -> PairSplit:
    """Keep the pairs whose graphs exist; split them by the seed."""
    settings = PreprocessingConfig.read(parameters)
    pairs = [(pair.question_id, pair.answer_id) for pair in training_pairs.records()]
    wanted = {post for pair in pairs for post in pair}
    graphs = wanted.intersection(blocks.keys(settings.variant_key))
    split = PairSplit.draw(pairs, graphs, settings.pairs)
    logger.info(
        "%s training and %s validation pairs, %s pairs without a graph",
        f"{len(split.train):,}",
        f"{len(split.validation):,}",
        f"{split.without_graph:,}",
    )
    return split


def count_vocabularies(
    blocks: GraphBlocks, split: PairSplit, parameters: Mapping[str, Any]
) -> Vocabularies:
    """Count node types and relations of the training graphs."""
    settings = PreprocessingConfig.read(parameters)
    chosen = None
    if settings.vocabulary.graphs == "training":
        chosen = split.training_posts
        if not chosen:
            if settings.vocabulary.source is None:
                logger.warning("no training pairs: all graphs are counted")
            chosen = None
    counts = LabelCounts.of_blocks(blocks.blocks(settings.variant_key), chosen)
    vocabularies = Vocabularies.build(counts, settings.vocabulary, settings.graph)
    logger.info(
        "%s node types cover %.2f %% of the nodes of %s graphs",
        f"{vocabularies.report.types:,}",
        100 * vocabularies.report.coverage,
        f"{vocabularies.report.graphs:,}",
    )
    return vocabularies


def number_graphs(
    blocks: GraphBlocks,
    topic_blocks: GraphBlocks,
    split: PairSplit,
    vocabularies: Vocabularies,
    training_pairs: ShardedTable,
    parameters: Mapping[str, Any],
) -> Preparation:
    """Give all graphs the numbers of the vocabularies."""
    settings = PreprocessingConfig.read(parameters)
    variant = settings.variant_key
    made_from = [blocks.fingerprint(variant), training_pairs.fingerprint]
    if settings.vocabulary.source is not None:  # another folder may get its name
        vocabulary = vocabularies.types.types, vocabularies.relations.roles
        made_from.append(fingerprint(*vocabulary))

    def number(source: GraphBlocks, name: str) -> Iterator[GraphBlock]:
        found = vocabularies.renumber(source.blocks(variant))
        return report_progress(found, f"{name} numbered", lambda b: len(b.keys))

    return Preparation(
        parameters=settings,
        made_from=fingerprint(*made_from),
        topics_from=topic_blocks.fingerprint(variant),
        types=vocabularies.types,
        relations=vocabularies.relations,
        split=split,
        posts=number(blocks, "posts"),
        topics=number(topic_blocks, "topics"),
        report={
            "vocabulary": vocabularies.report.to_dict(),
            "posts": blocks.total(variant, "written"),
            "topics": topic_blocks.total(variant, "written"),
            "failed": blocks.total(variant, "dropped")
            + topic_blocks.total(variant, "dropped"),
            "train_pairs": len(split.train),
            "validation_pairs": len(split.validation),
            "pairs_without_graph": split.without_graph,
        },
    )


def describe_prepared_graphs(
    prepared_graphs: PreparedStore, parameters: Mapping[str, Any]
) -> tuple[dict[str, Any], str, go.Figure]:
    """Return statistics, a report and a figure of what was prepared."""
    prepared = prepared_graphs.open(PreprocessingConfig.read(parameters))
    statistics = describe_prepared(prepared)
    return statistics, write_preparation_report(statistics), draw_vocabulary(statistics)


def _refuse_missing_trees(
    settings: PreprocessingConfig, fusion: Mapping[str, Any]
) -> None:
    mode = settings.graph.formula_mode
    if fusion.get("mode") == "mathamr" and mode in ("slt", "both"):
        raise ConfigurationError(
            f"Expected formula_mode 'opt' or 'none' for graphs of fusion mode "
            f"'mathamr', which have no layout trees (got {mode!r}) "
            "(conf/<env>/parameters/preprocessing.yml)"
        )


def _build(
    name: str,
    graphs: PenmanShards,
    so_far: GraphBlocks,
    settings: PreprocessingConfig,
) -> Iterator[VariantShard]:
    variant = settings.variant_key
    made_from = fingerprint("blocks", graphs.fingerprint)
    done = so_far.finished(variant, made_from)
    partitions = (
        Partition(shard, [file]) for shard, file in graphs.shards() if shard not in done
    )
    workers = replace(settings.workers, batch_size=1)
    results = run_partitions(BuildBlocks(settings.graph), partitions, workers)
    for result in report_progress(results, f"shards of {name} turned into arrays"):
        block = result.results[0]
        if isinstance(block, Failed):
            raise WorkerError(f"Shard {result.name!r}: {block.detail}")
        for key, reason in block.failures:
            logger.warning("no arrays for %s: %s", key, reason)
        counts = {"written": len(block.keys), "dropped": len(block.failures)}
        yield VariantShard(variant, Shard(result.name, made_from, block, counts))
    yield VariantShard(variant, EndOfShards(made_from))
