"""Nodes of the ingestion stage: adapt catalog data to the readers of ``corpus``.

Every ``extract_*`` node yields shards as ``(failures, records)``
(:mod:`mathamr_kedro.pipelines.ingestion.extraction`).
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any

import plotly.graph_objects as go
import pyarrow as pa

from mathamr_kedro.base.checksums import checksum, name_version
from mathamr_kedro.base.progress import report_progress
from mathamr_kedro.base.shards import EndOfShards, Shard, ShardPairs
from mathamr_kedro.corpus import (
    Collection,
    Part,
    PostCleaner,
    TopicFormulas,
    VisualIndex,
    check_accounts,
    check_formula_ids,
    clean_comment,
    clean_topic,
    count_failures,
    count_unexplained,
    describe_disagreements,
    describe_formulas,
    describe_judgments,
    describe_posts,
    unknown_posts,
)
from mathamr_kedro.corpus.report import report_ingestion
from mathamr_kedro.datasets import ShardedTable, StartOfTrees
from mathamr_kedro.formula import BuildTrees, TreeStore
from mathamr_kedro.formula.tree_rows import VERSION as TREES_VERSION
from mathamr_kedro.pipelines.ingestion.extraction import extract_shards, name_inputs
from mathamr_kedro.pipelines.ingestion.parameters import IngestionConfig
from mathamr_kedro.pipelines.ingestion.selection import open_subset
from mathamr_kedro.pipelines.ingestion.tree_batches import TreeBatches
from mathamr_kedro.pipelines.ingestion.tree_sources import FormulaSources

logger = logging.getLogger(__name__)

_PARTS: Mapping[str, tuple[Part, ...]] = {
    "posts": ("posts", "formulas"),
    "comments": ("comments", "formulas"),
    "post_links": ("links",),
    "tags": ("tags",),
    "votes": ("votes",),
    "topics": ("topics", "topic_formulas", "topic_notes"),
    "topic_formulas": ("topic_formulas",),
    "judgments": ("qrels",),
}
"""What each table is made from; formula ids of posts are looked up in the index."""


def extract_formulas(
    collection: Collection, chosen_posts: ShardedTable, parameters: Mapping[str, Any]
) -> ShardPairs:
    """Read the formula index of the collection."""
    collection = open_subset(collection, chosen_posts, parameters)
    size = IngestionConfig.read(parameters).formulas_per_shard
    made_from, parts = name_inputs("formulas", collection, ("formulas",), size)
    sources = (
        (f"formulas-{table.zfill(4)}", read())
        for table, read in collection.formula_tables()
    )
    of = ("formulas", collection.count_bytes("formulas"))
    yield from extract_shards(made_from, sources, None, size, parts, of)


def index_visual_ids(formulas: ShardedTable) -> VisualIndex:
    """Map formula ids to what the index says: visual id, LaTeX, whose they are."""
    index = VisualIndex.build(formulas.tables(VisualIndex.COLUMNS))
    logger.info("indexed %s formulas", f"{len(index):,}")
    return index


def extract_posts(
    collection: Collection,
    visual_index: VisualIndex,
    chosen_posts: ShardedTable,
    parameters: Mapping[str, Any],
) -> ShardPairs:
    """Read the posts and put placeholders for formulas into their clean texts."""
    collection = open_subset(collection, chosen_posts, parameters)
    clean = PostCleaner(visual_index.find_row if len(visual_index) else None)
    raw = clean.watch(collection.posts())
    yield from _extract("posts", collection, raw, clean, parameters)


def extract_comments(
    collection: Collection,
    visual_index: VisualIndex,
    chosen_posts: ShardedTable,
    parameters: Mapping[str, Any],
) -> ShardPairs:
    """Read the comments and put placeholders for formulas into their clean texts."""
    collection = open_subset(collection, chosen_posts, parameters)
    find_row = visual_index.find_row if len(visual_index) else None
    clean = partial(clean_comment, find_row=find_row)
    yield from _extract(
        "comments", collection, collection.comments(), clean, parameters
    )


def extract_links(
    collection: Collection, chosen_posts: ShardedTable, parameters: Mapping[str, Any]
) -> ShardPairs:
    """Read the links between posts: duplicate and related questions."""
    collection = open_subset(collection, chosen_posts, parameters)
    yield from _extract("post_links", collection, collection.links(), None, parameters)


def extract_tags(collection: Collection, parameters: Mapping[str, Any]) -> ShardPairs:
    """Read the tags and how often each is used."""
    yield from _extract("tags", collection, collection.tags(), None, parameters)


def extract_votes(
    collection: Collection, chosen_posts: ShardedTable, parameters: Mapping[str, Any]
) -> ShardPairs:
    """Read the votes on posts."""
    collection = open_subset(collection, chosen_posts, parameters)
    yield from _extract("votes", collection, collection.votes(), None, parameters)


def extract_topics(
    collection: Collection, chosen_posts: ShardedTable, parameters: Mapping[str, Any]
) -> ShardPairs:
    """Read the topics with clean texts and what the organisers noted about them."""
    collection = open_subset(collection, chosen_posts, parameters)
    formulas = TopicFormulas(collection.topic_formulas())
    clean = partial(
        clean_topic,
        notes=collection.topic_notes(),
        formulas=formulas if len(formulas) else None,
    )
    yield from _extract("topics", collection, collection.topics(), clean, parameters)


def extract_topic_formulas(
    collection: Collection, parameters: Mapping[str, Any]
) -> ShardPairs:
    """Read the formulas of the topics; ``post_id`` holds the topic."""
    raw = collection.topic_formulas()
    yield from _extract("topic_formulas", collection, raw, None, parameters)


def extract_judgments(
    collection: Collection, chosen_posts: ShardedTable, parameters: Mapping[str, Any]
) -> ShardPairs:
    """Read the relevance judgments, each document once per topic and file."""
    collection = open_subset(collection, chosen_posts, parameters)
    raw = collection.judgments()
    yield from _extract("judgments", collection, raw, None, parameters)


def build_formula_trees(
    formulas: ShardedTable,
    topic_formulas: ShardedTable,
    posts: ShardedTable,
    comments: ShardedTable,
    parameters: Mapping[str, Any],
) -> Iterator[StartOfTrees | Shard | EndOfShards]:
    """Build layout and operator trees of all formulas, each distinct one once.

    The index comes first: it has MathML. Formulas that stand in texts alone are read
    from their LaTeX. The topics come last and are no part of the checksum: other
    topics add their trees and leave those of the posts as they are.
    """
    config = IngestionConfig.read(parameters)
    reader = config.formula_trees.latex_reader
    tables = (formulas, posts, comments, topic_formulas)
    sources = [table.checksum for table in tables[:-1]]
    step = name_version("trees", TREES_VERSION)
    made_from = checksum(step, *sources, *[reader] * (reader == "latexml"))
    names = ("formulas", "posts", "comments", "reader", "version of the trees")
    parts = dict(zip(names, (*sources, reader, step), strict=True))
    start = StartOfTrees(made_from, parts)
    yield start
    files = (
        (f"{source}-{table.checksum}-{file.stem}", table, file)
        for source, table in enumerate(tables)
        for file in table.files()
    )
    new = [file for file in files if file[0] not in start.finished]
    opened = (
        (name, *FormulaSources.list(table, file, table is topic_formulas))
        for name, table, file in new
    )
    batches = TreeBatches(start.find_missing).build(
        opened, BuildTrees(reader), config.workers
    )
    for name, batch in report_progress(
        batches, "shards of formulas turned into trees", total=len(new)
    ):
        yield Shard(name, made_from, batch, {"written": len(batch.rows)})
    yield EndOfShards(made_from)


def check_judgments(
    judgments: ShardedTable, posts: ShardedTable, visual_index: VisualIndex
) -> Iterator[Shard | EndOfShards]:
    """Check judgments: refuse ids of another kind, note judged posts not in here."""
    found = list(judgments.records())
    if len(visual_index):
        check_formula_ids(found, visual_index)
    judged = {j.doc_id for j in found if j.task == "task1"}
    known: set[str] = set()
    for table in posts.tables(["post_id"]):
        known |= judged.intersection(table["post_id"].to_pylist())
    made_from = checksum("check", judgments.checksum, posts.checksum)
    problems = list(unknown_posts(found, known, "task1"))
    yield Shard.of_rows("judgments-unknown", made_from, problems)
    yield EndOfShards(made_from)


def collect_failures(*tables: ShardedTable) -> Iterator[Shard | EndOfShards]:
    """Put everything that was wrong with raw records into one table."""
    made_from = checksum("failures", *(table.checksum for table in tables))
    for source, table in enumerate(tables):
        for part, failures in enumerate(table.tables()):
            rows = failures.num_rows
            if rows:
                name = f"failures-{source:02d}-{part:05d}"
                yield Shard(name, made_from, failures, {"written": rows})
    yield EndOfShards(made_from)


def describe_ingestion(
    collection: Collection,
    failures: ShardedTable,
    formula_trees: TreeStore,
    returnable_formulas: ShardedTable,
    chosen_posts: ShardedTable,
    visual_index: VisualIndex,
    **tables: ShardedTable,
) -> tuple[dict[str, Any], str, go.Figure]:
    """Count what was read; refuse counts where read is not written plus dropped."""
    nothing = {"read": 0, "written": 0, "dropped": 0}
    accounts = {name: nothing | table.counts for name, table in tables.items()}
    pairs = accounts.pop("training_pairs")["written"]
    check_accounts(accounts)
    formula_columns = ("visual_id", "latex", "presentation", "content")
    topics = tables["topics"].to_pandas(["task"])["task"].value_counts()
    judgments = pa.concat_tables(
        [*tables["judgments"].tables(), tables["judgments"].empty()]
    )
    statistics = {
        "collection": collection.name,
        "subset": chosen_posts.counts,
        **describe_posts(tables["posts"].tables(["post_type", "text", "formula_map"])),
        "comments": accounts["comments"]["written"],
        "links": accounts["post_links"]["written"],
        "tags": accounts["tags"]["written"],
        "votes": accounts["votes"]["written"],
        "formulas": describe_formulas(
            tables["formulas"].tables(formula_columns),
            returnable_formulas.tables(["visual_id"]),
        ),
        "formula_trees": FormulaSources.describe(
            formula_trees, tables["posts"], visual_index
        ),
        "training_pairs": pairs,
        "statements": dict(tables["statements"].count_values("kind")),
        "statement_links": accounts["statement_links"]["written"],
        "topics": {str(task): int(n) for task, n in topics.sort_index().items()},
        "judgments": describe_judgments(judgments),
        "accounts": accounts,
        "failures": count_failures(failures.tables()),
        "disagreements": {
            "reasons": describe_disagreements(failures.tables()),
            "unexplained": sum(
                count_unexplained(table, visual_index)
                for name in ("posts", "comments")
                for table in tables[name].tables(["formula_map"])
            ),
        },
    }
    return statistics, *report_ingestion(statistics)


def _extract(
    table: str,
    collection: Collection,
    raw: Iterable[Any],
    clean: Callable[..., Any] | None,
    parameters: Mapping[str, Any],
) -> ShardPairs:
    size = IngestionConfig.read(parameters).records_per_shard
    made_from, parts = name_inputs(table, collection, _PARTS[table], size)
    of = (table, collection.count_bytes(_PARTS[table][0]))
    yield from extract_shards(made_from, [(table, raw)], clean, size, parts, of)
