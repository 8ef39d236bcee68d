"""The trees of a batch of formulas, built in one go: what workers must agree with."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from mathamr_kedro.base.records import Formula
from mathamr_kedro.formula import TreeBatch
from mathamr_kedro.formula.tree_batches import find_new_formulas
from mathamr_kedro.formula.tree_rows import build_rows


def build_batch(
    formulas: Sequence[Formula],
    find_missing: Callable[[Iterable[str]], set[str]],
) -> TreeBatch:
    """Build the trees of the formulas whose visual ids the store does not know."""
    links = [(f.formula_id, f.visual_id) for f in formulas]
    new = [formulas[place] for place in find_new_formulas(links, find_missing)]
    return TreeBatch(build_rows(new), links)
