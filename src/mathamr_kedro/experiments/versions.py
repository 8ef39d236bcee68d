"""The versioned result of an experiment, and what two versions say differently."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Mapping, Sequence
from typing import Any

from mathamr_kedro.experiments.reports import Report
from mathamr_kedro.experiments.results import GridResults
from mathamr_kedro.stats import (
    Column,
    Figure,
    Row,
    SeedResult,
    Table,
    select_best_seed,
    summarise_seeds,
)

Results = Mapping[str, Sequence[SeedResult]]
Values = Mapping[str, Any]


def describe_result(
    name: str,
    results: Results,
    report: Report,
    facts: Values,
    grid: GridResults | None = None,
) -> dict[str, Any]:
    """Return a result as plain values: what a version of it holds.

    Args:
        name: of the experiment.
        results: results over seeds by row.
        report: its tables and tests.
        facts: collection, topic set, posts and topics.
        grid: the cells; ``None`` for a single evaluation.
    """
    return {
        "experiment": name,
        **facts,
        "package_version": importlib.metadata.version("mathamr-kedro"),
        "cells": _describe_cells(grid) if grid else [],
        "missing": [cell.name for cell in grid.missing] if grid else [],
        "rows": {
            row: [_describe_seed(r) for r in found] for row, found in results.items()
        },
        "tests": {
            table: [{**t._asdict(), "interval": list(t.interval)} for t in tests]
            for table, tests in report.tests.items()
        },
        "tables": {key: t.to_markdown() for key, t in report.tables.items()},
    }


def compare_versions(old: Values, new: Values, measure: str | None = None) -> Table:
    """Return a table of the means of two versions and their differences.

    Args:
        old: a result as :func:`describe_result` gives it.
        new: another one of the same experiment.
        measure: one measure; all that both have where absent.
    """
    rows = []
    for name in dict.fromkeys([*old["rows"], *new["rows"]]):
        before, after = _read_seeds(old, name), _read_seeds(new, name)
        measures = _list_measures(before, after)
        for key in [m for m in measures if measure in (None, m)]:
            spreads = [
                summarise_seeds(having, key) if having else None
                for having in (
                    [r for r in found if r.has(key)] for found in (before, after)
                )
            ]
            figures = [None if s is None else Figure(s.mean, s.std) for s in spreads]
            first, second = spreads
            change = Figure(second.mean - first.mean) if first and second else None
            seeds = [str(s.num_seeds) if s else "0" for s in spreads]
            rows.append(Row((name, key), (*figures, change, " / ".join(seeds))))
    columns = (
        Column("old", "old", 4), Column("new", "new", 4),
        Column("difference", "difference", 4), Column("seeds", "seeds"),
    )  # fmt: skip
    notes = (
        () if _is_same_data(old, new) else ("The two ran on different collections.",)
    )
    title = f"{new['experiment']}: two versions"
    return Table(title, ("Row", "Measure"), columns, tuple(rows), notes)


def best_values(result: Values, measure: str) -> dict[str, float]:
    """Return the best seed's mean of one measure by row."""
    found = {name: _read_seeds(result, name) for name in result["rows"]}
    return {
        name: select_best_seed(seeds, measure).value(measure)
        for name, seeds in found.items()
        if seeds and seeds[0].has(measure)
    }


def _describe_cells(grid: GridResults) -> list[dict[str, Any]]:
    return [
        {
            "condition": cell.condition,
            "seed": cell.seed,
            "folder": done.folder.name,
            "encoder": done.record.encoder.get("folder", ""),
            "finished": done.record.finished,
            "versions": dict(done.record.versions),
        }
        for cell, done in grid.finished
    ]


def _describe_seed(result: SeedResult) -> dict[str, Any]:
    return {
        "seed": result.seed,
        "means": {name: result.value(name) for name in result.per_topic},
        "figures": dict(result.figures),
    }


def _read_seeds(result: Values, row: str) -> list[SeedResult]:
    return [
        SeedResult(found["seed"], {}, {**found["means"], **found["figures"]})
        for found in result["rows"].get(row, ())
    ]


def _list_measures(
    before: Sequence[SeedResult], after: Sequence[SeedResult]
) -> list[str]:
    return list(dict.fromkeys(key for r in (*before, *after) for key in r.figures))


def _is_same_data(old: Values, new: Values) -> bool:
    return old.get("collection") == new.get("collection")
