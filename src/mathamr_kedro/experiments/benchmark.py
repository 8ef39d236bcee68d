"""The benchmark: one table of systems × collections.

```
conf/benchmarks.yml   collections: an environment's topic set, measures, a reference
   │ cells            the evaluation of each environment, recorded like any other
   ▼
CollectionScores      its systems, with floor, ceiling and costs
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

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np
import yaml

from mathamr_kedro.base.errors import ConfigurationError, MissingInputError
from mathamr_kedro.base.formatting import count_nouns, format_score
from mathamr_kedro.base.parameters import read_parameters
from mathamr_kedro.evaluation.stats import (
    Comparison,
    TestConfig,
    compare_with_baseline,
    interval_over_sets,
)
from mathamr_kedro.evaluation.tables import (
    Column,
    Content,
    Figure,
    Row,
    SeedResult,
    Table,
    describe_tests,
)
from mathamr_kedro.experiments.cells import Costs, FinishedCell
from mathamr_kedro.experiments.outcomes import Outcome, describe_cell
from mathamr_kedro.experiments.results import strategy_of

BENCHMARK = "benchmark"
"""Name of its result among those of experiments."""
_HEADLINES = 2
_TESTED = 2
"""Topics that a test needs at least."""
_DECIMALS = 3
_FLOOR, _CEILING = "*floor: random order*", "*ceiling: ideal order*"
_REFERENCE = "*reference†*"
_FOUND = {1: "texts", 2: "formulas"}
"""What the sets of each task find."""
_ORDINALS: tuple[str, ...] = ("first measure", "second measure")
_COSTS = {
    "milliseconds": "ms/query",
    "index_megabytes": "Index (MB)",
    "training_seconds": "Training (s)",
}
"""Columns of what a system costs."""
_OF_TRAINED = ("index_megabytes", "training_seconds")
"""Costs of systems with a training and an index of their own; 0: not here."""
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


def read_suite(file: Path) -> dict[str, Benchmark]:
    """Read the collections of the benchmark by name, in the order of the file.

    Raises:
        MissingInputError: there is no such file.
        ConfigurationError: an entry has an unknown, missing or ill-typed key.
    """
    try:
        entries = yaml.safe_load(file.read_text(encoding="utf-8"))
    except FileNotFoundError as exc:
        raise MissingInputError(
            f"No benchmark suite {str(file)!r}; conf/benchmarks.yml of the project is "
            "one (docs/benchmarks.md)"
        ) from exc
    except yaml.YAMLError as exc:
        raise ConfigurationError(f"Expected YAML in {str(file)!r} ({exc})") from exc
    if not isinstance(entries, dict):
        raise ConfigurationError(
            f"Expected benchmarks by name in {str(file)!r} (got {entries!r})"
        )
    found = {}
    for name, values in entries.items():
        try:
            entry = read_parameters(Benchmark, values, where=f"benchmarks.{name}")
        except ConfigurationError as exc:
            # The suite is no file of parameters of a stage.
            guessed = "conf/<env>/parameters/benchmarks.yml"
            raise ConfigurationError(str(exc).replace(guessed, str(file))) from exc
        found[str(name)] = replace(entry, name=str(name))
    return found


@dataclass(frozen=True)
class CollectionScores:
    """Scores of the systems of one evaluation on a topic set."""

    benchmark: Benchmark
    topics: tuple[str, ...]
    systems: Mapping[str, SeedResult]
    """By row: scores of all measures."""
    floors: Mapping[str, float]
    """Means of a random order by measure."""
    ceilings: Mapping[str, float]
    costs: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """By row: ``milliseconds`` of a query and its ``machine``; of trained systems
    ``index_megabytes`` and ``training_seconds``."""
    facts: Mapping[str, Any] = field(default_factory=dict)
    """Data, settings and software of the evaluation."""

    @classmethod
    def read(cls, benchmark: Benchmark, cell: FinishedCell) -> CollectionScores:
        """Read the scores of an evaluation.

        Raises:
            MissingInputError: it has no such topic set or measure.
            ConfigurationError: two systems have the same row.
        """
        task, topic_set = benchmark.task, benchmark.topic_set
        scored = cell.read_topic_scores(task, topic_set)
        metrics = cell.read_metrics(task, topic_set)
        absent = [m for m in benchmark.measures if m not in metrics]
        if not scored or absent:
            known = ", ".join(metrics) or "no scores"
            raise MissingInputError(
                f"Expected scores of {topic_set} (task {task}) by "
                f"{', '.join(absent or benchmark.measures)} in the evaluation of "
                f"{benchmark.environment!r} (got {known})"
            )
        costs = cell.costs(task)
        asked = cell.record.parameters.get("evaluation", {})
        optional = asked.get("optional_baselines", ()) if task == 1 else ()
        rows: dict[str, str] = {}
        for system in scored:
            row = benchmark.rows.get(system, system)
            if row in rows:
                raise ConfigurationError(
                    f"Expected one system for the row {row!r} of {benchmark.name!r} "
                    f"(got {rows[row]!r} and {system!r}); change 'rows' of the suite"
                )
            rows[row] = system
        return cls(
            benchmark,
            next(iter(scored.values()))[0],
            {
                row: SeedResult(
                    cell.record.seed,
                    {m: scored[system][1][m] for m in benchmark.measures},
                )
                for row, system in rows.items()
            },
            {m: metrics[m]["floor"] for m in benchmark.measures},
            {m: metrics[m]["ceiling"] for m in benchmark.measures},
            {r: _read_costs(costs, s) for r, s in rows.items() if s in costs.systems},
            {
                **describe_cell(cell, topic_set),
                "cell": cell.folder.name,
                "not_available": [name for name in optional if name not in scored],
            },
        )

    @property
    def reference(self) -> str | None:
        """The row that all others are compared with: the best of its pattern."""
        first = self.benchmark.measures[0]
        known = [r for r in self.systems if fnmatchcase(r, self.benchmark.reference)]
        return max(known, key=lambda row: self.mean(row, first), default=None)

    @property
    def timed(self) -> list[str]:
        """Rows whose searches were timed."""
        return [r for r in self.systems if "milliseconds" in self.costs.get(r, {})]

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

    def list_means(self, row: str) -> list[float]:
        """Return the means of the headline measures."""
        return [self.mean(row, m) for m in self.benchmark.headline]

    def compare(self, config: TestConfig) -> list[Comparison]:
        """Test every row against the reference on the headline measures.

        Returns:
            The tests, one family; none for fewer than two topics.
        """
        reference = self.reference
        is_enough = self.num_topics >= _TESTED and len(self.systems) > 1
        if reference is None or not is_enough:
            return []
        scores = {
            row: {m: result.per_topic[m] for m in self.benchmark.headline}
            for row, result in self.systems.items()
        }
        return compare_with_baseline(scores, reference, config)


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
        outcomes = {
            s.benchmark.name: Outcome(
                name=s.benchmark.name,
                title=s.benchmark.title,
                results={row: [result] for row, result in s.systems.items()},
                tests={s.benchmark.name: self.comparisons[s.benchmark.name]},
                baseline=s.reference or "",
                measure=s.benchmark.measures[0],
                facts={
                    **s.facts,
                    "floors": dict(s.floors),
                    "ceilings": dict(s.ceilings),
                    "costs": {row: dict(cost) for row, cost in s.costs.items()},
                },
                topics=s.topics,
            )
            for s in self.scored
        }
        return {
            "experiment": BENCHMARK,
            **self.facts,
            "collections": {name: found.describe() for name, found in outcomes.items()},
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
            names = dict.fromkeys(row for s in sets for row in s.systems)
            rows = [row for row in names if all(row in s.systems for s in sets)]
            if len(sets) < _TESTED or not rows:
                continue
            entry = replace(
                sets[0].benchmark,
                name=f"mean_{what}",
                title=f"Mean over {len(sets)} sets: {what}",
                measures=_ORDINALS[: min(len(s.benchmark.headline) for s in sets)],
            )
            systems = {}
            for row in rows:
                columns = zip(*(s.list_means(row) for s in sets), strict=False)
                scores = zip(entry.measures, map(np.array, columns), strict=True)
                systems[row] = SeedResult(0, dict(scores))
            times = {
                row: [float(s.costs[row]["milliseconds"]) for s in sets]
                for row in rows
                if all(row in s.timed for s in sets)
            }
            costs = {
                row: {"milliseconds": float(np.mean(t))} for row, t in times.items()
            }
            titles = tuple(s.benchmark.title for s in sets)
            found.append(CollectionScores(entry, titles, systems, {}, {}, costs))
        return found

    def _list_sets(self, task: int) -> list[CollectionScores]:
        """Return the collections of a task that count in its mean."""
        found = [s for s in self.scored if s.benchmark.in_mean]
        return [
            s for s in found if s.benchmark.task == task and s.num_topics >= _TESTED
        ]

    def _compare_means(self, average: CollectionScores) -> Table:
        """Return the means over sets with their intervals, and those of differences."""
        sets = self._list_sets(average.benchmark.task)
        measures, reference = average.benchmark.measures, average.reference
        share = f"[{100 * self.tests.confidence:g} %]"
        columns = []
        for name in measures:
            columns += [Column(name, f"{name} {share}")]
            columns += [Column(f"{name} difference", f"to † {share}")]
        columns.append(Column("ms", "ms/query", 1))
        rows = []
        for row in average.ranked:
            cells: list[Content] = []
            for place in range(len(measures)):
                own = [_of_topics(s, row, place) for s in sets]
                cells.append(self._format_mean(own))
                difference = None
                if reference is not None and row != reference:
                    other = [_of_topics(s, reference, place) for s in sets]
                    pairs = zip(own, other, strict=True)
                    difference = self._format_mean([a - b for a, b in pairs], True)
                cells.append(difference)
            time = average.costs.get(row, {}).get("milliseconds")
            cells.append(None if time is None else Figure(time))
            rows.append(Row((row,), tuple(cells), is_baseline=row == reference))
        notes = [
            f"Each set weighs the same: {'; '.join(average.topics)}. Intervals are "
            "over the queries of the sets, not over sets."
        ]
        if reference is not None:
            notes.append("† Reference: the best of its pattern by the first mean.")
        title = average.benchmark.title
        return Table(title, ("System",), tuple(columns), tuple(rows), tuple(notes))

    def _format_mean(self, sets: Sequence[Any], signed: bool = False) -> str:
        mean, interval = interval_over_sets(sets, self.tests.confidence)
        shown = [format_score(v, _DECIMALS, signed=signed) for v in (mean, *interval)]
        return f"{shown[0]} [{shown[1]}, {shown[2]}]"

    def _summarise(self) -> Table:
        """Return systems × collections: the headline measures, means and times."""
        columns = [Column(s.benchmark.name, s.benchmark.title) for s in self.scored]
        columns += [Column("ms", "ms/query")]
        names = dict.fromkeys(row for s in self.scored for row in s.systems)
        rows = [self._summarise_row(name) for name in names]
        bounds = {
            _FLOOR: [[s.floors[m] for m in s.benchmark.headline] for s in self.scored],
            _CEILING: [
                [s.ceilings[m] for m in s.benchmark.headline] for s in self.scored
            ],
        }
        if all(s.reference for s in self.scored):
            means = [s.list_means(str(s.reference)) for s in self.scored]
            bounds = {_FLOOR: bounds[_FLOOR], _REFERENCE: means, **bounds}
        for label, values in bounds.items():
            shown = [" / ".join(format_score(v, _DECIMALS) for v in f) for f in values]
            rows.append(Row((label,), (*shown, None)))
        title, notes = "Systems and benchmarks", tuple(self._list_notes())
        return Table(title, ("System",), tuple(columns), tuple(rows), notes)

    def _summarise_row(self, name: str) -> Row:
        cells: list[Content] = []
        times: list[float] = []
        for s in self.scored:
            if name not in s.systems:
                cells.append(None)
                continue
            tests = self.comparisons[s.benchmark.name]
            marked = {t.measure for t in tests if t.condition == name and t.significant}
            texts = [
                format_score(value, _DECIMALS) + ("*" if m in marked else "")
                for m, value in zip(
                    s.benchmark.headline, s.list_means(name), strict=True
                )
            ]
            cells.append(" / ".join(texts) + ("†" if name == s.reference else ""))
            if name in s.timed:
                times.append(s.costs[name]["milliseconds"])
        spans = [f"{t:,.0f}" for t in (min(times), max(times))] if times else []
        return Row((name,), (*cells, "–".join(dict.fromkeys(spans)) or None))

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
        notes = [
            f"Measures: {usual}.{''.join(others)}",
            f"† Reference of the column. * Differs from it with p < {config.alpha:g} "
            f"({how}).",
        ]
        return notes

    def _detail(self, scores: CollectionScores) -> Table:
        """Return one collection: all measures, intervals, times and sizes."""
        benchmark = scores.benchmark
        tests = self.comparisons[benchmark.name]
        found = {(t.condition, t.measure): t for t in tests}
        columns: list[Column] = []
        for m in benchmark.measures:
            columns.append(Column(m, m))
            if m in benchmark.headline:
                share = f"{100 * self.tests.confidence:g} %"
                columns.append(Column(f"{m} difference", f"to † [{share}]"))
        columns += [Column(key, name, 1) for key, name in _COSTS.items()]
        rows = []
        for row in scores.ranked:
            cells: list[Content] = []
            for m in benchmark.measures:
                test = found.get((row, m))
                is_marked = test is not None and test.significant
                cells.append(Figure(scores.mean(row, m), marked=is_marked))
                if m in benchmark.headline:
                    cells.append(None if test is None else _format_difference(test))
            cost = scores.costs.get(row, {})
            cells += [Figure(cost[key]) if key in cost else None for key in _COSTS]
            rows.append(Row((row,), tuple(cells), is_baseline=row == scores.reference))
        for label, means in ((_FLOOR, scores.floors), (_CEILING, scores.ceilings)):
            cells = []
            for m in benchmark.measures:
                cells += [Figure(means[m])]
                cells += [None] if m in benchmark.headline else []
            rows.append(Row((label,), (*cells, *([None] * len(_COSTS)))))
        notes = (*describe_tests(tests, self.tests), *_note_costs(scores))
        expected = benchmark.queries
        if expected not in (0, scores.num_topics):
            notes += (
                f"Expected {expected:,} queries that count (got {scores.num_topics:,})"
                ": these are not the topics or judgments that the suite describes.",
            )
        absent = ", ".join(scores.facts.get("not_available", ()))
        if absent:
            notes += (
                f"Not available: {absent} (`mathamr models` says what is missing).",
            )
        title = f"{benchmark.title}: {count_nouns(scores.num_topics, 'topic')}"
        return Table(title, ("System",), tuple(columns), tuple(rows), notes)


def _read_costs(costs: Costs, system: str) -> dict[str, Any]:
    figures = costs.figures(system)
    found: dict[str, Any] = {
        "milliseconds": 1000 / figures["QPS"],
        "machine": costs.machines(system)["QPS"].name,
    }
    if strategy_of(system) is not None or costs.is_other_paper(system):
        found |= {k: figures[k] for k in _OF_TRAINED if figures.get(k)}
    return found


def _note_costs(scores: CollectionScores) -> list[str]:
    """Explain times and sizes, and name the machines."""
    used = dict.fromkeys(str(cost["machine"]) for cost in scores.costs.values())
    if not used:
        return []
    trained = any("training_seconds" in cost for cost in scores.costs.values())
    return [
        "ms/query: the search; sentence encoders read the query in this time, graphs "
        f"of queries are encoded before it. On {'; '.join(used)}. Index: vectors of "
        "what may be returned."
        + (" Training: all epochs, wherever they ran." if trained else "")
    ]


def _of_topics(scores: CollectionScores, row: str, place: int) -> Any:
    return scores.systems[row].per_topic[scores.benchmark.headline[place]]


def _format_difference(test: Comparison) -> str:
    ends = [format_score(end, _DECIMALS, signed=True) for end in test.interval]
    difference = format_score(test.difference, _DECIMALS, signed=True)
    return f"{difference} [{', '.join(ends)}]"
