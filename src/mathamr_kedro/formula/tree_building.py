"""From formulas to the store: build what is missing, link what is known."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from mathamr_kedro.formula.tree_rows import TreeRow, build_trees, read_deviations
from mathamr_kedro.formula.tree_store import TreeStore
from mathamr_kedro.records import Formula, FormulaMention
from mathamr_kedro.types import FormulaId, PostId, VisualId


class TreeBatch(NamedTuple):
    """Trees of new formulas, and all formulas with the visual ids they share."""

    rows: list[TreeRow]
    links: list[tuple[FormulaId, VisualId]]


class BatchReport(NamedTuple):
    """What one batch brought."""

    formulas: int
    new_visuals: int
    without_slt: int
    without_opt: int
    deviations: Counter[str]


def build_batch(
    links: Sequence[tuple[FormulaId, VisualId]],
    read: Callable[[list[int]], Iterable[Formula]],
    find_missing: Callable[[Iterable[VisualId]], set[VisualId]],
    build: Callable[[Formula], TreeRow] = build_trees,
) -> TreeBatch:
    """Build the trees of the formulas whose visual ids the store does not know.

    Trees are built once per visual id, from the first formula of the batch that shows
    it; the others are linked. Markup is read for those alone.

    Args:
        links: formula id and visual id of every formula of the batch.
        read: returns the formulas at some places of ``links``.
        find_missing: :meth:`.TreeStore.missing_visuals` of the store.
        build: makes the row of one formula.
    """
    first_at: dict[VisualId, int] = {}
    for place, (_, visual_id) in enumerate(links):
        first_at.setdefault(visual_id, place)
    missing = find_missing(first_at)
    places = [place for visual_id, place in first_at.items() if visual_id in missing]
    return TreeBatch([build(formula) for formula in read(places)], list(links))


def fill_batch(
    store: TreeStore,
    name: str,
    formulas: Sequence[Formula],
    build: Callable[[Formula], TreeRow] = build_trees,
) -> BatchReport | None:
    """Add the trees of a batch of formulas to the store.

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
    rows, links = build_batch(
        [(formula.formula_id, formula.visual_id) for formula in formulas],
        lambda places: [formulas[place] for place in places],
        store.missing_visuals,
        build,
    )
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
