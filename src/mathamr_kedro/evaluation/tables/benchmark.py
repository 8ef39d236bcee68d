"""The benchmark: one table of systems × collections.

```
CollectionScores      the systems on one collection, between floor and ceiling
   │                  every system against the reference
   ▼
BenchmarkReport   | System       |    Task 1, 2020 | ... | ms/query |
                  | mathamr_plus | 0.801* / 0.667* |     |   10–214 |
                  | bm25_graph   |  0.738 / 0.616† |     |        8 |
                  and the means over sets, with intervals
```

``*`` differs significantly from ``†``, the reference of a collection.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import cached_property
from typing import Any, Literal

import numpy as np

from mathamr_kedro.base.errors import ConfigurationError
from mathamr_kedro.base.formatting import count_nouns
from mathamr_kedro.evaluation.stats import (
    Comparison,
    TestConfig,
    compare_with_baseline,
    interval_over_sets,
)
from mathamr_kedro.evaluation.tables.comparison import Outcome, ScoredSet
from mathamr_kedro.evaluation.tables.scores import SeedResult, describe_tests
from mathamr_kedro.evaluation.tables.table import (
    Column,
    Content,
    Figure,
    Labels,
    Table,
    Values,
    format_figure,
)

BENCHMARK = "benchmark"
"""Name of its result among those of experiments."""
_HEADLINES = 2
_SEVERAL = 2
"""Sets that have a mean, and topics that have an interval."""
_BOUNDS = "*floor: random order*", "*ceiling: ideal order*"
_REFERENCE = "*reference†*"
_FOUND = {1: "texts", 2: "formulas"}
"""What the sets of each task find."""
_ORDINALS: tuple[str, ...] = ("first measure", "second measure")
_SCORE = Column("score", "score")
_TIME = Column("milliseconds", "ms/query", 1)
_COSTS = (
    _TIME,
    Column("index_megabytes", "Index (MB)", 1),
    Column("training_seconds", "Training (s)", 1),
)
"""Columns of what a system costs."""
_PICTURE = """<picture><source media="(prefers-color-scheme: dark)" \
srcset="{0}_dark.png"><img src="{0}.png" alt="{1}"></picture>
"""


@dataclass(frozen=True)
class Benchmark:
    """A topic set of an environment, and how systems are compared on it."""

    title: str
    """Heading of its column."""
    environment: str
    """Whose evaluation is read; its parameters say how runs are scored."""
    topic_set: str
    measures: tuple[str, ...]
    """Of the evaluation; the first two are the headline: tested, in the overview."""
    reference: str
    """Pattern of systems; all others are compared with the best of them."""
    task: Literal[1, 2] = 1
    """Answers or documents, formulas."""
    variable: str = ""
    """Environment variables that name the folders of the data, with blanks between
    them; empty: none is needed."""
    queries: int = 0
    """Topics that should count; 0: not known."""
    rows: Mapping[str, str] = field(default_factory=dict)
    """Systems to the names of their rows, if they differ."""
    in_mean: bool = True
    """Whether the mean over collections counts it."""
    papers: str = ""
    """Overlays with the systems of the papers that its data allow."""
    name: str = ""
    """Key of the entry."""

    def __post_init__(self) -> None:
        if not self.measures:
            raise ConfigurationError("Expected at least one measure (got none)")

    @property
    def headline(self) -> tuple[str, ...]:
        """The measures that are tested and part of the overview."""
        return self.measures[:_HEADLINES]

    def with_papers(self) -> Benchmark:
        """Return it over an environment with the systems of the papers, too."""
        environment = "+".join(filter(None, (self.environment, self.papers)))
        return replace(self, environment=environment)


@dataclass(frozen=True)
class CollectionScores:
    """The systems of a benchmark; of their costs those of :data:`_COSTS`."""

    benchmark: Benchmark
    scored: ScoredSet
    facts: Mapping[str, Any] = field(default_factory=dict)
    """Data, settings and software of the evaluation."""

    @property
    def systems(self) -> Mapping[str, SeedResult]:
        """By row: scores of all measures, and costs."""
        return self.scored.systems

    @property
    def reference(self) -> str | None:
        """The row that all others are compared with: the best of its pattern."""
        pattern = self.benchmark.reference
        return next((row for row in self.ranked if fnmatchcase(row, pattern)), None)

    @property
    def timed(self) -> list[str]:
        """Rows whose searches were timed."""
        return [row for row, own in self.systems.items() if _TIME.key in own.values]

    @property
    def num_topics(self) -> int:
        """Topics that count in the first measure."""
        first = next(iter(self.systems.values()))
        return len(first.per_topic[self.benchmark.measures[0]])

    def mean(self, row: str, measure: str) -> float:
        """Return the mean over the topics that count."""
        return self.systems[row].value(measure)

    @property
    def ranked(self) -> list[str]:
        """Rows, the best by the first measure first."""
        first = self.benchmark.measures[0]
        return sorted(self.systems, key=lambda row: -self.mean(row, first))

    def list_means(self, row: str) -> dict[str, float]:
        """Return the means of the headline measures."""
        return {m: self.mean(row, m) for m in self.benchmark.headline}

    def compare(self, config: TestConfig) -> list[Comparison]:
        """Test every row against the reference on the headline measures: one family."""
        reference = self.reference
        if reference is None:
            return []
        scores = {
            row: {m: result.per_topic[m] for m in self.benchmark.headline}
            for row, result in self.systems.items()
        }
        return compare_with_baseline(scores, reference, config)

    def describe(self, tests: Sequence[Comparison]) -> dict[str, Any]:
        """Return what a version of the result holds, as plain values."""
        name = self.benchmark.name
        scored = self.scored.results.items()
        outcome = Outcome(
            name,
            self.benchmark.title,
            {
                **self.facts,
                "floors": dict(self.scored.floors),
                "ceilings": dict(self.scored.ceilings),
                "costs": {row: _list_costs(self.systems[row]) for row in self.timed},
            },
            {r: [replace(own, figures={}, machines={})] for r, (own,) in scored},
            topics=self.scored.topics,
        )
        return outcome.describe() | {"tests": {name: [t.to_record() for t in tests]}}


@dataclass(frozen=True)
class BenchmarkReport:
    """All collections, with tests of every system against the reference."""

    scored: Sequence[CollectionScores]
    tests: TestConfig = field(default_factory=TestConfig)
    skipped: Mapping[str, str] = field(default_factory=dict)
    """Collections that were not scored, and why."""
    facts: Mapping[str, Any] = field(default_factory=dict)
    """Version, machine and options of the command."""

    @cached_property
    def comparisons(self) -> dict[str, list[Comparison]]:
        """Tests of the headline measures by collection; one family each."""
        return {s.benchmark.name: s.compare(self.tests) for s in self.scored}

    @cached_property
    def tables(self) -> dict[str, Table]:
        """The overview, the means over sets, then a table for each collection."""
        details = {s.benchmark.name: self._detail(s) for s in self.scored}
        means = {s.benchmark.name: self._compare_means(s) for s in self.averages}
        return {"overview": self._summarise(), **means, **details}

    def to_markdown(self) -> str:
        """Return the page: the overview, then each collection."""
        facts = "; ".join(f"{name}: {value}" for name, value in self.facts.items())
        overview, *others = self.tables.values()
        means, details = others[: len(self.averages)], others[len(self.averages) :]
        parts = ["# Benchmark\n", *([f"{facts}.\n"] if facts else [])]
        parts.append(overview.to_markdown())
        parts += [table.to_markdown() for table in means]
        parts.append(_PICTURE.format("figure", "Systems by collection"))
        if any(s.timed for s in self.scored):
            parts.append(_PICTURE.format("cost", "Quality and cost of the systems"))
        for scores, table in zip(self.scored, details, strict=True):
            parts += [f"## {scores.benchmark.title}\n", table.to_markdown()]
        if self.skipped:
            parts.append("## Skipped\n")
            parts += [f"- {name}: {reason}" for name, reason in self.skipped.items()]
            parts.append("")
        return "\n".join(parts)

    def describe(self) -> dict[str, Any]:
        """Return what a version of the result holds, as plain values."""
        named = {s.benchmark.name: s for s in self.scored}
        return {
            "experiment": BENCHMARK,
            **self.facts,
            "collections": {
                name: found.describe(self.comparisons[name])
                for name, found in named.items()
            },
            "skipped": dict(self.skipped),
            "tables": {name: t.to_markdown() for name, t in self.tables.items()},
        }

    @cached_property
    def averages(self) -> list[CollectionScores]:
        """Means over the sets of each task, for systems that all of them have.

        The "topics" are the sets; times are means over those of the sets.
        """
        found = []
        for task, what in _FOUND.items():
            sets = self._list_sets(task)
            rows = [r for r in _list_rows(sets) if all(r in s.systems for s in sets)]
            if len(sets) < _SEVERAL or not rows:
                continue
            entry = replace(
                sets[0].benchmark,
                name=f"mean_{what}",
                title=f"Mean over {len(sets)} sets: {what}",
                measures=_ORDINALS[: min(len(s.benchmark.headline) for s in sets)],
            )
            systems = {row: _average(entry, row, sets) for row in rows}
            titles = tuple(s.benchmark.title for s in sets)
            scored = ScoredSet(task, entry.name, titles, systems)
            found.append(CollectionScores(entry, scored))
        return found

    def _list_sets(self, task: int) -> list[CollectionScores]:
        """Return the collections of a task that count in its mean."""
        found = [s for s in self.scored if s.benchmark.in_mean]
        return [
            s for s in found if s.benchmark.task == task and s.num_topics >= _SEVERAL
        ]

    def _list_columns(self, measures: Sequence[str], suffix: str = "") -> list[Column]:
        """Return columns of measures, those that are tested with their differences."""
        share = f"[{100 * self.tests.confidence:g} %]"
        columns = []
        for place, name in enumerate(measures):
            columns.append(Column(name, f"{name} {share if suffix else ''}".strip()))
            if place < _HEADLINES:
                difference = Column(_differ(name), f"to † {share}", signed=True)
                columns.append(difference)
        return columns

    def _compare_means(self, average: CollectionScores) -> Table:
        """Return the means over sets with their intervals, and those of differences."""
        sets, reference = self._list_sets(average.benchmark.task), average.reference
        rows: dict[Labels, Values] = {}
        for row in average.ranked:
            cells: dict[str, Content | float] = {}
            for place, name in enumerate(average.benchmark.measures):
                own = [_of_topics(s, row, place) for s in sets]
                cells[name] = self._average_sets(own)
                if reference is not None and row != reference:
                    other = [_of_topics(s, reference, place) for s in sets]
                    pairs = zip(own, other, strict=True)
                    cells[_differ(name)] = self._average_sets([a - b for a, b in pairs])
            rows[row] = {**average.systems[row].values, **cells}
        notes = [
            f"Each set weighs the same: {'; '.join(average.scored.topics)}. Intervals "
            "are over the queries of the sets, not over sets."
        ]
        if reference is not None:
            notes.append("† Reference: the best of its pattern by the first mean.")
        columns = [*self._list_columns(average.benchmark.measures, "interval"), _TIME]
        title = average.benchmark.title
        return Table(title, ("System",), columns, rows, notes, reference)

    def _average_sets(self, sets: Sequence[Any]) -> Figure:
        mean, interval = interval_over_sets(sets, self.tests.confidence)
        return Figure(mean, interval=interval)

    def _summarise(self) -> Table:
        """Return systems × collections: the headline measures, means and times."""
        named = {s.benchmark.name: s for s in self.scored}
        columns = [Column(name, s.benchmark.title) for name, s in named.items()]
        rows: dict[Labels, Values] = {
            row: self._summarise_row(row, named) for row in _list_rows(self.scored)
        }
        floor, ceiling = _BOUNDS
        bounds = {floor: {n: s.scored.floors for n, s in named.items()}}
        if all(s.reference for s in self.scored):
            bounds[_REFERENCE] = {
                n: s.list_means(str(s.reference)) for n, s in named.items()
            }
        bounds[ceiling] = {n: s.scored.ceilings for n, s in named.items()}
        for label, means in bounds.items():
            rows[label] = {
                n: _join(means[n][m] for m in s.benchmark.headline)
                for n, s in named.items()
            }
        notes, title = self._list_notes(), "Systems and benchmarks"
        return Table(title, ("System",), [*columns, _TIME], rows, notes)

    def _summarise_row(
        self, row: str, named: Mapping[str, CollectionScores]
    ) -> dict[str, str | None]:
        cells: dict[str, str | None] = {}
        times: list[float] = []
        for name, s in named.items():
            if row in s.systems:
                tests = self.comparisons[name]
                found = [t for t in tests if t.condition == row and t.significant]
                marked = {t.measure for t in found}
                means = s.list_means(row).items()
                shown = _join(Figure(mean, marked=m in marked) for m, mean in means)
                cells[name] = shown + ("†" if row == s.reference else "")
                if row in s.timed:
                    times.append(s.mean(row, _TIME.key))
        spans = [f"{t:,.0f}" for t in (min(times), max(times))] if times else []
        return {**cells, _TIME.key: "–".join(dict.fromkeys(spans)) or None}

    def _list_notes(self) -> list[str]:
        """Explain the table of all collections."""
        config = self.tests
        sizes = sorted(len(found) for found in self.comparisons.values())
        span = " to ".join(str(n) for n in dict.fromkeys((sizes[0], sizes[-1])))
        how = config.describe(f"the {span}")
        how += "" if config.correction == "none" else " of a benchmark"
        measures: dict[str, list[str]] = {}
        for s in self.scored:
            found = measures.setdefault(" / ".join(s.benchmark.headline), [])
            found.append(s.benchmark.title)
        usual = max(measures, key=lambda m: len(measures[m]))
        others = [f" {'; '.join(t)}: {m}." for m, t in measures.items() if m != usual]
        return [
            f"Measures: {usual}.{''.join(others)}",
            f"† Reference of the column. * Differs from it with p < {config.alpha:g} "
            f"({how}).",
        ]

    def _detail(self, scores: CollectionScores) -> Table:
        """Return one collection: all measures, intervals, times and sizes."""
        benchmark = scores.benchmark
        tests = self.comparisons[benchmark.name]
        columns = [*self._list_columns(benchmark.measures), *_COSTS]
        rows: dict[Labels, Values] = {
            row: scores.systems[row].values for row in scores.ranked
        }
        for t in tests:
            rows[t.condition] = {
                **rows[t.condition],
                t.measure: Figure(t.mean, marked=t.significant),
                _differ(t.measure): Figure(t.difference, interval=t.interval),
            }
        floor, ceiling = _BOUNDS
        rows |= {floor: scores.scored.floors, ceiling: scores.scored.ceilings}
        notes = (*describe_tests(tests, self.tests), *_list_notes(scores))
        title = f"{benchmark.title}: {count_nouns(scores.num_topics, 'topic')}"
        return Table(title, ("System",), columns, rows, notes, scores.reference)


def _differ(measure: str) -> str:
    """Return the key of the column of differences to the reference."""
    return f"{measure} difference"


def _join(scores: Iterable[Figure | float]) -> str:
    figures = (s if isinstance(s, Figure) else Figure(s) for s in scores)
    return " / ".join(format_figure(figure, _SCORE) for figure in figures)


def _list_rows(scored: Sequence[CollectionScores]) -> list[str]:
    return list(dict.fromkeys(row for s in scored for row in s.systems))


def _average(
    entry: Benchmark, row: str, sets: Sequence[CollectionScores]
) -> SeedResult:
    """Return the means of each set as if they were topics, and the mean time."""
    columns = zip(*(s.list_means(row).values() for s in sets), strict=False)
    scores = dict(zip(entry.measures, map(np.array, columns), strict=True))
    times = [s.mean(row, _TIME.key) for s in sets if row in s.timed]
    mean = {_TIME.key: float(np.mean(times))} if len(times) == len(sets) else {}
    return SeedResult(0, scores, mean)


def _of_topics(scores: CollectionScores, row: str, place: int) -> Any:
    return scores.systems[row].per_topic[scores.benchmark.headline[place]]


def _list_costs(result: SeedResult) -> dict[str, Any]:
    time, *others = result.figures.items()
    machine = result.machines[_TIME.key].name
    return dict([time, ("machine", machine), *others])


def _list_notes(scores: CollectionScores) -> list[str]:
    """Explain times and sizes, name the machines, and say what is missing."""
    notes = []
    timed = [scores.systems[row] for row in scores.timed]
    if timed:
        used = dict.fromkeys(own.machines[_TIME.key].name for own in timed)
        notes.append(
            "ms/query: the search; sentence encoders read the query in this time, "
            "graphs of queries are encoded before it. On "
            f"{'; '.join(used)}. Index: vectors of what may be returned."
        )
        if any("training_seconds" in own.values for own in timed):
            notes[-1] += " Training: all epochs, wherever they ran."
    expected = scores.benchmark.queries
    if expected not in (0, scores.num_topics):
        notes.append(
            f"Expected {expected:,} queries that count (got {scores.num_topics:,})"
            ": these are not the topics or judgments that the suite describes."
        )
    absent = ", ".join(scores.facts.get("not_available", ()))
    if absent:
        notes.append(
            f"Not available: {absent} (`mathamr models` says what is missing)."
        )
    return notes
