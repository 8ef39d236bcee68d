"""Nodes of the ingestion stage: adapt catalog data to the readers of ``corpus``.

Every ``extract_*`` node yields shards as ``(failures, records)``; the records come
last, because a shard counts as finished once they are written.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import plotly.graph_objects as go
import pyarrow as pa

from mathamr_kedro.corpus import (
    Answers,
    Collection,
    Part,
    PostCleaner,
    Threads,
    VisualIndex,
    check_accounts,
    check_formula_ids,
    clean_comment,
    clean_in_batches,
    clean_topic,
    count_failures,
    describe_formulas,
    describe_judgments,
    describe_posts,
    unknown_posts,
)
from mathamr_kedro.corpus.report import draw_formulas_per_post, write_report
from mathamr_kedro.datasets.formula_trees import TreesSoFar
from mathamr_kedro.datasets.sharded_table import ShardedTable
from mathamr_kedro.files import fingerprint
from mathamr_kedro.formula.tree_building import (
    build_batch,
    describe_store,
    formula_of_mention,
)
from mathamr_kedro.formula.tree_store import TreeStore
from mathamr_kedro.parameters import read_parameters
from mathamr_kedro.progress import report_progress
from mathamr_kedro.records import Formula
from mathamr_kedro.shards import EndOfShards, Shard

logger = logging.getLogger(__name__)

Shards = Iterator[tuple[Shard | EndOfShards, Shard | EndOfShards]]
Finished = Callable[[str], frozenset[str]]

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


@dataclass(frozen=True)
class IngestionParameters:
    """What the ingestion stage reads from ``conf/<env>/parameters/ingestion.yml``."""

    records_per_shard: int
    """Posts, comments, ... per shard; a killed run loses at most one shard of work."""
    formulas_per_shard: int
    pairs: Answers
    """``accepted``: with the accepted answer (thesis 3.4); ``all``: with each."""


def extract_formulas(
    collection: Collection, finished: Finished, parameters: Mapping[str, Any]
) -> Shards:
    """Yield the formula index."""
    size = _read(parameters).formulas_per_shard
    made_from = fingerprint("formulas", collection.fingerprint("formulas"), size)
    done = finished(made_from)
    for table, read in collection.formula_tables():
        name = f"formulas-{table.zfill(4)}"
        yield from _extract(name, read(), None, size, made_from, done)
    yield _end(made_from)


def index_visual_ids(formulas: ShardedTable) -> VisualIndex:
    """Map formula ids to visual ids."""
    columns = ("formula_id", "visual_id", "issue")
    index = VisualIndex.build(formulas.tables(columns))
    logger.info("indexed %s formulas", f"{len(index):,}")
    return index


def extract_posts(
    collection: Collection,
    visual_index: VisualIndex,
    finished: Finished,
    parameters: Mapping[str, Any],
) -> Shards:
    """Yield the posts with clean texts."""
    clean = PostCleaner(visual_index, has_index=len(visual_index) > 0)
    raw = clean.watch(collection.posts())
    yield from _extract_all("posts", collection, raw, clean, finished, parameters)


def extract_comments(
    collection: Collection,
    visual_index: VisualIndex,
    finished: Finished,
    parameters: Mapping[str, Any],
) -> Shards:
    """Yield the comments with clean texts."""
    clean = partial(clean_comment, find=visual_index)
    raw = collection.comments()
    yield from _extract_all("comments", collection, raw, clean, finished, parameters)


def extract_links(
    collection: Collection, finished: Finished, parameters: Mapping[str, Any]
) -> Shards:
    """Yield the links between posts."""
    raw = collection.links()
    yield from _extract_all("post_links", collection, raw, None, finished, parameters)


def extract_tags(
    collection: Collection, finished: Finished, parameters: Mapping[str, Any]
) -> Shards:
    """Yield the tags."""
    raw = collection.tags()
    yield from _extract_all("tags", collection, raw, None, finished, parameters)


def extract_votes(
    collection: Collection, finished: Finished, parameters: Mapping[str, Any]
) -> Shards:
    """Yield the votes."""
    raw = collection.votes()
    yield from _extract_all("votes", collection, raw, None, finished, parameters)


def extract_topics(
    collection: Collection, finished: Finished, parameters: Mapping[str, Any]
) -> Shards:
    """Yield the topics with clean texts and what the organisers noted about them."""
    clean = partial(
        clean_topic, notes=collection.topic_notes(), find=lambda formula_id: None
    )
    raw = collection.topics()
    yield from _extract_all("topics", collection, raw, clean, finished, parameters)


def extract_topic_formulas(
    collection: Collection, finished: Finished, parameters: Mapping[str, Any]
) -> Shards:
    """Yield the formulas of the topics; ``post_id`` holds the topic."""
    raw = collection.topic_formulas()
    yield from _extract_all(
        "topic_formulas", collection, raw, None, finished, parameters
    )


def extract_judgments(
    collection: Collection, finished: Finished, parameters: Mapping[str, Any]
) -> Shards:
    """Yield the judgments, each document once per topic and file."""
    raw = collection.judgments()
    yield from _extract_all("judgments", collection, raw, None, finished, parameters)


def build_formula_trees(
    formulas: ShardedTable,
    topic_formulas: ShardedTable,
    posts: ShardedTable,
    comments: ShardedTable,
    so_far: TreesSoFar,
) -> Iterator[Shard | EndOfShards]:
    """Yield the trees of all formulas, each visually distinct one once.

    The index comes first: it has MathML. Formulas that stand in texts alone are read
    from their LaTeX. The topics come last and are no part of the fingerprint: other
    topics add their trees and leave those of the posts as they are.
    """
    tables = (formulas, posts, comments, topic_formulas)
    made_from = fingerprint("trees", *(table.fingerprint for table in tables[:-1]))
    finished = so_far.finished(made_from)
    batches = (
        (f"{source}-{table.fingerprint}-{file.stem}", table, file)
        for source, table in enumerate(tables)
        for file in table.files()
    )
    new = (batch for batch in batches if batch[0] not in finished)
    for name, table, file in report_progress(new, "batches of formula trees"):
        links, read = _list_formulas(table, file)
        batch = build_batch(links, read, partial(so_far.find_missing, made_from))
        yield Shard(name, made_from, batch, {"written": len(batch.rows)})
    yield EndOfShards(made_from)


def _list_formulas(
    table: ShardedTable, file: Path
) -> tuple[list[tuple[str, str]], Callable[[list[int]], Iterable[Formula]]]:
    """List the formulas of an index, or those that stand in texts alone."""
    if table.record is Formula:
        ids = table.read_file(file, ("formula_id", "visual_id"))
        links = list(zip(*(ids[c].to_pylist() for c in ids.column_names), strict=True))
        return links, partial(table.read_rows, file)
    formulas = [
        formula_of_mention(mention, record[0])
        for record in table.read_rows(file)
        for mention in record.formula_map
        if not mention.visual_id.isdigit()
    ]
    links = [(formula.formula_id, formula.visual_id) for formula in formulas]
    return links, lambda places: [formulas[place] for place in places]


def pair_posts(posts: ShardedTable, parameters: Mapping[str, Any]) -> Shards:
    """Yield the training pairs, and the threads that are not whole."""
    settings = _read(parameters)
    threads = Threads(
        values
        for table in posts.tables(Threads.COLUMNS)
        for values in zip(
            *(table[c].to_pylist() for c in Threads.COLUMNS), strict=True
        )
    )
    pairs = list(threads.pairs(settings.pairs))
    made_from = fingerprint("pairs", posts.fingerprint, settings.pairs)
    yield (
        _shard("threads", made_from, list(threads.problems())),
        _shard("pairs", made_from, pairs),
    )
    yield _end(made_from)


def check_judgments(
    judgments: ShardedTable, posts: ShardedTable, visual_index: VisualIndex
) -> Iterator[Shard | EndOfShards]:
    """Refuse judgments in a wrong id space; note judged posts that are not here."""
    found = list(judgments.records())
    if len(visual_index):
        check_formula_ids(found, visual_index)
    judged = {j.doc_id for j in found if j.task == "task1"}
    known: set[str] = set()
    for table in posts.tables(["post_id"]):
        known |= judged.intersection(table["post_id"].to_pylist())
    made_from = fingerprint("check", judgments.fingerprint, posts.fingerprint)
    problems = list(unknown_posts(found, known, "task1"))
    yield _shard("judgments-unknown", made_from, problems)
    yield EndOfShards(made_from)


def collect_failures(*tables: ShardedTable) -> Iterator[Shard | EndOfShards]:
    """Put everything that was wrong into one table."""
    made_from = fingerprint("failures", *(table.fingerprint for table in tables))
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
    **tables: ShardedTable,
) -> tuple[dict[str, Any], str, go.Figure]:
    """Return statistics, report and figure; refuse accounts that do not balance."""
    nothing = {"read": 0, "written": 0, "dropped": 0}
    accounts = {name: nothing | table.counts for name, table in tables.items()}
    pairs = accounts.pop("training_pairs")["written"]
    check_accounts(accounts)
    formula_columns = ("visual_id", "issue", "latex", "presentation", "content")
    topics = tables["topics"].to_pandas(["task"])["task"].value_counts()
    judgments = pa.concat_tables(
        [*tables["judgments"].tables(), tables["judgments"].empty()]
    )
    statistics = {
        "collection": collection.name,
        **describe_posts(tables["posts"].tables(["post_type", "text", "formula_map"])),
        "comments": accounts["comments"]["written"],
        "links": accounts["post_links"]["written"],
        "tags": accounts["tags"]["written"],
        "votes": accounts["votes"]["written"],
        "formulas": describe_formulas(tables["formulas"].tables(formula_columns)),
        "formula_trees": describe_store(formula_trees),
        "training_pairs": pairs,
        "topics": {str(task): int(n) for task, n in topics.sort_index().items()},
        "judgments": describe_judgments(judgments),
        "accounts": accounts,
        "failures": count_failures(failures.tables(["reason", "kept"])),
    }
    return statistics, write_report(statistics), draw_formulas_per_post(statistics)


def _read(parameters: Mapping[str, Any]) -> IngestionParameters:
    return read_parameters(IngestionParameters, parameters, where="ingestion")


def _extract_all(
    name: str,
    collection: Collection,
    raw: Iterable[Any],
    clean: Callable[..., Any] | None,
    finished: Finished,
    parameters: Mapping[str, Any],
) -> Shards:
    size = _read(parameters).records_per_shard
    made_from = fingerprint(name, collection.fingerprint(*_PARTS[name]), size)
    yield from _extract(name, raw, clean, size, made_from, finished(made_from))
    yield _end(made_from)


def _extract(
    name: str,
    raw: Iterable[Any],
    clean: Callable[..., Any] | None,
    size: int,
    made_from: str,
    done: frozenset[str],
) -> Shards:
    batches = clean_in_batches(
        raw, clean, size, lambda number: f"{name}-{number:05d}" in done
    )
    for batch in report_progress(batches, name, lambda batch: batch.read):
        shard = f"{name}-{batch.number:05d}"
        yield (
            _shard(shard, made_from, batch.failures),
            Shard(shard, made_from, batch.records, batch.counts),
        )


def _shard(name: str, made_from: str, rows: list[Any]) -> Shard:
    return Shard(name, made_from, rows, {"written": len(rows)})


def _end(made_from: str) -> tuple[EndOfShards, EndOfShards]:
    return EndOfShards(made_from), EndOfShards(made_from)
