"""Outcomes of an experiment's cells, or of one evaluation: tables, tests, facts."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from types import MappingProxyType
from typing import Any

from mathamr_kedro.amr import describe_parser
from mathamr_kedro.evaluation.stats import TestConfig
from mathamr_kedro.evaluation.tables import (
    LAYOUTS,
    Outcome,
    PaperTable,
    Results,
    ScoredSet,
    SeedResult,
    Table,
)
from mathamr_kedro.evaluation.tables.comparison import compare_systems, plain_layouts
from mathamr_kedro.evaluation.tables.scores import tabulate
from mathamr_kedro.evaluation.tables.thesis import benchmark_table, efficiency_table
from mathamr_kedro.experiments.cells import FinishedCell
from mathamr_kedro.experiments.grid import Experiment, list_settings
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

_Papers = Mapping[str, PaperTable]


def summarise_experiment(
    grid: GridResults,
    settings: TestConfig,
    topic_set: str | None,
    papers: _Papers = MappingProxyType({}),
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
    tables = _tabulate_experiment(experiment, results, settings)
    tables |= _fill_papers(papers, results, settings)
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
        baseline=experiment.baseline,
        measure=experiment.measures[0],
        notes=(*notes, parsers),
        topics=cells[-1].read_scores(experiment.task, chosen).topics,
        cells=list(_describe_cells(grid)),
        missing=[cell.name for cell in grid.missing],
        shown=grid.choose_shown(results),
    )


def _tabulate_experiment(
    experiment: Experiment, results: Results, settings: TestConfig
) -> dict[str, Table]:
    """Return the tables of an experiment: the thesis' ones, or three plain ones.

    If no table has tests, those on the best seeds are made and reported too.
    """
    plain = plain_layouts(
        experiment.name, experiment.row_names, experiment.measures, experiment.baseline
    )
    chosen = {f"table_{number}": LAYOUTS[number] for number in experiment.tables}
    found = {
        n: tabulate(own, results, settings) for n, own in (chosen or plain).items()
    }
    if all(table.tests is None for table in found.values()):
        found["best_seed"] = tabulate(plain["best_seed"], results, settings)
    return found


def summarise_evaluation(
    cell: FinishedCell,
    settings: TestConfig,
    published: bool,
    topic_set: str | None = None,
    papers: _Papers = MappingProxyType({}),
) -> Outcome:
    """Return the outcome of one evaluation: its systems against one another.

    Args:
        cell: the evaluation.
        settings: how to test.
        published: add what others published on ARQMath-3 (Tables 4.19 and 4.21).
        topic_set: of the tables of other papers; ``None``: the last official one.
        papers: their tables.
    """
    sets = [
        cell.read_scores(task, name)
        for task in (1, 2)
        for name in cell.list_topic_sets(task)
    ]
    parsers = _name_parsers([cell])
    if not sets:
        logger.warning("nothing to compare: no topic of the collection has judgments")
        reason = "No topic has judgments, so there is nothing to compare."
        facts = describe_cell(cell, "")
        return Outcome(SYSTEMS, _TITLE, facts, notes=(reason, parsers))
    tables = _tabulate_evaluation(cell, sets, settings, published)
    for task in dict.fromkeys(scored.task for scored in sets):
        asked = {name: paper for name, paper in papers.items() if paper.task == task}
        scored = _add_parts(_choose_set(sets, task, topic_set), sets)
        found = _list_parts(cell) | scored.results
        tables |= _fill_papers(asked, found, settings)
    shown = _choose_set(sets, sets[0].task, None)
    first = min(shown.systems, key=_is_rival)
    return Outcome(
        name=SYSTEMS,
        title=_TITLE,
        facts=describe_cell(cell, shown.name),
        results={name: [_keep_times(own)] for name, own in shown.systems.items()},
        tables=_add_note(tables, parsers),
        baseline=first,
        measure=next(iter(shown.systems[first].per_topic)),
        notes=(parsers,),
        topics=shown.topics,
        shown=tuple(
            ShownRun(name, cell, name)
            for name in dict.fromkeys(chain(*(scored.systems for scored in sets)))
        ),
    )


def _tabulate_evaluation(
    cell: FinishedCell,
    sets: Sequence[ScoredSet],
    settings: TestConfig,
    published: bool,
) -> dict[str, Table]:
    """Return the tables of one evaluation: our systems beside the baselines.

    ``published`` adds what others published on ARQMath-3 (Tables 4.19 and 4.21),
    if these are the topics.
    """
    tables: dict[str, Table] = {}
    for scored in sets:
        ordered = {n: scored.systems[n] for n in sorted(scored.systems, key=_is_rival)}
        compared = compare_systems(replace(scored, systems=ordered), settings)
        name = scored.name.replace("/", "_")
        tables[f"task{scored.task}_{name}"] = compared
        if published and scored.name == _PUBLISHED_ON:
            number = _PUBLISHED[scored.task]
            tables[f"table_{number}"] = benchmark_table(number, scored.systems)
    for task in dict.fromkeys(scored.task for scored in sets):
        number, costs = _EFFICIENCY[task], cell.costs(task)
        own = next((name for name in costs.systems if not _is_rival(name)), None)
        device = costs.machines(own)["memory_gigabytes"].device
        tables[f"table_{number}"] = efficiency_table(
            number, costs.figures(own), device, tuple(costs.describe(own))
        )
    return tables


def _is_rival(system: str) -> bool:
    """Return whether a system is none of ours."""
    return strategy_of(system) is None


def _keep_times(result: SeedResult) -> SeedResult:
    """Return the result with no other cost than its throughput."""
    times = {name: v for name, v in result.figures.items() if name == "QPS"}
    return replace(result, figures=times, machines={})


def _fill_papers(
    papers: _Papers, results: Results, settings: TestConfig
) -> dict[str, Table]:
    """Return the tables of other papers (``003.2``) that have a figure of ours."""
    found = {f"paper_{n}": paper.fill(results, settings) for n, paper in papers.items()}
    return {name: table for name, table in found.items() if table is not None}


def _list_parts(cell: FinishedCell) -> dict[str, Sequence[SeedResult]]:
    """Return the costs of each part of a system that is trained in parts."""
    return {
        f"{name} {part}": [SeedResult(cell.record.seed, {}, figures)]
        for name, found in cell.efficiency.get("systems", {}).items()
        for part, figures in found.get("parts", {}).items()
    }


def _choose_set(sets: Sequence[ScoredSet], task: int, wanted: str | None) -> ScoredSet:
    own = {scored.name: scored for scored in sets if scored.task == task}
    return own[choose_topic_set(list(own), wanted)]


def _add_parts(scored: ScoredSet, sets: Sequence[ScoredSet]) -> ScoredSet:
    """Return a topic set with the scores on its parts, as ``"part: measure"``."""
    systems = dict(scored.systems)
    for part in sets:
        name = part.name.removeprefix(f"{scored.name}/")
        if part.task == scored.task and name != part.name:
            for system, own in part.systems.items():
                more = {f"{name}: {m}": values for m, values in own.per_topic.items()}
                known = systems[system]
                per_topic = {**known.per_topic, **more}
                systems[system] = replace(known, per_topic=per_topic)
    return replace(scored, systems=systems)


def _add_note(tables: Mapping[str, Table], note: str) -> dict[str, Table]:
    """Return the tables with one more line below each."""
    return {n: replace(t, notes=(*t.notes, note)) for n, t in tables.items()}


def _name_parsers(cells: Sequence[FinishedCell]) -> str:
    """Return which parser made the graphs; all of them, should there be several."""
    lines = dict.fromkeys(describe_parser(cell.record.amr_parser) for cell in cells)
    return " ".join(lines)


def _describe_cells(grid: GridResults) -> Iterator[dict[str, Any]]:
    for cell, done in grid.finished:
        yield {
            "condition": cell.condition,
            "seed": cell.seed,
            "folder": done.folder.name,
            "encoder": done.record.encoder.get("folder", ""),
            "finished": done.record.finished,
            "versions": dict(done.record.versions),
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
