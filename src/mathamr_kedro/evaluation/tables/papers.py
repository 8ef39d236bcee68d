"""Tables of other papers: their rows and columns, what they report, what is found here.

A table is stated beside the parameters of its system (``significance.papers``)::

    "003.2":
      title: "SSEmb, Table 2: ablations"
      task: 2
      columns: ["nDCG'@10", "P'@10"]
      baseline: SSEmb
      rows:
        SSEmb: {published: [0.7343, 0.6803], ours: ssemb}   # a system, or a condition
        StructEmb: {published: [0.6762, 0.6211], ours: subs_attr}

and becomes::

    | Method    | Result                      | nDCG'@10       |
    | SSEmb     | published, whole collection | 0.7343         |
    | SSEmb†    | here                        | 0.7012 ± .0021 |
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from mathamr_kedro.base.errors import ConfigurationError
from mathamr_kedro.evaluation.stats.significance import (
    Comparison,
    TestConfig,
    compare_with_baseline,
)
from mathamr_kedro.evaluation.tables.scores import (
    Layout,
    Results,
    SeedResult,
    describe_tests,
    mean_table,
)
from mathamr_kedro.evaluation.tables.table import Column, Figure, Row, Table

PUBLISHED = "published, whole collection"
HERE = "here"


@dataclass(frozen=True)
class PaperRow:
    """A row of a paper, with what corresponds to it here."""

    published: tuple[float | None, ...] = ()
    """Figures in the order of the columns; empty: the paper has no such row."""
    ours: str | Mapping[str, str] | None = None
    """A system, or a condition of the experiment; by heading if columns have some
    (``{Original: bm25, RRF: bm25+ssemb}``); ``None``: it is not at hand."""


@dataclass(frozen=True)
class PaperTable:
    """A result table of a paper."""

    title: str
    task: int
    columns: tuple[str, ...]
    """Measures or costs; with a heading, ``"RRF: P'@10"``."""
    rows: Mapping[str, PaperRow]
    """By name, in the order of the paper."""
    baseline: str | None = None
    """Row that ours are tested against, if the paper tests; or a heading, against
    which those beside it are tested."""
    decimals: int = 3
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name, row in self.rows.items():
            if row.published and len(row.published) != len(self.columns):
                raise ConfigurationError(
                    f"Expected {len(self.columns)} published figures in row {name!r}, "
                    f"one for each column (got {len(row.published)})"
                )
        known = [*self.rows, *(c.rpartition(": ")[0] for c in self.columns)]
        if self.baseline is not None and self.baseline not in known:
            raise ConfigurationError(
                f"Expected one of {known} as baseline (got {self.baseline!r})"
            )

    def fill(
        self, results: Results, config: TestConfig
    ) -> tuple[Table, list[Comparison]] | None:
        """Return the table and its tests; ``None`` if nothing of it was found here.

        Ours are means over seeds; what is tested are the scores of each topic, averaged
        over seeds, so no seed is chosen by the topics that it is tested on.
        """
        columns = tuple(map(self._read_column, self.columns))
        own = {name: _join(row, columns, results) for name, row in self.rows.items()}
        own = {
            n: f
            for n, f in own.items()
            if any(r.has(c.key) for r in f for c in columns)
        }
        if not own:
            return None
        labels = {name: (name, HERE) for name in own}
        layout = Layout(
            self.title, ("Method", "Result"), labels, columns, self.baseline
        )
        table = mean_table(layout, own)
        tests: list[Comparison] = []
        scores = {n: _average(found, columns) for n, found in own.items()}
        is_heading = any(c.group == self.baseline for c in columns)
        if is_heading:
            scores = _turn(scores, columns)
        if self.baseline in scores and len(scores) > 1:
            tests = compare_with_baseline(scores, self.baseline, config)
        marked = {(t.condition, t.measure) for t in tests if t.significant}
        if is_heading:
            pairs = ((c, *m.rpartition(": ")[::2]) for c, m in marked)
            marked = {(row, f"{heading}: {title}") for heading, row, title in pairs}
        rows = tuple(self._interleave([_mark(r, columns, marked) for r in table.rows]))
        absent = [n for n, row in self.rows.items() if row.ours and n not in own]
        notes = [*self.notes, *table.notes, *describe_tests(tests, config)]
        if absent:
            notes.append(f"Not run here: {', '.join(absent)}.")
        return replace(table, rows=rows, notes=tuple(notes)), tests

    def _read_column(self, name: str) -> Column:
        group, _, title = name.rpartition(": ")
        return Column(name, title, decimals=self.decimals, group=group)

    def _interleave(self, ours: Sequence[Row]) -> Iterator[Row]:
        for name, row in self.rows.items():
            if row.published:
                figures = [None if v is None else Figure(v) for v in row.published]
                yield Row((name, PUBLISHED), tuple(figures))
            yield from (
                r for r in ours if f"{r.labels[0]} on ".startswith(f"{name} on ")
            )


def _join(
    row: PaperRow, columns: Sequence[Column], results: Results
) -> Sequence[SeedResult]:
    """Return ours over seeds; scores of several systems under their headings."""
    if row.ours is None or isinstance(row.ours, str):
        return results.get(row.ours or "", ())
    parts = {group: results.get(name, ()) for group, name in row.ours.items()}
    seeds = [{r.seed: r for r in found} for found in parts.values()]
    joined = []
    for seed in sorted(set.intersection(*(set(found) for found in seeds))):
        by_group = {g: found[seed] for g, found in zip(parts, seeds, strict=True)}
        scores = {
            c.key: by_group[c.group].per_topic[c.title]
            for c in columns
            if c.group in by_group and c.title in by_group[c.group].per_topic
        }
        joined.append(SeedResult(seed, scores))
    return joined


def _average(
    found: Sequence[SeedResult], columns: Sequence[Column]
) -> dict[str, np.ndarray]:
    return {
        c.key: np.mean([r.per_topic[c.key] for r in found], axis=0)
        for c in columns
        if all(c.key in r.per_topic for r in found)
    }


def _turn(
    scores: Mapping[str, Mapping[str, np.ndarray]], columns: Sequence[Column]
) -> dict[str, dict[str, np.ndarray]]:
    """Return scores by heading, then by row and measure, as ``"row: measure"``."""
    found: dict[str, dict[str, np.ndarray]] = {}
    for name, values in scores.items():
        for c in columns:
            if c.key in values:
                found.setdefault(c.group, {})[f"{name}: {c.title}"] = values[c.key]
    return found


def _mark(row: Row, columns: Sequence[Column], marked: set[tuple[str, str]]) -> Row:
    figures = tuple(
        replace(f, marked=(row.labels[0], c.key) in marked)
        if isinstance(f, Figure)
        else f
        for f, c in zip(row.figures, columns, strict=True)
    )
    return replace(row, figures=figures)
