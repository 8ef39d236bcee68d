"""Outcomes of an experiment's cells, or of one evaluation: tables, tests, facts."""

from __future__ import annotations

import importlib.metadata
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from mathamr_kedro.amr import describe_parser
from mathamr_kedro.evaluation.stats import Comparison, TestConfig
from mathamr_kedro.evaluation.tables import (
    EFFECTIVENESS,
    LAYOUTS,
    Column,
    Figure,
    Layout,
    PaperTable,
    Row,
    SeedResult,
    Table,
    benchmark_table,
    best_seed_table,
    efficiency_table,
    mean_table,
)
from mathamr_kedro.experiments.cells import FinishedCell, TopicScores
from mathamr_kedro.experiments.grid import Experiment, list_settings
from mathamr_kedro.experiments.results import (
    GridResults,
    ShownRun,
    choose_topic_set,
    strategy_of,
)

logger = logging.getLogger(__name__)

Results = Mapping[str, Sequence[SeedResult]]

_PUBLISHED_ON = "ARQMath-3"
"""Topic set of the published systems in Tables 4.19 and 4.21."""
SYSTEMS = "systems"
"""Name of the comparison of systems, if there is no experiment."""
_TITLE = "Systems compared"


Tables = dict[str, Table]
Tests = dict[str, list[Comparison]]
"""Tests by table: what is behind its asterisks."""


@dataclass(frozen=True)
class Outcome:
    """Results with their tables and tests."""

    name: str
    title: str
    facts: Mapping[str, Any]
    results: Results = field(default_factory=dict)
    tables: Mapping[str, Table] = field(default_factory=dict)
    tests: Mapping[str, Sequence[Comparison]] = field(default_factory=dict)
    baseline: str = ""
    measure: str = "nDCG'"
    """The one that plots show."""
    notes: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()
    """Of the scores by topic, in their order."""
    grid: GridResults | None = None
    shown: tuple[ShownRun, ...] = ()
    """Runs whose results are shown as examples."""

    def describe(self) -> dict[str, Any]:
        """Return what a version of the result holds, as plain values."""
        grid = self.grid
        return {
            "experiment": self.name,
            **self.facts,
            "package_version": importlib.metadata.version("mathamr-kedro"),
            "cells": _describe_cells(grid) if grid else [],
            "missing": [cell.name for cell in grid.missing] if grid else [],
            "topics": list(self.topics),
            "rows": {
                row: [_describe_seed(result) for result in found]
                for row, found in self.results.items()
            },
            "tests": {
                table: [{**t._asdict(), "interval": list(t.interval)} for t in found]
                for table, found in self.tests.items()
            },
            "tables": {name: t.to_markdown() for name, t in self.tables.items()},
        }


def _tabulate_experiment(
    experiment: Experiment, results: Results, settings: TestConfig
) -> tuple[Tables, Tests]:
    """Return the tables of an experiment: the thesis' ones, or three plain ones.

    A best-seed table carries asterisks. One of means never does (thesis 4.2), but if it
    is the only one, the tests on the best seeds are made and reported too.
    """
    plain = _plain_layouts(experiment)
    layouts = {f"table_{number}": LAYOUTS[number] for number in experiment.tables}
    tables: Tables = {}
    tests: Tests = {}
    for name, layout in (layouts or plain).items():
        shown = {row: results[row] for row in layout.rows if row in results}
        if layout.baseline is not None and "±" not in layout.title:
            tables[name], tests[name] = best_seed_table(layout, shown, settings)
        else:
            tables[name] = mean_table(layout, shown)
    if not tests:
        best = best_seed_table(plain["best_seed"], results, settings)
        tables["best_seed"], tests["best_seed"] = best
    return tables, tests


def _tabulate_evaluation(
    cell: FinishedCell,
    scores: Mapping[tuple[int, str], Mapping[str, TopicScores]],
    settings: TestConfig,
    published: bool,
) -> tuple[Tables, Tests]:
    """Return the tables of one evaluation: our systems beside the baselines.

    ``published`` adds what others published on ARQMath-3 (Tables 4.19 and 4.21),
    if these are the topics.
    """
    tables: Tables = {}
    tests: Tests = {}
    for (task, topic_set), systems in scores.items():
        name = f"task{task}_{topic_set}"
        table, tests[name] = _compare_systems(task, topic_set, systems, settings)
        bounds = _bound_rows(cell.read_metrics(task, topic_set), table.columns)
        tables[name] = replace(table, rows=(*table.rows, *bounds))
        if published and topic_set == _PUBLISHED_ON:
            ours = {
                system: {m: float(v.mean()) for m, v in values.items() if v.size}
                for system, (_, values) in systems.items()
            }
            number = {1: "table_4.19", 2: "table_4.21"}[task]
            tables[number] = benchmark_table(str(task), ours)
    for number, task in (("4.20", 1), ("4.22", 2)):
        if any(found == task for found, _ in scores):
            tables[f"table_{number}"] = _tell_costs(cell, task, number)
    return tables, tests


def _add_papers(
    tables: Tables,
    tests: Tests,
    papers: Mapping[str, PaperTable],
    results: Results,
    settings: TestConfig,
) -> None:
    """Add the tables of other papers (``003.2``) that have a figure of ours."""
    for name, paper in papers.items():
        filled = paper.fill(results, settings)
        if filled is not None:
            tables[f"paper_{name}"], found = filled
            tests.update({f"paper_{name}": found} if found else {})


def _add_note(tables: Tables, note: str) -> Tables:
    """Return the tables with one more line below each."""
    return {n: replace(t, notes=(*t.notes, note)) for n, t in tables.items()}


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
    metrics: Mapping[str, Mapping[str, Any]], columns: Sequence[Column]
) -> list[Row]:
    """Return floor and ceiling of the measures that have them."""
    rows = []
    for key, label in (("floor", "random order"), ("ceiling", "ideal order")):
        cells = [
            Figure(metrics[c.key][key]) if c.key in metrics else None for c in columns
        ]
        if any(cells):
            rows.append(Row((f"({label})",), tuple(cells)))
    return rows


def _tell_costs(cell: FinishedCell, task: int, number: str) -> Table:
    """Return Table 4.20 or 4.22 of our first system."""
    costs = cell.costs(task)
    own = next((s for s in costs.systems if strategy_of(s) is not None), None)
    machine = costs.machines(own)["memory_gigabytes"]
    notes = tuple(costs.describe(own))
    return efficiency_table(number, costs.figures(own), machine.device, notes)


def summarise_experiment(
    grid: GridResults,
    settings: TestConfig,
    topic_set: str | None,
    papers: Mapping[str, PaperTable] = MappingProxyType({}),
) -> Outcome:
    """Return the outcome of an experiment's finished cells."""
    experiment = grid.experiment
    chosen = choose_topic_set(grid.topic_sets, topic_set)
    results = grid.gather(chosen)
    seeds = sorted({cell.seed for cell, _ in grid.finished})
    total = len(grid.finished) + len(grid.missing)
    notes = [
        f"Task {experiment.task}, topic set {chosen}; seeds "
        f"{', '.join(map(str, seeds))}; {len(grid.finished)} of {total} cells.",
    ]
    if grid.missing:
        notes.append(f"Not finished: {grid.describe_missing()}.")
    cells = [done for _, done in grid.finished]
    parsers = _name_parsers(cells)
    tables, tests = _tabulate_experiment(experiment, results, settings)
    _add_papers(tables, tests, papers, results, settings)
    scored = cells[-1].read_topic_scores(experiment.task, chosen)
    by_condition = {cell.condition: done for cell, done in grid.finished}
    return Outcome(
        name=experiment.name,
        title=f"Experiment {experiment.name}",
        facts={
            **describe_cell(cells[-1], chosen),
            "settings": _describe_settings(by_condition),
        },
        results=results,
        tables=_add_note(tables, parsers),
        tests=tests,
        baseline=experiment.baseline,
        measure=experiment.measures[0],
        notes=(*notes, parsers),
        topics=next(iter(scored.values()))[0],
        grid=grid,
        shown=grid.choose_shown(chosen),
    )


def summarise_evaluation(
    cell: FinishedCell,
    settings: TestConfig,
    published: bool,
    topic_set: str | None = None,
    papers: Mapping[str, PaperTable] = MappingProxyType({}),
) -> Outcome:
    """Return the outcome of one evaluation: its systems against one another.

    Args:
        cell: the evaluation.
        settings: how to test.
        published: add what others published on ARQMath-3 (Tables 4.19 and 4.21).
        topic_set: of the tables of other papers; ``None``: the last official one.
        papers: their tables.
    """
    scores: dict[tuple[int, str], dict[str, TopicScores]] = {
        (task, name): cell.read_topic_scores(task, name)
        for task in (1, 2)
        for name in cell.list_topic_sets(task)
    }
    parsers = _name_parsers([cell])
    if not scores:
        logger.warning("nothing to compare: no topic of the collection has judgments")
        reason = "No topic has judgments, so there is nothing to compare."
        facts = describe_cell(cell, "")
        return Outcome(SYSTEMS, _TITLE, facts, notes=(reason, parsers))
    tables, tests = _tabulate_evaluation(cell, scores, settings, published)
    for task in {paper.task for paper in papers.values()} & {t for t, _ in scores}:
        chosen = scores[task, _choose_set(scores, task, topic_set)]
        asked = {name: paper for name, paper in papers.items() if paper.task == task}
        _add_papers(tables, tests, asked, _read_results(cell, task, chosen), settings)
    task = min(task for task, _ in scores)
    shown_set = _choose_set(scores, task, None)
    systems = scores[task, shown_set]
    costs = cell.costs(task)
    results = {}
    for name, (_, values) in systems.items():
        qps = {k: v for k, v in costs.figures(name).items() if k == "QPS"}
        results[name] = [SeedResult(cell.record.seed, values, qps)]
    ours = [name for name in results if strategy_of(name) is not None]
    topics, first = next(iter(systems.values()))
    return Outcome(
        name=SYSTEMS,
        title=_TITLE,
        facts=describe_cell(cell, shown_set),
        results=results,
        tables=_add_note(tables, parsers),
        tests=tests,
        baseline=(ours or list(results))[0],
        measure=next(iter(first)),
        notes=(parsers,),
        topics=topics,
        shown=tuple(
            ShownRun(name, cell, name)
            for name in dict.fromkeys(s for by_name in scores.values() for s in by_name)
        ),
    )


def _choose_set(
    scores: Mapping[tuple[int, str], Any], task: int, wanted: str | None
) -> str:
    return choose_topic_set([name for t, name in scores if t == task], wanted)


def _name_parsers(cells: Sequence[FinishedCell]) -> str:
    """Return which parser made the graphs; all of them, should there be several."""
    lines = dict.fromkeys(describe_parser(cell.record.amr_parser) for cell in cells)
    return " ".join(lines)


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


def _describe_settings(cells: Mapping[str, FinishedCell]) -> dict[str, Any]:
    """Return the settings of all conditions, then those of each that differ."""
    found = {name: list_settings(c.record.parameters) for name, c in cells.items()}
    first = next(iter(found.values()))
    shared = {
        key: value
        for key, value in first.items()
        if all(key in own and own[key] == value for own in found.values())
    }
    own = {
        name: {key: value for key, value in values.items() if key not in shared}
        for name, values in found.items()
    }
    return {"shared": shared, "conditions": own}


def _describe_seed(result: SeedResult) -> dict[str, Any]:
    return {
        "seed": result.seed,
        "scores": {name: values.tolist() for name, values in result.per_topic.items()},
        "means": {name: result.value(name) for name in result.per_topic},
        "figures": dict(result.figures),
        "machines": {name: m.name for name, m in result.machines.items()},
    }


def describe_cell(cell: FinishedCell, topic_set: str) -> dict[str, Any]:
    """Return the data, the settings and the software of an evaluation."""
    index = cell.efficiency.get("index", {})
    return {
        "collection": cell.record.collection,
        "topic_set": topic_set,
        "amr_parser": dict(cell.record.amr_parser),
        "posts": index.get("posts"),
        "versions": dict(cell.record.versions),
        "settings": _describe_settings({SYSTEMS: cell}),
    }


def _read_results(
    cell: FinishedCell, task: int, systems: Mapping[str, TopicScores]
) -> dict[str, list[SeedResult]]:
    """Return scores and costs of each system, and costs of parts of it."""
    costs, seed = cell.costs(task), cell.record.seed
    parts = {
        f"{name} {part}": [SeedResult(seed, {}, figures)]
        for name, found in cell.efficiency.get("systems", {}).items()
        for part, figures in found.get("parts", {}).items()
    }
    return parts | {
        name: [SeedResult(seed, values, costs.figures(name), costs.machines(name))]
        for name, (_, values) in systems.items()
    }
