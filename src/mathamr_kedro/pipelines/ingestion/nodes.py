"""Nodes that derive tables from those of the collection, check them and report."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

import pyarrow as pa
from matplotlib.figure import Figure

from mathamr_kedro.base.checksums import checksum
from mathamr_kedro.base.records import FormulaInstance
from mathamr_kedro.base.shards import EndOfShards, Shard, ShardItem, StartOfShards
from mathamr_kedro.corpus import (
    Collection,
    VisualIndex,
    check_accounts,
    check_formula_ids,
    count_failures,
    describe_formulas,
    describe_judgments,
    describe_posts,
    list_different,
    read_formulas,
    unknown_posts,
)
from mathamr_kedro.corpus.report import report_ingestion
from mathamr_kedro.datasets import ShardedTable
from mathamr_kedro.formula import TreeStore
from mathamr_kedro.pipelines.ingestion.formula_trees import describe_trees
from mathamr_kedro.pipelines.ingestion.parameters import IngestionConfig

logger = logging.getLogger(__name__)


def index_visual_ids(formulas: ShardedTable) -> VisualIndex:
    """Map formula ids to what the index says: visual id, LaTeX, whose they are."""
    index = VisualIndex.build(formulas.tables(VisualIndex.COLUMNS))
    logger.info("indexed %s formulas", f"{len(index):,}")
    return index


def list_returnable_formulas(
    formulas: ShardedTable,
    posts: ShardedTable,
    comments: ShardedTable,
    parameters: Mapping[str, Any],
) -> Iterator[ShardItem]:
    """List the formulas that Task 2 may return: of the index, or else of the texts."""
    rule = IngestionConfig.read(parameters).returnable
    has_index = bool(formulas.counts.get("written"))
    tables = (formulas,) if has_index else (posts, comments)
    sources = [table.checksum for table in tables]
    made_from = checksum("returnable", asdict(rule), *sources)
    start = StartOfShards(made_from)
    yield start
    columns = ("place", "issue", *FormulaInstance._fields)
    for source, table in enumerate(tables):
        for file in table.files():
            name = f"{source}-{file.stem}"
            if name in start.finished:
                continue
            if has_index:
                rows: Any = rule.choose(table.read_file(file, columns))
            else:
                rows = rule.choose_mentions(table.read_rows(file))
            yield Shard.of_rows(name, made_from, rows)
    yield EndOfShards(made_from)


def list_training_formulas(
    collection: Collection,
    posts: ShardedTable,
    topics: ShardedTable,
    parameters: Mapping[str, Any],
) -> Iterator[ShardItem]:
    """List what may be learnt from beside the formulas that may be returned.

    A formula may come several times: systems take the first.
    """
    config = IngestionConfig.read(parameters)
    rule = config.training_formulas
    files = collection.find_examples(rule.files)
    tables = [*([posts] if rule.posts else []), *([topics] if rule.topics else [])]
    sources = [table.checksum for table in tables]
    sources += [collection.checksums.checksum(path) for path, _ in files]
    made_from = checksum("training formulas", asdict(rule), *sources)
    start = StartOfShards(made_from)
    yield start
    for table in tables:
        for file in table.files():
            name = f"{'posts' if table is posts else 'topics'}-{file.stem}"
            if name not in start.finished:
                rows = table.read_rows(file)
                if table is topics:
                    rows = (topic for topic in rows if topic.year in rule.topics)
                yield Shard.of_rows(name, made_from, list_different(rows))
    for source, (path, kind) in enumerate(files):
        batches = read_formulas(path, kind, config.records_per_shard)
        for number, formulas in enumerate(batches):
            name = f"files-{source:02d}-{number:05d}"
            if name not in start.finished:
                yield Shard.of_rows(name, made_from, formulas)
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
    """Collect all defects of raw records in one table."""
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
) -> tuple[dict[str, Any], str, Figure]:
    """Count what was read; refuse counts if read is not written plus dropped."""
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
        "formulas": describe_formulas(
            tables["formulas"].tables(formula_columns),
            returnable_formulas.tables(["visual_id"]),
        ),
        "formula_trees": describe_trees(formula_trees, tables["posts"], visual_index),
        "training_pairs": pairs,
        "statements": dict(tables["statements"].count_values("kind")),
        "statement_links": accounts["statement_links"]["written"],
        "topics": {str(task): int(n) for task, n in topics.sort_index().items()},
        "judgments": describe_judgments(judgments),
        "accounts": accounts,
        "failures": count_failures(failures.tables()),
    }
    return statistics, *report_ingestion(statistics)
