"""Outcomes: of an experiment's cells, or of one evaluation."""

from __future__ import annotations

import importlib.metadata
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from mathamr_kedro.amr import describe_parser
from mathamr_kedro.evaluation.stats import PaperTable, SeedResult, TestConfig
from mathamr_kedro.experiments.cells import FinishedCell, TopicScores
from mathamr_kedro.experiments.costs import Costs
from mathamr_kedro.experiments.grid import list_settings
from mathamr_kedro.experiments.reports import Report
from mathamr_kedro.experiments.results import (
    GridResults,
    ShownRun,
    choose_topic_set,
    strategy_of,
)

logger = logging.getLogger(__name__)

SYSTEMS = "systems"
"""Name of the comparison of systems, if there is no experiment."""


@dataclass(frozen=True)
class Outcome:
    """Results with their tables and tests."""

    name: str
    title: str
    results: Mapping[str, Sequence[SeedResult]]
    report: Report
    baseline: str
    measure: str
    """The one that plots show."""
    facts: Mapping[str, Any]
    notes: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()
    """Of the scores by topic, in their order."""
    grid: GridResults | None = None
    shown: tuple[ShownRun, ...] = ()
    """Runs whose results are shown as examples."""

    def describe(self) -> dict[str, Any]:
        """Return what a version of the result holds, as plain values."""
        grid, tests = self.grid, self.report.tests
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
                for table, found in tests.items()
            },
            "tables": {
                name: table.to_markdown() for name, table in self.report.tables.items()
            },
        }


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
    newest = grid.finished[-1][1]
    parsers = _name_parsers([done for _, done in grid.finished])
    report = Report.of_experiment(experiment, results, settings)
    report.add_papers(papers, results, settings)
    return Outcome(
        name=experiment.name,
        title=f"Experiment {experiment.name}",
        results=results,
        report=report.add_note(parsers),
        baseline=experiment.baseline,
        measure=experiment.measures[0],
        facts={
            **describe_cell(newest, chosen),
            "settings": _describe_settings(
                {cell.condition: done for cell, done in grid.finished}
            ),
        },
        notes=(*notes, parsers),
        topics=_list_topics(newest.read_topic_scores(experiment.task, chosen)),
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
    if not scores:
        logger.warning("nothing to compare: no topic of the collection has judgments")
        return Outcome(
            name=SYSTEMS,
            title="Systems compared",
            results={},
            report=Report({}, {}),
            baseline="",
            measure="nDCG'",
            facts=describe_cell(cell, ""),
            notes=(
                "No topic has judgments, so there is nothing to compare.",
                _name_parsers([cell]),
            ),
        )
    tables = Report.of_evaluation(cell, scores, settings, published)
    for task in {paper.task for paper in papers.values()} & {t for t, _ in scores}:
        names = [name for found, name in scores if found == task]
        chosen = scores[task, choose_topic_set(names, topic_set)]
        asked = {name: paper for name, paper in papers.items() if paper.task == task}
        tables.add_papers(asked, _read_results(cell, task, chosen), settings)
    (task, shown_set), systems = _choose_shown(scores)
    costs = cell.costs(task)
    results = {
        name: [SeedResult(cell.record.seed, values, _take_qps(costs, name))]
        for name, (_, values) in systems.items()
    }
    ours = [name for name in results if strategy_of(name) is not None]
    return Outcome(
        name=SYSTEMS,
        title="Systems compared",
        results=results,
        report=tables.add_note(_name_parsers([cell])),
        baseline=(ours or list(results))[0],
        measure=next(iter(next(iter(results.values()))[0].per_topic)),
        facts=describe_cell(cell, shown_set),
        shown=tuple(
            ShownRun(name, cell, name)
            for name in dict.fromkeys(s for by_name in scores.values() for s in by_name)
        ),
        notes=(_name_parsers([cell]),),
        topics=_list_topics(systems),
    )


def _list_topics(scores: Mapping[str, TopicScores]) -> tuple[str, ...]:
    return next(iter(scores.values()))[0]


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


def _choose_shown(
    scores: Mapping[tuple[int, str], Mapping[str, TopicScores]],
) -> tuple[tuple[int, str], Mapping[str, TopicScores]]:
    task = min((task for task, _ in scores), default=1)
    names = [name for found, name in scores if found == task]
    key = (task, choose_topic_set(names, None))
    return key, scores[key]


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


def _take_qps(costs: Costs, system: str) -> dict[str, float]:
    return {k: v for k, v in costs.figures(system).items() if k == "QPS"}
