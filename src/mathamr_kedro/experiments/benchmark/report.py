"""The tables of a benchmark: systems × benchmarks, and one for each benchmark.

```
| System       |    Task 1, 2020 | ... |          Mean | ms/query |
|--------------|----------------:|----:|--------------:|---------:|
| mathamr_plus | 0.801* / 0.667* |     | 0.824 / 0.690 |   10–214 |   *: differs from †
| bm25_graph   |  0.738 / 0.616† |     |             – |        8 |   †: the reference
```
"""

from __future__ import annotations

import csv
import importlib.metadata
import io
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from mathamr_kedro.base.formatting import count_nouns, format_score
from mathamr_kedro.evaluation.stats import (
    Column,
    Comparison,
    Figure,
    Row,
    Table,
    TestConfig,
)
from mathamr_kedro.evaluation.stats.tables import Content
from mathamr_kedro.experiments.benchmark.notes import note_costs, note_overview
from mathamr_kedro.experiments.benchmark.scores import BenchmarkScores

_FLOOR, _CEILING = "*floor: random order*", "*ceiling: ideal order*"
_REFERENCE = "*reference†*"
_DECIMALS = 3
_COSTS = {
    "milliseconds": "ms/query",
    "index_megabytes": "Index (MB)",
    "training_seconds": "Training (s)",
}
"""Columns of what a system costs."""
_PICTURE = """<picture><source media="(prefers-color-scheme: dark)" \
srcset="{0}_dark.png"><img src="{0}.png" alt="{1}"></picture>
"""
_CSV = (
    "benchmark", "title", "topics", "row", "kind", "reference", "measure", "headline",
    "mean", "difference", "interval_low", "interval_high", "p_t", "p_randomisation",
    "p_bonferroni", "p_holm", "significant", "wins", "ties", "losses", "milliseconds",
    "index_megabytes", "training_seconds", "machine",
)  # fmt: skip


@dataclass(frozen=True)
class BenchmarkReport:
    """All scored benchmarks, with tests of every system against the reference."""

    scored: Sequence[BenchmarkScores]
    tests: TestConfig = field(default_factory=TestConfig)
    left_out: Mapping[str, str] = field(default_factory=dict)
    """Benchmarks that were not scored, and why."""
    facts: Mapping[str, Any] = field(default_factory=dict)
    """Date, machine and options of the command."""

    @cached_property
    def _compared(self) -> dict[str, tuple[Table, list[Comparison]]]:
        return {s.benchmark.name: s.compare(self.tests) for s in self.scored}

    @property
    def comparisons(self) -> dict[str, list[Comparison]]:
        """Tests of the headline measures by benchmark; one family each."""
        return {name: tests for name, (_, tests) in self._compared.items()}

    def summarise(self) -> Table:
        """Return systems × benchmarks: the headline measures, means and times."""
        columns = [Column(s.benchmark.name, s.benchmark.title) for s in self.scored]
        columns += [Column("mean", "Mean")] if self._averaged else []
        columns += [Column("ms", "ms/query")]
        names = dict.fromkeys(row for s in self.scored for row in s.systems)
        rows = [self._summarise_row(name) for name in names]
        chosen = {s.benchmark.name: s.reference for s in self.scored}
        bounds = [
            (_FLOOR, [[s.floors[m] for m in _headline(s)] for s in self.scored]),
            (_CEILING, [[s.ceilings[m] for m in _headline(s)] for s in self.scored]),
        ]
        if all(chosen.values()):
            means = [
                [s.mean(str(s.reference), m) for m in _headline(s)] for s in self.scored
            ]
            bounds.insert(1, (_REFERENCE, means))
        rows += [self._bound(label, values) for label, values in bounds]
        return Table(
            "Systems and benchmarks",
            ("System",),
            tuple(columns),
            tuple(rows),
            tuple(
                note_overview(self.scored, self._averaged, self.tests, self.comparisons)
            ),
        )

    def detail(self, scores: BenchmarkScores) -> Table:
        """Return one benchmark: all measures, intervals, times and sizes."""
        table, tests = self._compared[scores.benchmark.name]
        found = {(t.condition, t.measure): t for t in tests}
        headline = _headline(scores)
        columns: list[Column] = []
        for m in scores.measures:
            columns.append(Column(m, m))
            if m in headline:
                share = f"{self.tests.confidence:.0%}".replace("%", " %")
                columns.append(Column(f"{m} difference", f"to † [{share}]"))
        columns += [Column(key, name, 1) for key, name in _COSTS.items()]
        rows = []
        for row in _rank(scores):
            cells: list[Content] = []
            for m in scores.measures:
                test = found.get((row, m))
                is_marked = test is not None and test.significant
                cells.append(Figure(scores.mean(row, m), marked=is_marked))
                if m in headline:
                    cells.append(None if test is None else _format_difference(test))
            cost = scores.costs.get(row, {})
            cells += [_figure(cost.get(key)) for key in _COSTS]
            rows.append(Row((row,), tuple(cells), is_baseline=row == scores.reference))
        for label, means in ((_FLOOR, scores.floors), (_CEILING, scores.ceilings)):
            cells = []
            for m in scores.measures:
                cells += [Figure(means[m]), *([None] if m in headline else [])]
            rows.append(Row((label,), (*cells, *([None] * len(_COSTS)))))
        notes = (*table.notes, *note_costs(scores), *scores.notes)
        title = f"{scores.benchmark.title}: {count_nouns(scores.num_topics, 'topic')}"
        return Table(title, ("System",), tuple(columns), tuple(rows), notes)

    def to_markdown(self) -> str:
        """Return the page: the overview, then each benchmark."""
        facts = "; ".join(f"{name}: {value}" for name, value in self.facts.items())
        parts = ["# Benchmark\n", f"{facts}.\n", self.summarise().to_markdown()]
        parts.append(_PICTURE.format("figure", "Systems by benchmark"))
        if any(s.timed for s in self.scored):
            parts.append(_PICTURE.format("cost", "Quality and cost of the systems"))
        for scores in self.scored:
            parts += [f"## {scores.benchmark.title}\n"]
            parts += [self.detail(scores).to_markdown()]
        if self.left_out:
            parts.append("## Left out\n")
            parts += [f"- {name}: {reason}" for name, reason in self.left_out.items()]
            parts.append("")
        return "\n".join(parts)

    def to_csv(self) -> str:
        """Return one line for each benchmark, row and measure, with full precision."""
        text = io.StringIO()
        writer = csv.DictWriter(text, _CSV, restval="", lineterminator="\n")
        writer.writeheader()
        for line in self._list_cells():
            known = {k: v for k, v in line.items() if v is not None}
            writer.writerow(
                {k: int(v) if isinstance(v, bool) else v for k, v in known.items()}
            )
        return text.getvalue()

    def describe(self) -> dict[str, Any]:
        """Return all but the scores by topic as plain values."""
        cells = self._list_cells()
        return {
            **self.facts,
            "package_version": importlib.metadata.version("mathamr-kedro"),
            "tests": asdict(self.tests),
            "benchmarks": {
                s.benchmark.name: {
                    **asdict(s.benchmark),
                    "topics": s.num_topics,
                    "headline": list(_headline(s)),
                    "chosen_reference": s.reference,
                    "notes": list(s.notes),
                    **s.facts,
                    "cells": [c for c in cells if c["benchmark"] == s.benchmark.name],
                }
                for s in self.scored
            },
            "left_out": dict(self.left_out),
        }

    @property
    def _averaged(self) -> list[BenchmarkScores]:
        """Benchmarks of the mean; none where it would be one of them alone."""
        found = [s for s in self.scored if s.benchmark.in_mean]
        return found if len(found) > 1 else []

    def _summarise_row(self, name: str) -> Row:
        cells: list[Content] = []
        times: list[float] = []
        for s in self.scored:
            if name not in s.systems:
                cells.append(None)
                continue
            tests = self.comparisons[s.benchmark.name]
            marked = {t.measure for t in tests if t.condition == name and t.significant}
            own = [s.mean(name, m) for m in _headline(s)]
            texts = [
                format_score(value, _DECIMALS) + ("*" if m in marked else "")
                for m, value in zip(_headline(s), own, strict=True)
            ]
            cells.append(_join(texts) + ("†" if name == s.reference else ""))
            if (spent := s.costs.get(name, {}).get("milliseconds")) is not None:
                times.append(spent)
        if self._averaged:
            found = [s for s in self._averaged if name in s.systems]
            means = [[s.mean(name, m) for m in _headline(s)] for s in found]
            cells.append(_average(means) if len(found) == len(self._averaged) else None)
        spans = [f"{t:,.0f}" for t in (min(times), max(times))] if times else []
        return Row((name,), (*cells, "–".join(dict.fromkeys(spans)) or None))

    def _bound(self, label: str, values: Sequence[Sequence[float]]) -> Row:
        cells: list[Content] = [
            _join([format_score(v, _DECIMALS) for v in found]) for found in values
        ]
        if self._averaged:
            pairs = zip(self.scored, values, strict=True)
            cells.append(_average([v for s, v in pairs if s.benchmark.in_mean]))
        return Row((label,), (*cells, None))

    def _list_cells(self) -> list[dict[str, Any]]:
        return [
            cell
            for s in self.scored
            for cell in s.list_cells(self.comparisons[s.benchmark.name])
        ]


def _headline(scores: BenchmarkScores) -> tuple[str, ...]:
    return scores.benchmark.headline


def _rank(scores: BenchmarkScores) -> list[str]:
    first = scores.measures[0]
    return sorted(scores.systems, key=lambda row: -scores.mean(row, first))


def _join(parts: Sequence[str]) -> str:
    return " / ".join(parts)


def _figure(value: float | None) -> Figure | None:
    return None if value is None else Figure(value)


def _average(means: Sequence[Sequence[float]]) -> str | None:
    """Return the means of the first and of the second measures."""
    width = min((len(found) for found in means), default=0)
    columns = [np.mean([found[i] for found in means]) for i in range(width)]
    return _join([format_score(float(c), _DECIMALS) for c in columns]) or None


def _format_difference(test: Comparison) -> str:
    ends = [format_score(end, _DECIMALS, signed=True) for end in test.interval]
    difference = format_score(test.difference, _DECIMALS, signed=True)
    return f"{difference} [{', '.join(ends)}]"
