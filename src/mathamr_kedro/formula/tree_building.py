"""From formulas to the store: build what is missing, link what is known."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import NamedTuple

from mathamr_kedro.formula.tree_rows import TreeRow, build_trees, read_deviations
from mathamr_kedro.formula.tree_store import TreeStore
from mathamr_kedro.records import Formula


class BatchReport(NamedTuple):
    """What one batch brought."""

    formulas: int
    new_visuals: int
    without_slt: int
    without_opt: int
    deviations: Counter[str]


def fill_batch(
    store: TreeStore,
    name: str,
    formulas: Sequence[Formula],
    build: Callable[[Formula], TreeRow] = build_trees,
) -> BatchReport | None:
    """Add the trees of a batch of formulas to the store.

    Trees are built once per visual id, from the first formula of the batch that shows
    it; the others are linked.

    Args:
        store: open for writing.
        name: of the batch, e.g. ``"arqmath/1.tsv"``.
        formulas: the rows of the batch.
        build: makes the row of one formula.

    Returns:
        What the batch brought; None where the store already has it.
    """
    if name in store.finished_batches():
        return None
    first_of: dict[str, Formula] = {}
    for formula in formulas:
        first_of.setdefault(formula.visual_id, formula)
    missing = store.missing_visuals(first_of)
    rows = [build(f) for visual, f in first_of.items() if visual in missing]
    links = [(formula.formula_id, formula.visual_id) for formula in formulas]
    store.add_batch(name, rows, links)
    deviations: Counter[str] = Counter()
    for row in rows:
        deviations.update(read_deviations(row.deviations))
    return BatchReport(
        formulas=len(formulas),
        new_visuals=len(rows),
        without_slt=sum(row.slt is None for row in rows),
        without_opt=sum(row.opt is None for row in rows),
        deviations=deviations,
    )
