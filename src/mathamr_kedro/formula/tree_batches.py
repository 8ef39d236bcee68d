"""Batches of trees for the store: each visually distinct formula is read once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from mathamr_kedro.formula.tree_rows import TreeRow, build_trees, read_deviations
from mathamr_kedro.formula.tree_store import TreeStore
from mathamr_kedro.records import Formula, FormulaMention
from mathamr_kedro.types import FormulaId, PostId, VisualId


class TreeBatch(NamedTuple):
    """Trees of new formulas, and formulas that share trees that are there already."""

    rows: list[TreeRow]
    links: list[tuple[FormulaId, VisualId]]


def build_batch(
    formulas: Iterable[Formula],
    find_missing: Callable[[Iterable[VisualId]], set[VisualId]],
) -> TreeBatch:
    """Build the trees of the formulas whose visual ids the store does not know.

    Args:
        formulas: any number that fits in memory.
        find_missing: :meth:`.TreeStore.missing_visuals` of the store.
    """
    formulas = list(formulas)
    missing = find_missing({formula.visual_id for formula in formulas})
    rows: list[TreeRow] = []
    links: list[tuple[FormulaId, VisualId]] = []
    for formula in formulas:
        if formula.visual_id in missing:
            missing.discard(formula.visual_id)
            rows.append(build_trees(formula))
        else:
            links.append((formula.formula_id, formula.visual_id))
    return TreeBatch(rows, links)


def formula_of_mention(mention: FormulaMention, owner: PostId) -> Formula:
    """Return a formula that was found in a text as a row of the formula index."""
    return Formula(
        mention.formula_id,
        owner,
        owner,
        "body",
        None,
        None,
        mention.visual_id,
        "",
        mention.latex,
        "",
        "",
    )


def describe_store(store: TreeStore, most: int = 20) -> Mapping[str, Any]:
    """Count the trees by source, those that are missing, and deviations by reason."""
    sources: Counter[str] = Counter()
    for (slt, opt), count in store.count_sources().items():
        sources[f"slt_{slt or 'none'}"] += count
        sources[f"opt_{opt or 'none'}"] += count
    reasons: Counter[str] = Counter()
    for row in store:
        if row.deviations:
            reasons.update(read_deviations(row.deviations))
    return {
        "distinct": len(store),
        "formulas": store.count_formulas(),
        "sources": dict(sorted(sources.items())),
        "deviations": dict(reasons.most_common(most)),
    }
