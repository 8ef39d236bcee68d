"""Tables of conditions, and of systems on one topic set between floor and ceiling."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from mathamr_kedro.evaluation.stats import Comparison, TestConfig
from mathamr_kedro.evaluation.tables.scores import (
    Layout,
    Results,
    SeedResult,
    best_seed_table,
)
from mathamr_kedro.evaluation.tables.table import Column, Table, list_columns
from mathamr_kedro.evaluation.tables.thesis import EFFECTIVENESS

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

    @property
    def results(self) -> dict[str, Sequence[SeedResult]]:
        """By system, of one seed."""
        return {name: [result] for name, result in self.systems.items()}


@dataclass(frozen=True)
class Outcome:
    """Results with their tables: what a version of a result holds."""

    name: str
    title: str
    facts: Mapping[str, Any]
    """Data, settings and software."""
    results: Results = field(default_factory=dict)
    tables: Mapping[str, Table] = field(default_factory=dict)
    baseline: str = ""
    measure: str = "nDCG'"
    """The one that plots show."""
    notes: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()
    """Of the scores by topic, in their order."""
    cells: Sequence[Mapping[str, Any]] = ()
    """Of an experiment."""
    missing: Sequence[str] = ()
    """Names of its unfinished cells."""
    shown: Sequence[Any] = ()
    """Runs whose results are shown as examples."""

    @property
    def tests(self) -> dict[str, Sequence[Comparison]]:
        """Tests by table: what is behind its asterisks."""
        return {n: t.tests for n, t in self.tables.items() if t.tests is not None}

    def describe(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {
            "experiment": self.name,
            **self.facts,
            "package_version": importlib.metadata.version("mathamr-kedro"),
            "cells": list(self.cells),
            "missing": list(self.missing),
            "topics": list(self.topics),
            "rows": _list_records(self.results),
            "tests": _list_records(self.tests),
            "tables": {n: table.to_markdown() for n, table in self.tables.items()},
        }


def _list_records(
    groups: Mapping[str, Sequence[SeedResult] | Sequence[Comparison]],
) -> dict[str, list[dict[str, Any]]]:
    return {name: [own.to_record() for own in found] for name, found in groups.items()}


def plain_layouts(
    title: str, rows: Iterable[str], measures: Sequence[str], baseline: str
) -> dict[str, Layout]:
    """Return the tables of an experiment that is none of the thesis."""
    labels, kind = {name: name for name in rows}, ("Condition",)
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


def compare_systems(scored: ScoredSet, config: TestConfig) -> Table:
    """Return the table of all systems with floor and ceiling; the first is tested."""
    first, *_ = scored.systems
    known = scored.systems[first].per_topic
    shown = tuple(c for c in EFFECTIVENESS if c.key in known) or list_columns(known)
    layout = Layout(
        f"Task {scored.task}, {scored.name}, {len(scored.topics)} topics",
        ("System",),
        {name: name for name in scored.systems},
        shown,
        baseline=first,
        select_by=shown[0].key,
    )
    table = best_seed_table(layout, scored.results, config)
    bounds = {"(random order)": scored.floors, "(ideal order)": scored.ceilings}
    rows = {label: means for label, means in bounds.items() if means}
    return replace(table, rows={**table.rows, **rows})
