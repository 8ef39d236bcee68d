"""The trees of a batch of formulas, built in one go: what workers must agree with."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from mathamr_kedro.base.records import Formula
from mathamr_kedro.formula import TreeRow
from mathamr_kedro.formula.tree_batches import find_new_formulas
from mathamr_kedro.formula.tree_store import build_rows


def build_batch(
    formulas: Sequence[Formula],
    find_missing: Callable[[Iterable[str]], set[str]],
) -> list[TreeRow]:
    """Build the trees of the formulas whose visual ids the store does not know."""
    ids = [formula.visual_id for formula in formulas]
    return build_rows([formulas[n] for n in find_new_formulas(ids, find_missing)])
