"""Outcomes of an experiment's cells, or of one evaluation: tables, tests, facts."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from mathamr_kedro.amr import describe_parser
from mathamr_kedro.evaluation.stats import Comparison, TestConfig
from mathamr_kedro.evaluation.tables import (
    LAYOUTS,
    PaperTable,
    Results,
    ScoredSet,
    SeedResult,
    Table,
    Tables,
    Tests,
    benchmark_table,
    compare_systems,
    describe_results,
    efficiency_table,
    fill_papers,
    plain_layouts,
    tabulate,
)
from mathamr_kedro.experiments.cells import FinishedCell
from mathamr_kedro.experiments.grid import list_settings
from mathamr_kedro.experiments.results import (
    GridResults,
    ShownRun,
    choose_topic_set,
    strategy_of,
)

logger = logging.getLogger(__name__)

_PUBLISHED_ON = "ARQMath-3"
"""Topic set of the published systems in Tables 4.19 and 4.21."""
_PUBLISHED = {1: "4.19", 2: "4.21"}
_EFFICIENCY = {1: "4.20", 2: "4.22"}
"""Tables of the thesis by task."""
SYSTEMS = "systems"
"""Name of the comparison of systems, if there is no experiment."""
_TITLE = "Systems compared"

_Sets = Mapping[tuple[int, str], ScoredSet]
"""By task and topic set."""


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
        return describe_results(
            self.name,
            self.facts,
            self.results,
            self.topics,
            self.tests,
            self.tables,
            **(_describe_cells(self.grid) if self.grid else {}),
        )


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
    tables, tests = _tabulate_experiment(grid, results, settings)
    _add(tables, tests, fill_papers(papers, results, settings))
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
        topics=cells[-1].read_scores(experiment.task, chosen).topics,
        grid=grid,
        shown=grid.choose_shown(chosen),
    )


def _tabulate_experiment(
    grid: GridResults, results: Results, settings: TestConfig
) -> tuple[Tables, Tests]:
    """Return the tables of an experiment: the thesis' ones, or three plain ones.

    If no table has tests, those on the best seeds are made and reported too.
    """
    experiment = grid.experiment
    plain = plain_layouts(
        experiment.name, experiment.row_names, experiment.measures, experiment.baseline
    )
    layouts = {f"table_{number}": LAYOUTS[number] for number in experiment.tables}
    tables, tests = tabulate(layouts or plain, results, settings)
    if not tests:
        best = {"best_seed": plain["best_seed"]}
        _add(tables, tests, tabulate(best, results, settings))
    return tables, tests


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
    sets = {
        (task, name): cell.read_scores(task, name)
        for task in (1, 2)
        for name in cell.list_topic_sets(task)
    }
    parsers = _name_parsers([cell])
    if not sets:
        logger.warning("nothing to compare: no topic of the collection has judgments")
        reason = "No topic has judgments, so there is nothing to compare."
        facts = describe_cell(cell, "")
        return Outcome(SYSTEMS, _TITLE, facts, notes=(reason, parsers))
    tables, tests = _tabulate_evaluation(cell, sets, settings, published)
    for task in sorted(
        {paper.task for paper in papers.values()} & {t for t, _ in sets}
    ):
        asked = {name: paper for name, paper in papers.items() if paper.task == task}
        found = _list_parts(cell) | _as_results(_choose_set(sets, task, topic_set))
        _add(tables, tests, fill_papers(asked, found, settings))
    shown = _choose_set(sets, min(task for task, _ in sets), None)
    own = next((n for n in shown.systems if strategy_of(n) is not None), None)
    return Outcome(
        name=SYSTEMS,
        title=_TITLE,
        facts=describe_cell(cell, shown.name),
        results=_as_results(shown, ("QPS",)),
        tables=_add_note(tables, parsers),
        tests=tests,
        baseline=own or next(iter(shown.systems)),
        measure=next(iter(next(iter(shown.systems.values())).per_topic)),
        notes=(parsers,),
        topics=shown.topics,
        shown=tuple(
            ShownRun(name, cell, name)
            for name in dict.fromkeys(
                s for found in sets.values() for s in found.systems
            )
        ),
    )


def _tabulate_evaluation(
    cell: FinishedCell, sets: _Sets, settings: TestConfig, published: bool
) -> tuple[Tables, Tests]:
    """Return the tables of one evaluation: our systems beside the baselines.

    ``published`` adds what others published on ARQMath-3 (Tables 4.19 and 4.21),
    if these are the topics.
    """
    tables: Tables = {}
    tests: Tests = {}
    for (task, topic_set), scored in sets.items():
        name = f"task{task}_{topic_set}"
        ours_first = sorted(scored.systems, key=lambda name: strategy_of(name) is None)
        systems = {name: scored.systems[name] for name in ours_first}
        compared = replace(scored, systems=systems)
        tables[name], tests[name] = compare_systems(compared, settings)
        if published and topic_set == _PUBLISHED_ON:
            number = _PUBLISHED[task]
            tables[f"table_{number}"] = benchmark_table(number, scored.systems)
    for task, number in _EFFICIENCY.items():
        if any(found == task for found, _ in sets):
            tables[f"table_{number}"] = _tell_costs(cell, task, number)
    return tables, tests


def _tell_costs(cell: FinishedCell, task: int, number: str) -> Table:
    """Return Table 4.20 or 4.22 of our first system."""
    costs = cell.costs(task)
    own = next((s for s in costs.systems if strategy_of(s) is not None), None)
    machine = costs.machines(own)["memory_gigabytes"]
    notes = tuple(costs.describe(own))
    return efficiency_table(number, costs.figures(own), machine.device, notes)


def _as_results(
    scored: ScoredSet, figures: Sequence[str] | None = None
) -> dict[str, list[SeedResult]]:
    """Return the results of each system; ``figures``: only these costs of it."""
    if figures is None:
        return {name: [result] for name, result in scored.systems.items()}
    return {
        name: [
            replace(
                result,
                figures={k: v for k, v in result.figures.items() if k in figures},
                machines={},
            )
        ]
        for name, result in scored.systems.items()
    }


def _list_parts(cell: FinishedCell) -> dict[str, list[SeedResult]]:
    """Return the costs of each part of a system that is trained in parts."""
    return {
        f"{name} {part}": [SeedResult(cell.record.seed, {}, figures)]
        for name, found in cell.efficiency.get("systems", {}).items()
        for part, figures in found.get("parts", {}).items()
    }


def _choose_set(sets: _Sets, task: int, wanted: str | None) -> ScoredSet:
    names = [name for found, name in sets if found == task]
    return sets[task, choose_topic_set(names, wanted)]


def _add(tables: Tables, tests: Tests, found: tuple[Tables, Tests]) -> None:
    tables.update(found[0])
    tests.update(found[1])


def _add_note(tables: Tables, note: str) -> Tables:
    """Return the tables with one more line below each."""
    return {n: replace(t, notes=(*t.notes, note)) for n, t in tables.items()}


def _name_parsers(cells: Sequence[FinishedCell]) -> str:
    """Return which parser made the graphs; all of them, should there be several."""
    lines = dict.fromkeys(describe_parser(cell.record.amr_parser) for cell in cells)
    return " ".join(lines)


def _describe_cells(grid: GridResults) -> dict[str, list[Any]]:
    return {
        "cells": [
            {
                "condition": cell.condition,
                "seed": cell.seed,
                "folder": done.folder.name,
                "encoder": done.record.encoder.get("folder", ""),
                "finished": done.record.finished,
                "versions": dict(done.record.versions),
            }
            for cell, done in grid.finished
        ],
        "missing": [cell.name for cell in grid.missing],
    }


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
