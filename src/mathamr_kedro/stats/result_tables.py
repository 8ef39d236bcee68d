"""Tables of an experiment: best seed with asterisks, and mean ± std over seeds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mathamr_kedro.errors import ConfigurationError, suggest
from mathamr_kedro.stats.comparisons import (
    Comparison,
    TestConfig,
    compare_with_baseline,
)
from mathamr_kedro.stats.seeds import SeedResult, select_best_seed, summarise_seeds
from mathamr_kedro.stats.tables import Column, Figure, Row, Table

Results = Mapping[str, Sequence[SeedResult]]
"""Results over seeds by condition."""


@dataclass(frozen=True)
class Layout:
    """Rows and columns of a table, before there are results."""

    title: str
    label_titles: tuple[str, ...]
    rows: Mapping[str, tuple[str, ...]]
    """Labels by condition, in the order of the table."""
    columns: tuple[Column, ...]
    baseline: str | None = None
    """Condition that all others are tested against."""
    select_by: str = "nDCG'"
    """The best seed is the one with the highest value of this."""
    same_seed: bool = False
    """Take the baseline's best seed for all conditions: they share trained models."""
    notes: tuple[str, ...] = ()


def best_seed_table(
    layout: Layout, results: Results, config: TestConfig | None = None
) -> tuple[Table, list[Comparison]]:
    """Return the table of each condition's best seed, with asterisks, and the tests.

    Only columns with one value per topic are tested; they and all conditions beside
    the baseline are one family for the correction.

    Args:
        layout: rows and columns; a condition without results gets an empty row.
        results: results over seeds by condition.
        config: how to test.

    Raises:
        ConfigurationError: there are results of a condition that has no row.
    """
    config = config or TestConfig()
    _check_conditions(layout, results)
    best = _select(layout, results)
    keys = [column.key for column in layout.columns]
    tests: list[Comparison] = []
    if layout.baseline in best and len(best) > 1:
        scores = {
            name: {key: r.per_topic[key] for key in keys if key in r.per_topic}
            for name, r in best.items()
        }
        tests = compare_with_baseline(scores, layout.baseline, config)
    marked = {(c.condition, c.measure) for c in tests if c.significant}
    rows = tuple(
        Row(
            labels,
            tuple(
                Figure(best[name].value(key), marked=(name, key) in marked)
                if name in best and best[name].has(key)
                else None
                for key in keys
            ),
            is_baseline=name == layout.baseline,
        )
        for name, labels in layout.rows.items()
    )
    notes = (*layout.notes, *_test_notes(tests, config))
    return Table(layout.title, layout.label_titles, layout.columns, rows, notes), tests


def mean_table(layout: Layout, results: Results) -> Table:
    """Return the table of means and standard deviations over seeds.

    Seeds without a value do not count in its mean; a note says which rows rest on
    fewer seeds than others.

    Raises:
        ConfigurationError: there are results of a condition that has no row.
    """
    _check_conditions(layout, results)
    rows = tuple(
        Row(
            labels,
            tuple(_summarise(results.get(name, ()), c) for c in layout.columns),
            is_baseline=name == layout.baseline,
        )
        for name, labels in layout.rows.items()
    )
    notes = (*layout.notes, *_seed_notes(layout, results))
    return Table(layout.title, layout.label_titles, layout.columns, rows, notes)


def _select(layout: Layout, results: Results) -> dict[str, SeedResult]:
    present = {name: found for name, found in results.items() if found}
    ordered = [name for name in layout.rows if name in present]
    if not layout.same_seed or layout.baseline not in present:
        return {n: select_best_seed(present[n], layout.select_by) for n in ordered}
    seed = select_best_seed(present[layout.baseline], layout.select_by).seed
    chosen = {n: [r for r in present[n] if r.seed == seed] for n in ordered}
    return {name: found[0] for name, found in chosen.items() if found}


def _summarise(found: Sequence[SeedResult], column: Column) -> Figure | None:
    having = [result for result in found if result.has(column.key)]
    if not having:
        return None
    spread = summarise_seeds(having, column.key)
    return Figure(spread.mean, spread.std if column.show_std else None)


def _check_conditions(layout: Layout, results: Results) -> None:
    for name in results:
        if name not in layout.rows:
            raise ConfigurationError(
                f"No row for condition {name!r} in {layout.title!r}"
                f"{suggest(name, layout.rows)}; known: {', '.join(layout.rows)}"
            )


def _test_notes(tests: Sequence[Comparison], config: TestConfig) -> list[str]:
    if not tests:
        return []
    name = {"t": "t-test", "randomisation": "randomisation test"}[config.test]
    correction = {
        "bonferroni": f"Bonferroni correction over {len(tests)} tests",
        "holm": f"Holm correction over {len(tests)} tests",
        "none": "not corrected",
    }[config.correction]
    end = f"p < {config.alpha:g} (two-tailed paired {name} over topics, {correction})."
    if any(c.significant for c in tests):
        return [f"† Baseline. * Differs from it with {end}"]
    return [f"† Baseline. No condition differs from it with {end}"]


def _seed_notes(layout: Layout, results: Results) -> list[str]:
    counts = {name: len(results[name]) for name in layout.rows if results.get(name)}
    max_count = max(counts.values(), default=0)
    return [
        f"{' / '.join(layout.rows[name])}: {count} of {max_count} seeds."
        for name, count in counts.items()
        if count < max_count
    ]
