"""Runs of one benchmark against its judgments, with floor and ceiling.

Both anchors are exact means over topics:

- ``floor``: a random order of what could be returned: of the judged documents where
  they are those of a pool, else of the whole collection
  (:mod:`mathamr_kedro.evaluation.metrics.evaluation`).
- ``ceiling``: the ideal order of the judged documents that are in the collection.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from typing import Any

import numpy as np
import numpy.typing as npt

from mathamr_kedro.base.errors import ConfigurationError, MissingInputError
from mathamr_kedro.evaluation.metrics import Evaluation, Protocol, evaluate_run
from mathamr_kedro.evaluation.stats import (
    Column,
    Comparison,
    FloatArray,
    Layout,
    SeedResult,
    Table,
    TestConfig,
    best_seed_table,
)
from mathamr_kedro.experiments.benchmark.suite import Benchmark
from mathamr_kedro.experiments.costs import Costs
from mathamr_kedro.experiments.results import strategy_of
from mathamr_kedro.trec import Qrels, Run

BoolArray = npt.NDArray[np.bool_]

_OF_TRAINED = ("index_megabytes", "training_seconds")
"""Costs of systems with a training and an index of their own; 0: not here."""
_TESTED = 2
"""Topics that a test needs at least."""


@dataclass(frozen=True)
class BenchmarkScores:
    """What the systems reached on one benchmark."""

    benchmark: Benchmark
    topics: tuple[str, ...]
    """All judged ones."""
    systems: Mapping[str, Mapping[str, FloatArray]]
    """Scores by row and measure, one per topic; NaN where a topic does not count."""
    floors: Mapping[str, float]
    """Means by measure."""
    ceilings: Mapping[str, float]
    costs: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """By row: ``milliseconds`` of a query and its ``machine``; of trained systems
    ``index_megabytes`` and ``training_seconds``."""
    notes: tuple[str, ...] = ()
    """What is odd about the runs."""
    facts: Mapping[str, Any] = field(default_factory=dict)
    """Where the runs came from."""

    @classmethod
    def of_runs(
        cls,
        benchmark: Benchmark,
        qrels: Qrels,
        runs: Iterable[Run],
        known: Collection[str] | None = None,
        num_candidates: int | None = None,
    ) -> BenchmarkScores:
        """Score runs, each under the name of its row.

        Args:
            benchmark: how to score.
            qrels: of its topics.
            runs: their documents are those that the qrels judge.
            known: judged documents that are in the collection; all where absent.
            num_candidates: documents of the collection, where that is known.

        Raises:
            MissingInputError: there is no run.
            ConfigurationError: two runs have the same row.
        """
        protocol = benchmark.make_protocol()
        scored: dict[str, Evaluation] = {}
        notes: dict[str, list[str]] = {}
        for run in runs:
            lists = {t: run.lists[t] for t in qrels.grades if t in run.lists}
            row = benchmark.name_row(run.name)
            if row in scored:
                raise ConfigurationError(
                    f"Expected one run for the row {row!r} of {benchmark.name!r} (got "
                    f"two, one of them {run.name!r}); change 'rows' of the suite"
                )
            scored[row] = evaluate_run(
                replace(run, lists=lists),
                qrels,
                protocol,
                num_documents=num_candidates,
            )
            for finding in scored[row].findings:
                if finding.level == "warning":
                    notes.setdefault(finding.message, []).append(row)
        if not scored:
            raise MissingInputError(f"No run to score on {benchmark.name!r}")
        first = next(iter(scored.values()))
        names = [measure.name for measure in protocol.measures]
        counted = {name: first.counted[:, i] for i, name in enumerate(names)}
        ceilings = _find_ceilings(protocol, qrels, known)
        return cls(
            benchmark,
            first.topics,
            {
                row: {n: np.where(counted[n], e.column(n), np.nan) for n in names}
                for row, e in scored.items()
            },
            {n: _mean(first.floors[:, i], counted[n]) for i, n in enumerate(names)},
            {n: _mean(ceilings[:, i], counted[n]) for i, n in enumerate(names)},
            notes=(
                *_check_number(benchmark, counted),
                *(f"{', '.join(rows)}: {text}." for text, rows in notes.items()),
            ),
        )

    def with_costs(self, efficiency: Mapping[str, Any]) -> BenchmarkScores:
        """Add what the file ``efficiency.json`` of an evaluation tells."""
        costs = Costs(efficiency, self.benchmark.task)
        found: dict[str, dict[str, Any]] = {}
        for system in costs.systems:
            figures, machines = costs.figures(system), costs.machines(system)
            own: dict[str, Any] = {"machine": machines["QPS"].name}
            own["milliseconds"] = 1000 / figures["QPS"]
            if strategy_of(system) is not None or costs.is_other_paper(system):
                own |= {k: figures[k] for k in _OF_TRAINED if figures.get(k)}
            found[self.benchmark.name_row(system)] = own
        return replace(
            self, costs={r: c for r, c in found.items() if r in self.systems}
        )

    def choose(self, patterns: Sequence[str]) -> BenchmarkScores:
        """Keep the rows that a pattern names, and the reference; all without patterns.

        Raises:
            MissingInputError: no row has such a name.
        """
        kept = [
            row
            for row in self.systems
            if not patterns or any(fnmatchcase(row, p) for p in patterns)
        ]
        if not kept:
            raise MissingInputError(
                f"No system {', '.join(patterns)!r} on {self.benchmark.name!r}; known: "
                f"{', '.join(self.systems)}"
            )
        rows = {r: s for r, s in self.systems.items() if r in {*kept, self.reference}}
        return replace(self, systems=rows)

    @property
    def reference(self) -> str | None:
        """The row that all others are compared with."""
        first = self.measures[0]
        means = {row: self.mean(row, first) for row in self.systems}
        return self.benchmark.choose_reference(means)

    @property
    def timed(self) -> list[str]:
        """Rows whose searches were timed."""
        return [
            row for row in self.systems if "milliseconds" in self.costs.get(row, {})
        ]

    @property
    def measures(self) -> tuple[str, ...]:
        """Their names, as shown."""
        return tuple(self.floors)

    @property
    def num_topics(self) -> int:
        """Topics that count in the first measure."""
        scores = next(iter(self.systems.values()))[self.measures[0]]
        return int(np.count_nonzero(~np.isnan(scores)))

    def values(self, row: str, measure: str) -> FloatArray:
        """Return the scores of the topics that count."""
        scores = self.systems[row][measure]
        return scores[~np.isnan(scores)]

    def mean(self, row: str, measure: str) -> float:
        """Return the mean over the topics that count; 0 where there is none."""
        found = self.values(row, measure)
        return float(found.mean()) if found.size else 0.0

    def compare(self, config: TestConfig) -> tuple[Table, list[Comparison]]:
        """Test every row against the reference on the headline measures.

        Returns:
            A plain table with its notes, and the tests; none for fewer than two topics.
        """
        headline = self.benchmark.headline
        layout = Layout(
            self.benchmark.title,
            ("System",),
            {row: (row,) for row in self.systems},
            tuple(Column(m, m) for m in headline),
            baseline=self.reference if self.num_topics >= _TESTED else None,
            select_by=headline[0],
        )
        results = {
            row: [SeedResult(0, {m: self.values(row, m) for m in headline})]
            for row in self.systems
        }
        return best_seed_table(layout, results, config)

    def list_cells(self, tests: Iterable[Comparison]) -> list[dict[str, Any]]:
        """Return a record for each row and measure, floor and ceiling among them."""
        found = {(t.condition, t.measure): t for t in tests}
        head = {
            "benchmark": self.benchmark.name,
            "title": self.benchmark.title,
            "topics": self.num_topics,
        }
        means = {r: {m: self.mean(r, m) for m in self.measures} for r in self.systems}
        cells = []
        for kind, row, by_measure in (
            *(("system", row, by_measure) for row, by_measure in means.items()),
            ("floor", "floor", self.floors),
            ("ceiling", "ceiling", self.ceilings),
        ):
            is_system = kind == "system"
            for measure, mean in by_measure.items():
                test = found.get((row, measure)) if is_system else None
                cells.append(
                    head
                    | {"row": row, "kind": kind, "measure": measure, "mean": mean}
                    | {"reference": is_system and row == self.reference}
                    | {"headline": measure in self.benchmark.headline}
                    | (_describe_test(test) if test is not None else {})
                    | (dict(self.costs.get(row, {})) if is_system else {})
                )
        return cells


def _describe_test(test: Comparison) -> dict[str, Any]:
    names = (
        "difference", "p_t", "p_randomisation", "p_bonferroni", "p_holm", "wins",
        "ties", "losses", "significant",
    )  # fmt: skip
    low, high = test.interval
    known = test._asdict()
    return {n: known[n] for n in names} | {"interval_low": low, "interval_high": high}


def _find_ceilings(
    protocol: Protocol, qrels: Qrels, known: Collection[str] | None
) -> FloatArray:
    """Return the best possible scores, shape (topics, measures)."""
    ceilings = np.zeros((len(qrels.grades), len(protocol.measures)))
    for place, by_id in enumerate(qrels.grades.values()):
        judged = np.array(list(by_id.values()), dtype=np.int64)
        here = [g for i, g in by_id.items() if known is None or i in known]
        ideal = np.sort(np.array(here, dtype=np.int64))[::-1][: protocol.depth]
        ceilings[place] = [m.score(ideal, judged) for m in protocol.measures]
    return ceilings


def _mean(values: FloatArray, counted: BoolArray) -> float:
    return float(values[counted].mean()) if counted.any() else 0.0


def _check_number(benchmark: Benchmark, counted: Mapping[str, BoolArray]) -> list[str]:
    number = int(next(iter(counted.values())).sum())
    if benchmark.queries in (0, number):
        return []
    return [
        f"Expected {benchmark.queries:,} queries that count (got {number:,}): these "
        "are not the topics or judgments that the suite describes."
    ]
