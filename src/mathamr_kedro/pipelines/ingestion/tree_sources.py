"""The formulas whose trees are built, shard by shard."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

from mathamr_kedro.datasets import ShardedTable
from mathamr_kedro.records import Formula


def list_formulas(
    table: ShardedTable, file: Path, is_of_topics: bool
) -> tuple[list[tuple[str, str]], Callable[[list[int]], Iterable[Formula]]]:
    """List the formulas of an index, or those that stand in texts alone."""
    if table.record is Formula and not is_of_topics:
        ids = table.read_file(file, ("formula_id", "visual_id"))
        links = list(zip(*(ids[c].to_pylist() for c in ids.column_names), strict=True))
        return links, partial(table.read_rows, file)
    if is_of_topics:  # every edition has a formula q_1: the topic is part of the name
        rows: list[Formula] = list(table.read_rows(file))
        formulas = [f._replace(formula_id=f"{f.post_id}/{f.formula_id}") for f in rows]
    else:
        formulas = [
            Formula.of_mention(mention, record[0])
            for record in table.read_rows(file)
            for mention in record.formula_map
            if not mention.visual_id.isdigit()
        ]
    links = [(formula.formula_id, formula.visual_id) for formula in formulas]
    return links, lambda places: [formulas[place] for place in places]
