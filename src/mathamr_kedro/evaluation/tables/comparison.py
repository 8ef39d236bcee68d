"""Tables of conditions, and of systems on one topic set between floor and ceiling."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from mathamr_kedro.evaluation.stats import Comparison, TestConfig
from mathamr_kedro.evaluation.tables.scores import (
    Layout,
    Results,
    SeedResult,
    best_seed_table,
    mean_table,
)
from mathamr_kedro.evaluation.tables.table import Column, Row, Table, list_columns
from mathamr_kedro.evaluation.tables.thesis import EFFECTIVENESS

Tables = dict[str, Table]
Tests = dict[str, list[Comparison]]
"""Tests by table: what is behind its asterisks."""
Bounds = Mapping[str, float]
"""Means by measure."""


@dataclass(frozen=True)
class ScoredSet:
    """The systems of one evaluation on a topic set."""

    task: int
    name: str
    topics: tuple[str, ...]
    systems: Mapping[str, SeedResult]
    floors: Bounds = field(default_factory=dict)
    """Of all that is judged in random order."""
    ceilings: Bounds = field(default_factory=dict)
    """Of the ideal order."""


def plain_layouts(
    title: str, rows: Iterable[str], measures: Sequence[str], baseline: str
) -> dict[str, Layout]:
    """Return the tables of an experiment that is none of the thesis."""
    labels, kind = {name: (name,) for name in rows}, ("Condition",)
    columns = list_columns(measures)
    efficiency = tuple(
        Column(key, text, decimals=1)
        for key, text in (
            ("seconds_per_epoch", "Time/Epoch (s)"),
            ("memory_gigabytes", "{device} Mem (GB)"),
            ("index_megabytes", "Index Size (MB)"),
            ("QPS", "QPS"),
        )
    )
    return {
        "best_seed": Layout(
            f"{title}: best seed", kind, labels, columns, baseline, measures[0]
        ),
        "mean": Layout(f"{title}: mean ± std over seeds", kind, labels, columns),
        "efficiency": Layout(
            f"{title}: efficiency, mean ± std", kind, labels, efficiency
        ),
    }


def tabulate(
    layouts: Mapping[str, Layout], results: Results, config: TestConfig
) -> tuple[Tables, Tests]:
    """Return tables by name, and the tests of those that show best seeds.

    One of means never has asterisks (thesis 4.2).
    """
    tables: Tables = {}
    tests: Tests = {}
    for name, layout in layouts.items():
        shown = {row: results[row] for row in layout.rows if row in results}
        if layout.baseline is not None and "±" not in layout.title:
            tables[name], tests[name] = best_seed_table(layout, shown, config)
        else:
            tables[name] = mean_table(layout, shown)
    return tables, tests


def compare_systems(
    scored: ScoredSet, config: TestConfig
) -> tuple[Table, list[Comparison]]:
    """Return the table of all systems with floor and ceiling; the first is tested."""
    first, *_ = scored.systems
    known = scored.systems[first].per_topic
    shown = tuple(c for c in EFFECTIVENESS if c.key in known) or list_columns(known)
    layout = Layout(
        f"Task {scored.task}, {scored.name}, {len(scored.topics)} topics",
        ("System",),
        {name: (name,) for name in scored.systems},
        shown,
        baseline=first,
        select_by=shown[0].key,
    )
    results = {name: [result] for name, result in scored.systems.items()}
    table, tests = best_seed_table(layout, results, config)
    labels = ("(random order)", "(ideal order)")
    bounds = list_bounds(labels, scored.floors, scored.ceilings, shown)
    return replace(table, rows=(*table.rows, *bounds)), tests


def tabulate_means(
    title: str,
    systems: Mapping[str, Bounds],
    floors: Bounds,
    ceilings: Bounds,
    labels: tuple[str, str],
    columns: tuple[Column, ...],
    heading: str = "System",
) -> Table:
    """Return the means of systems below a floor and above a ceiling."""
    rows = {labels[0]: floors, **systems, labels[1]: ceilings}
    return Table(
        title,
        (heading,),
        columns,
        tuple(Row.of((name,), values, columns) for name, values in rows.items()),
    )


def list_bounds(
    labels: Sequence[str], floors: Bounds, ceilings: Bounds, columns: Sequence[Column]
) -> Iterator[Row]:
    """Yield the rows of floor and ceiling, if they are known."""
    for label, values in zip(labels, (floors, ceilings), strict=True):
        if any(column.key in values for column in columns):
            yield Row.of((label,), values, columns)


def describe_results(
    name: str,
    facts: Mapping[str, Any],
    results: Results,
    topics: Sequence[str],
    tests: Mapping[str, Sequence[Comparison]],
    tables: Mapping[str, Table],
    **cells: Sequence[Any],
) -> dict[str, Any]:
    """Return what a version of a result holds, as plain values.

    ``cells``: the ``cells`` of an experiment, and those that are ``missing``.
    """
    return {
        "experiment": name,
        **facts,
        "package_version": importlib.metadata.version("mathamr-kedro"),
        "cells": list(cells.get("cells", ())),
        "missing": list(cells.get("missing", ())),
        "topics": list(topics),
        "rows": {row: [r.to_record() for r in found] for row, found in results.items()},
        "tests": {
            name: [t.to_record() for t in found] for name, found in tests.items()
        },
        "tables": {name: table.to_markdown() for name, table in tables.items()},
    }
