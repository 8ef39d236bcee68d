"""Nodes that derive tables from those of the collection, check them and report."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import pyarrow as pa
from matplotlib.figure import Figure

from mathamr_kedro.base.checksums import checksum, name_version
from mathamr_kedro.base.progress import report_progress
from mathamr_kedro.base.records import Formula, FormulaInstance
from mathamr_kedro.base.shards import EndOfShards, Shard, ShardItem, StartOfShards
from mathamr_kedro.corpus import Collection, VisualIndex
from mathamr_kedro.corpus.judgments import check_formula_ids, unknown_posts
from mathamr_kedro.corpus.report import (
    check_accounts,
    count_failures,
    describe_formulas,
    describe_judgments,
    describe_posts,
    report_ingestion,
)
from mathamr_kedro.corpus.training import list_different, read_formulas
from mathamr_kedro.datasets import ShardedTable, StartOfTrees
from mathamr_kedro.formula import TreeStore
from mathamr_kedro.formula.tree_batches import TreeBatches
from mathamr_kedro.formula.tree_store import VERSION as TREES_VERSION
from mathamr_kedro.pipelines.ingestion import IngestionConfig

logger = logging.getLogger(__name__)


_Piece: TypeAlias = tuple[str, Callable[[], Sequence[Any]]]
"""Name of a shard, and what reads its rows."""
_MAX_REASONS = 20
"""The most frequent defects of formulas, which the report names."""


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
    columns = ("place", "issue", *FormulaInstance._fields)

    def choose(table: ShardedTable, file: Path) -> Sequence[FormulaInstance]:
        if has_index:
            return rule.choose(table.read_file(file, columns))
        return rule.choose_mentions(table.read_rows(file))

    yield from _make_shards(
        made_from,
        (
            (f"{source}-{file.stem}", partial(choose, table, file))
            for source, table in enumerate(tables)
            for file in table.files()
        ),
    )


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

    def choose(table: ShardedTable, file: Path) -> Sequence[FormulaInstance]:
        rows = table.read_rows(file)
        if table is topics:
            rows = (topic for topic in rows if topic.year in rule.topics)
        return list_different(rows)

    def list_pieces() -> Iterator[_Piece]:
        for table in tables:
            kind = "posts" if table is posts else "topics"
            for file in table.files():
                yield f"{kind}-{file.stem}", partial(choose, table, file)
        for source, (path, form) in enumerate(files):
            batches = read_formulas(path, form, config.records_per_shard)
            for number, formulas in enumerate(batches):
                yield f"files-{source:02d}-{number:05d}", partial(list, formulas)

    yield from _make_shards(made_from, list_pieces())


def _make_shards(made_from: str, pieces: Iterable[_Piece]) -> Iterator[ShardItem]:
    """Yield shards of the pieces that are not finished yet."""
    start = StartOfShards(made_from)
    yield start
    for name, read in pieces:
        if name not in start.finished:
            yield Shard.of_rows(name, made_from, read())
    yield EndOfShards(made_from)


def check_judgments(
    judgments: ShardedTable, posts: ShardedTable, visual_index: VisualIndex
) -> Iterator[ShardItem]:
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


def collect_failures(*tables: ShardedTable) -> Iterator[ShardItem]:
    """Collect all defects of raw records in one table."""
    made_from = checksum("failures", *(table.checksum for table in tables))
    for source, table in enumerate(tables):
        for part, failures in enumerate(table.tables()):
            if failures.num_rows:
                name = f"failures-{source:02d}-{part:05d}"
                yield Shard.of_rows(name, made_from, failures)
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
        **describe_posts(tables["posts"].tables(["post_type", "formula_map"])),
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


def build_formula_trees(
    formulas: ShardedTable,
    topic_formulas: ShardedTable,
    posts: ShardedTable,
    comments: ShardedTable,
    training_formulas: ShardedTable,
    parameters: Mapping[str, Any],
) -> Iterator[StartOfTrees | Shard | EndOfShards]:
    """Build layout and operator trees of all formulas, each distinct one once.

    The index comes first: it has MathML. Formulas that are only in texts are read
    from their LaTeX. Topics and what is only learnt from come last and are no part of
    the checksum: others add their trees and leave those of the posts as they are.
    """
    config = IngestionConfig.read(parameters)
    tables = (formulas, posts, comments, topic_formulas, training_formulas)
    sources = [table.checksum for table in tables[:3]]
    step = name_version("trees", TREES_VERSION)
    made_from = checksum(step, *sources)
    names = ("formulas", "posts", "comments", "version of the trees")
    parts = dict(zip(names, (*sources, step), strict=True))
    start = StartOfTrees(made_from, parts)
    yield start
    files = (
        (f"{source}-{table.checksum}-{file.stem}", table, file)
        for source, table in enumerate(tables)
        for file in table.files()
    )
    new = [file for file in files if file[0] not in start.finished]
    opened = (
        (name, *list_formulas(table, file, table is topic_formulas))
        for name, table, file in new
    )
    batches = TreeBatches(start.find_missing).build(opened, config.workers)
    for name, batch in report_progress(
        batches, "shards of formulas turned into trees", total=len(new)
    ):
        yield Shard(name, made_from, batch, {"written": len(batch)})
    yield EndOfShards(made_from)


def list_formulas(
    table: ShardedTable, file: Path, is_of_topics: bool
) -> tuple[list[str], Callable[[list[int]], Iterable[Formula]]]:
    """List the visual ids of an index, or those that are only in texts."""
    if table.record is Formula and not is_of_topics:
        ids = table.read_file(file, ("visual_id",))["visual_id"].to_pylist()
        return ids, partial(table.read_rows, file)
    if is_of_topics:  # every edition has a formula q_1: the topic is part of the name
        rows: Sequence[Formula] = [*table.read_rows(file)]
        formulas = [f._replace(formula_id=f"{f.post_id}/{f.formula_id}") for f in rows]
    elif table.record is FormulaInstance:
        formulas = [
            Formula(row.formula_id, row.post_id, row.visual_id, latex=row.latex)
            for row in table.read_rows(file)
            if not row.visual_id.isdigit()
        ]
    else:
        formulas = [
            Formula.of_mention(mention, record[0])
            for record in table.read_rows(file)
            for mention in record.formula_map
            if not mention.visual_id.isdigit()
        ]
    ids = [formula.visual_id for formula in formulas]
    return ids, lambda places: [formulas[place] for place in places]


def describe_trees(
    trees: TreeStore, posts: ShardedTable, visual_index: VisualIndex
) -> dict[str, Any]:
    """Count the trees and what was wrong with formulas, with an example of each."""
    times: Counter[str] = Counter()
    formulas: Counter[str] = Counter()
    examples: dict[str, str] = {}
    for row in trees:
        for reason, count in row.count_deviations().items() if row.deviations else ():
            times[reason] += count
            formulas[reason] += 1
            examples.setdefault(reason, row.formula_id)
    common = [reason for reason, _ in formulas.most_common(_MAX_REASONS)]
    latex = _find_latex([examples[reason] for reason in common], posts, visual_index)
    return {
        **trees.describe(),
        "deviations": {
            reason: {
                "formulas": formulas[reason],
                "times": times[reason],
                "example": examples[reason],
                "latex": latex.get(examples[reason], ""),
            }
            for reason in common
        },
    }


def _find_latex(
    formula_ids: list[str], posts: ShardedTable, visual_index: VisualIndex
) -> dict[str, str]:
    """Return the LaTeX of some formulas: of the index, or else of the texts."""
    known = formula_ids if len(visual_index) else []
    rows = {key: visual_index.find_row(key) for key in known}
    latex = {key: row.latex for key, row in rows.items() if row is not None}
    owners = [key.rpartition(":")[0] for key in formula_ids if key not in latex]
    for post in posts.select("post_id", filter(None, owners)):
        latex |= {mention.formula_id: mention.latex for mention in post.formula_map}
    return latex
