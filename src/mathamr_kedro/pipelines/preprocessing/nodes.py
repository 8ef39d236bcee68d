"""Nodes of the preprocessing stage: math graphs to arrays, one variant at a time."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from matplotlib.figure import Figure

from mathamr_kedro.base.checksums import checksum
from mathamr_kedro.base.progress import report_progress
from mathamr_kedro.base.records import CleanText, FormulaInstance, restore_latex
from mathamr_kedro.base.shards import EndOfShards, Shard, StartOfShards
from mathamr_kedro.base.workers import run_each
from mathamr_kedro.corpus import FormulaIds, name_part, take_part
from mathamr_kedro.datasets import GraphBlocks, PenmanShards, ShardedTable, VariantShard
from mathamr_kedro.formula import TreeStore
from mathamr_kedro.graph import (
    BuildFormulaBlocks,
    GraphBlock,
    GraphShards,
    LabelCounts,
    PairSplit,
    Preparation,
    PreparedGraphs,
    PreparedStore,
    PreprocessingConfig,
    Vocabularies,
    build_graph_blocks,
    describe_prepared,
    report_preparation,
)
from mathamr_kedro.graph.shards.layout import TEXTS
from mathamr_kedro.graph.shards.writer import place_texts, write_texts
from mathamr_kedro.text import SentenceEncoder, find_text_model

logger = logging.getLogger(__name__)

_PlacedText: TypeAlias = tuple[int, CleanText]
"""A text and the place of its graph."""


def build_blocks(
    math_graphs: PenmanShards, parameters: Mapping[str, Any]
) -> Iterator[VariantShard]:
    """Turn math graphs of posts or topics into arrays with virtual nodes."""
    config = PreprocessingConfig.read(parameters)
    variant = config.variant_key
    made_from = checksum("blocks", math_graphs.made_from)
    start = StartOfShards(made_from, {"math graphs": math_graphs.made_from})
    yield VariantShard(variant, start)
    todo = {
        shard: source
        for shard, source in math_graphs.checksums().items()
        if not start.is_finished(shard, source)
    }
    files = (item for item in math_graphs.shards() if item[0] in todo)
    function = partial(build_graph_blocks, variant=config.graph)
    yield from _build(function, files, config, made_from, todo, len(todo))
    yield VariantShard(variant, EndOfShards(made_from))


def build_formula_blocks(
    returnable_formulas: ShardedTable,
    blocks: GraphBlocks,
    formula_trees: TreeStore,
    parameters: Mapping[str, Any],
) -> Iterator[VariantShard]:
    """Build a graph for each returnable formula that no other graph has."""
    config = PreprocessingConfig.read(parameters)
    variant = config.variant_key
    sources = returnable_formulas.checksum, blocks.folder(variant).checksum
    made_from = checksum("formulas", *sources, formula_trees.made_from)
    start = StartOfShards(made_from)
    yield VariantShard(variant, start)
    files = returnable_formulas.files() if config.graph.has_formulas else []
    if not {file.stem for file in files} <= start.finished:
        without_graph = _FormulasWithoutGraph(
            returnable_formulas, blocks.formula_ids(variant)
        )
        items = (
            (file.stem, found)
            for file in files
            if (found := without_graph.take(file)) and file.stem not in start.finished
        )
        function = BuildFormulaBlocks(formula_trees.path, config.graph)
        total = len({file.stem for file in files} - start.finished)
        yield from _build(function, items, config, made_from, {}, total)
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
    chosen = split.training_posts or None
    if chosen is None and config.vocabulary.source is None:
        logger.warning("no training pairs: all graphs are counted")
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
    returnable_formulas: ShardedTable,
    split: PairSplit,
    vocabularies: Vocabularies,
    training_pairs: ShardedTable,
    parameters: Mapping[str, Any],
    folders: Mapping[str, str],
    post_texts: ShardedTable | None = None,
    topic_texts: ShardedTable | None = None,
    **blocks: GraphBlocks,
) -> PreparedGraphs:
    """Replace labels by their numbers; refuse returnable formulas without a graph.

    Texts are given for an encoder that reads their vectors.
    """
    config = PreprocessingConfig.read(parameters)
    variant = config.variant_key
    parts = {name: found.folder(variant) for name, found in blocks.items()}
    sources = {name: folder.checksum for name, folder in parts.items()}
    made_from = [sources["posts"], training_pairs.checksum]
    if config.vocabulary.source is not None:  # another folder may get its name
        vocabulary = vocabularies.types.names, vocabularies.relations.names
        made_from.append(checksum(*vocabulary))

    def number(name: str) -> Iterator[GraphBlock]:
        found = vocabularies.renumber(blocks[name].blocks(variant))
        total = parts[name].total("written")
        return report_progress(
            found, f"{name} numbered", lambda b: len(b.keys), total=total
        )

    write_texts = None
    if post_texts is not None and topic_texts is not None:
        write_texts = partial(
            encode_texts,
            posts=post_texts,
            topics=topic_texts,
            text_model=str(config.text_model),
        )
    preparation = Preparation(
        parameters=config,
        made_from=checksum(*made_from),
        topics_from=sources["topics"],
        types=vocabularies.types,
        relations=vocabularies.relations,
        split=split,
        posts=number("posts"),
        topics=number("topics"),
        formulas=number("formulas"),
        returnable=_list_ids(returnable_formulas),
        formulas_from=checksum(sources["formulas"], returnable_formulas.checksum),
        write_texts=write_texts,
        report={
            "vocabulary": asdict(vocabularies.report),
            **{name: folder.total("written") for name, folder in parts.items()},
            "failed": sum(folder.total("dropped") for folder in parts.values()),
            "returnable_formulas": returnable_formulas.counts.get("written", 0),
            "train_pairs": len(split.train),
            "validation_pairs": len(split.validation),
            "pairs_without_graph": split.without_graph,
        },
    )
    store = PreparedStore(Path(folders["prepared"]) / "mathamr_plus")
    store.save(preparation)
    return store.open(config)


def describe_prepared_graphs(
    prepared_graphs: PreparedGraphs,
) -> tuple[dict[str, Any], str, Figure]:
    """Describe the prepared graphs: sizes, coverage of the vocabulary, pairs."""
    statistics = describe_prepared(prepared_graphs.check())
    return statistics, *report_preparation(statistics)


class _FormulasWithoutGraph:
    """The formulas of a list that have no graph yet."""

    def __init__(self, formulas: ShardedTable, known: Iterable[Sequence[str]]) -> None:
        self._formulas, self._ids = formulas, _list_ids(formulas)
        self._seen = np.zeros(len(self._ids) + 1, dtype=np.bool_)  # the last: unknown
        for names in known:
            self._seen[self._ids.find(names)] = True

    def take(self, file: Path) -> list[FormulaInstance]:
        """Return those of one shard, each id once; they are without_graph no more."""
        names = self._formulas.read_file(file, ["formula_id"])["formula_id"]
        places, rows = np.unique(self._ids.find(names.to_pylist()), return_index=True)
        chosen = np.sort(rows[~self._seen[places]]).tolist()
        self._seen[places] = True
        return list(self._formulas.read_rows(file, chosen))


def _list_ids(formulas: ShardedTable) -> FormulaIds:
    return FormulaIds(
        name
        for table in formulas.tables(["formula_id"])
        for name in table["formula_id"].to_pylist()
    )


def _build(
    function: Callable[[Sequence[Any]], Sequence[GraphBlock]],
    items: Iterable[tuple[str, Any]],
    config: PreprocessingConfig,
    made_from: str,
    sources: Mapping[str, str],
    total: int,
) -> Iterator[VariantShard]:
    """Build one block for each item; log graphs that could not be built."""
    blocks = run_each(function, items, config.workers)
    for name, block in report_progress(
        blocks, "shards turned into arrays", total=total
    ):
        for key, reason in block.failures:
            logger.warning("no arrays for %s: %s", key, reason)
        counts = {"written": len(block.keys), "dropped": len(block.failures)}
        shard = Shard(name, made_from, block, counts, sources.get(name, ""))
        yield VariantShard(config.variant_key, shard)


def encode_texts(
    folder: Path, posts: ShardedTable, topics: ShardedTable, text_model: str
) -> None:
    """Encode texts of posts and topics for an encoder that reads them, or resume.

    Single formulas have no words.
    """
    graphs = PreparedGraphs(folder)
    encode = SentenceEncoder(find_text_model(text_model)).encode
    width = 0
    for shards, read in (
        (graphs.posts, partial(_read_posts, graphs.posts, posts)),
        (graphs.topics, partial(_read_topics, graphs.topics, topics)),
        (graphs.formulas, tuple),
    ):
        path, count = shards.folder / TEXTS, len(shards)
        texts = ((place, restore_latex(*text)) for place, text in read())
        width = write_texts(path, count, texts, encode, count, width)


def _read_posts(shards: GraphShards, posts: ShardedTable) -> Iterator[_PlacedText]:
    places = {key: place for place, key in enumerate(shards.keys)}
    return place_texts(places, posts.records())


def _read_topics(shards: GraphShards, topics: ShardedTable) -> Iterator[_PlacedText]:
    places = {key: place for place, key in enumerate(shards.keys)}
    for topic in topics.records():
        clean = CleanText(topic.text, topic.formula_map)
        parts = {
            topic.topic_id: clean,
            name_part(topic.topic_id, "words"): take_part(clean, "words"),
            name_part(topic.topic_id, "formulas"): take_part(clean, "formulas"),
        }
        for key, part in parts.items():
            if key in places:
                yield places[key], part
