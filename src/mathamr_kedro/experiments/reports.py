"""The tables of an experiment, in the form of the thesis, with their tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from mathamr_kedro.evaluation.stats import (
    EFFECTIVENESS,
    LAYOUTS,
    Column,
    Comparison,
    Figure,
    Layout,
    PaperTable,
    Row,
    SeedResult,
    Table,
    TestConfig,
    benchmark_table,
    best_seed_table,
    efficiency_table,
    mean_table,
)
from mathamr_kedro.experiments.cells import FinishedCell, TopicScores
from mathamr_kedro.experiments.grid import Experiment
from mathamr_kedro.experiments.results import strategy_of

Results = Mapping[str, Sequence[SeedResult]]

_PUBLISHED_ON = "ARQMath-3"
"""Topic set of the published systems in Tables 4.19 and 4.21."""


class Report(NamedTuple):
    """Tables by name, and the tests behind their asterisks."""

    tables: dict[str, Table]
    tests: dict[str, list[Comparison]]

    @classmethod
    def of_experiment(
        cls, experiment: Experiment, results: Results, settings: TestConfig
    ) -> Report:
        """Return the tables of an experiment: the thesis' ones, or three plain ones.

        A best-seed table carries asterisks. One of means never does (thesis 4.2), but
        if it is the only one, the tests on the best seeds are made and reported too.
        """
        layouts = {f"table_{number}": LAYOUTS[number] for number in experiment.tables}
        layouts = layouts or _plain_layouts(experiment)
        report = cls({}, {})
        for name, layout in layouts.items():
            shown = {row: results[row] for row in layout.rows if row in results}
            if layout.baseline is not None and "±" not in layout.title:
                table, tests = best_seed_table(layout, shown, settings)
                report.tables[name], report.tests[name] = table, tests
            else:
                report.tables[name] = mean_table(layout, shown)
        if not report.tests:
            layout = _plain_layouts(experiment)["best_seed"]
            table, tests = best_seed_table(layout, results, settings)
            report.tables["best_seed"], report.tests["best_seed"] = table, tests
        return report

    def add_papers(
        self, papers: Mapping[str, PaperTable], results: Results, settings: TestConfig
    ) -> None:
        """Add the tables of other papers that have a figure of ours.

        Args:
            papers: their tables by name, e.g. ``003.2``.
            results: over seeds, by condition or system.
            settings: how to test.
        """
        for name, paper in papers.items():
            filled = paper.fill(results, settings)
            if filled is not None:
                self.tables[f"paper_{name}"], tests = filled
                self.tests.update({f"paper_{name}": tests} if tests else {})

    def add_note(self, note: str) -> Report:
        """Return the same with one more line below each table."""
        tables = {
            name: replace(table, notes=(*table.notes, note))
            for name, table in self.tables.items()
        }
        return self._replace(tables=tables)

    @classmethod
    def of_evaluation(
        cls,
        cell: FinishedCell,
        scores: Mapping[tuple[int, str], Mapping[str, TopicScores]],
        settings: TestConfig,
        published: bool = False,
    ) -> Report:
        """Return the tables of one evaluation: our systems beside the baselines.

        Args:
            cell: the evaluation.
            scores: its per-topic scores by task and topic set.
            settings: how to test.
            published: add what others published on ARQMath-3 (Tables 4.19 and 4.21),
                if these are the topics.
        """
        report = cls({}, {})
        for (task, topic_set), systems in scores.items():
            name = f"task{task}_{topic_set}"
            table, tests = _compare_systems(task, topic_set, systems, settings)
            bounds = _bound_rows(task, topic_set, cell.metrics, table.columns)
            report.tables[name] = replace(table, rows=(*table.rows, *bounds))
            report.tests[name] = tests
            if published and topic_set == _PUBLISHED_ON:
                number = {1: "table_4.19", 2: "table_4.21"}[task]
                ours = {s: _means(v) for s, (_, v) in systems.items()}
                report.tables[number] = benchmark_table(str(task), ours)
        for number, task in (("4.20", 1), ("4.22", 2)):
            if any(found == task for found, _ in scores):
                report.tables[f"table_{number}"] = _tell_costs(cell, task, number)
        return report


def _plain_layouts(experiment: Experiment) -> dict[str, Layout]:
    rows = {name: (name,) for name in experiment.row_names}
    measures = tuple(Column(name, name) for name in experiment.measures)
    title, kind = experiment.name, ("Condition",)
    efficiency = tuple(
        Column(key, text, decimals=1)
        for key, text in (
            ("seconds_per_epoch", "Time/Epoch (s)"),
            ("memory_gigabytes", "{device} Mem (GB)"),
            ("index_megabytes", "Index Size (MB)"),
            ("QPS", "QPS"),
        )
    )
    first = experiment.measures[0]
    return {
        "best_seed": Layout(
            f"{title}: best seed", kind, rows, measures, experiment.baseline, first
        ),
        "mean": Layout(f"{title}: mean ± std over seeds", kind, rows, measures),
        "efficiency": Layout(
            f"{title}: efficiency, mean ± std", kind, rows, efficiency
        ),
    }


def _compare_systems(
    task: int,
    topic_set: str,
    systems: Mapping[str, TopicScores],
    settings: TestConfig,
) -> tuple[Table, list[Comparison]]:
    names = sorted(systems, key=lambda name: strategy_of(name) is None)
    first = systems[names[0]]
    known = [column for column in EFFECTIVENESS if column.key in first[1]]
    columns = tuple(known) or tuple(Column(name, name) for name in first[1])
    layout = Layout(
        f"Task {task}, {topic_set}, {len(first[0])} topics",
        ("System",),
        {name: (name,) for name in names},
        columns,
        baseline=names[0],
        select_by=columns[0].key,
    )
    results = {name: [SeedResult(0, systems[name][1])] for name in names}
    return best_seed_table(layout, results, settings)


def _bound_rows(
    task: int,
    topic_set: str,
    metrics: Sequence[Mapping[str, Any]],
    columns: Sequence[Column],
) -> list[Row]:
    found = {
        m["measure"]: m
        for m in metrics
        if (m["task"], m["topic_set"]) == (task, topic_set)
    }
    rows = []
    for key, label in (("floor", "random order"), ("ceiling", "ideal order")):
        figures = [found.get(c.key, {}).get(key) for c in columns]
        cells = tuple(None if value is None else Figure(value) for value in figures)
        if any(cell is not None for cell in cells):
            rows.append(Row((f"({label})",), cells))
    return rows


def _means(values: Mapping[str, Any]) -> dict[str, float]:
    return {name: float(found.mean()) for name, found in values.items() if found.size}


def _tell_costs(cell: FinishedCell, task: int, number: str) -> Table:
    """Return Table 4.20 or 4.22 of our first system."""
    costs = cell.costs(task)
    own = next((s for s in costs.systems if strategy_of(s) is not None), None)
    machine = costs.machines(own)["memory_gigabytes"]
    notes = tuple(costs.describe(own))
    return efficiency_table(number, costs.figures(own), machine.device, notes)
