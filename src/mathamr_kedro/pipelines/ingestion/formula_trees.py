"""Trees of the formulas of all tables: which are built, and what was wrong."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from mathamr_kedro.base.checksums import checksum, name_version
from mathamr_kedro.base.progress import report_progress
from mathamr_kedro.base.records import Formula, FormulaInstance
from mathamr_kedro.base.shards import EndOfShards, Shard
from mathamr_kedro.corpus import VisualIndex
from mathamr_kedro.datasets import ShardedTable, StartOfTrees
from mathamr_kedro.formula import TreeStore
from mathamr_kedro.formula.tree_batches import TreeBatches
from mathamr_kedro.formula.tree_store import VERSION as TREES_VERSION
from mathamr_kedro.pipelines.ingestion.parameters import IngestionConfig

_MAX_REASONS = 20
"""The most frequent defects of formulas, which the report names."""


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
            Formula.of_instance(record)
            for record in table.read_rows(file)
            if not record.visual_id.isdigit()
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
