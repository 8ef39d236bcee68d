"""Nodes of the preprocessing stage: math graphs to arrays, one variant at a time."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import plotly.graph_objects as go

from mathamr_kedro.datasets import GraphBlocks, PenmanShards, ShardedTable, VariantShard
from mathamr_kedro.errors import ConfigurationError, WorkerError
from mathamr_kedro.files import fingerprint
from mathamr_kedro.graph import (
    BuildBlocks,
    GraphBlock,
    LabelCounts,
    PairSplit,
    Preparation,
    PreparedStore,
    Vocabularies,
    describe_prepared,
    report_preparation,
)
from mathamr_kedro.pipelines.preprocessing.parameters import PreprocessingConfig
from mathamr_kedro.progress import report_progress
from mathamr_kedro.shards import EndOfShards, Shard, StartOfShards
from mathamr_kedro.workers import Failed, Partition, run_partitions

logger = logging.getLogger(__name__)


def build_blocks(
    math_graphs: PenmanShards, parameters: Mapping[str, Any], fusion: Mapping[str, Any]
) -> Iterator[VariantShard]:
    """Turn math graphs of posts or topics into arrays with virtual nodes."""
    config = PreprocessingConfig.read(parameters)
    _refuse_missing_trees(config, fusion)
    variant = config.variant_key
    made_from = fingerprint("blocks", math_graphs.made_from)
    start = StartOfShards(made_from, {"math graphs": math_graphs.made_from})
    yield VariantShard(variant, start)
    digests = math_graphs.digests()
    partitions = (
        Partition(shard, [file])
        for shard, file in math_graphs.shards()
        if not start.is_finished(shard, digests.get(shard, ""))
    )
    workers = replace(config.workers, batch_size=1)
    results = run_partitions(BuildBlocks(config.graph), partitions, workers)
    for result in report_progress(results, "shards turned into arrays"):
        block = result.results[0]
        if isinstance(block, Failed):
            raise WorkerError(f"Shard {result.name!r}: {block.detail}")
        for key, reason in block.failures:
            logger.warning("no arrays for %s: %s", key, reason)
        counts = {"written": len(block.keys), "dropped": len(block.failures)}
        source = digests.get(result.name, "")
        shard = Shard(result.name, made_from, block, counts, source)
        yield VariantShard(variant, shard)
    yield VariantShard(variant, EndOfShards(made_from))


def split_training_pairs(
    training_pairs: ShardedTable, blocks: GraphBlocks, parameters: Mapping[str, Any]
) -> PairSplit:
    """Split the pairs that have graphs into training and validation, by the seed."""
    config = PreprocessingConfig.read(parameters)
    pairs = [(pair.question_id, pair.answer_id) for pair in training_pairs.records()]
    wanted = {post for pair in pairs for post in pair}
    graphs = wanted.intersection(blocks.keys(config.variant_key))
    split = PairSplit.draw(pairs, graphs, config.pairs)
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
    """Count node types and relations of the training graphs: the vocabularies."""
    config = PreprocessingConfig.read(parameters)
    chosen = None
    if config.vocabulary.graphs == "training":
        chosen = split.training_posts
        if not chosen:
            if config.vocabulary.source is None:
                logger.warning("no training pairs: all graphs are counted")
            chosen = None
    counts = LabelCounts.of_blocks(blocks.blocks(config.variant_key), chosen)
    vocabularies = Vocabularies.build(counts, config.vocabulary, config.graph)
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
    """Replace labels and roles of all graphs by their numbers in the vocabularies."""
    config = PreprocessingConfig.read(parameters)
    variant = config.variant_key
    made_from = [blocks.fingerprint(variant), training_pairs.fingerprint]
    if config.vocabulary.source is not None:  # another folder may get its name
        vocabulary = vocabularies.types.types, vocabularies.relations.roles
        made_from.append(fingerprint(*vocabulary))

    def number(source: GraphBlocks, name: str) -> Iterator[GraphBlock]:
        found = vocabularies.renumber(source.blocks(variant))
        return report_progress(found, f"{name} numbered", lambda b: len(b.keys))

    return Preparation(
        parameters=config,
        made_from=fingerprint(*made_from),
        topics_from=topic_blocks.fingerprint(variant),
        types=vocabularies.types,
        relations=vocabularies.relations,
        split=split,
        posts=number(blocks, "posts"),
        topics=number(topic_blocks, "topics"),
        report={
            "vocabulary": vocabularies.report.to_dict(),
            **_count_graphs(variant, blocks, topic_blocks),
            "train_pairs": len(split.train),
            "validation_pairs": len(split.validation),
            "pairs_without_graph": split.without_graph,
        },
    )


def describe_prepared_graphs(
    prepared_graphs: PreparedStore, parameters: Mapping[str, Any]
) -> tuple[dict[str, Any], str, go.Figure]:
    """Describe the prepared graphs: sizes, coverage of the vocabulary, pairs."""
    prepared = prepared_graphs.open(PreprocessingConfig.read(parameters)).check()
    statistics = describe_prepared(prepared)
    return statistics, *report_preparation(statistics)


def _count_graphs(
    variant: str, posts: GraphBlocks, topics: GraphBlocks
) -> dict[str, int]:
    dropped = (blocks.total(variant, "dropped") for blocks in (posts, topics))
    return {
        "posts": posts.total(variant, "written"),
        "topics": topics.total(variant, "written"),
        "failed": sum(dropped),
    }


def _refuse_missing_trees(
    config: PreprocessingConfig, fusion: Mapping[str, Any]
) -> None:
    mode = config.graph.formula_mode
    if fusion.get("mode") == "mathamr" and mode in ("slt", "both"):
        raise ConfigurationError(
            f"Expected formula_mode 'opt' or 'none' for graphs of fusion mode "
            f"'mathamr', which have no layout trees (got {mode!r}) "
            "(conf/<env>/parameters/preprocessing.yml)"
        )
