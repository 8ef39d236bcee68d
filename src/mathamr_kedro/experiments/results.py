"""From finished cells to the results that tables are made of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from mathamr_kedro.errors import InputError, MissingInputError
from mathamr_kedro.experiments.cells import CellStore, FinishedCell
from mathamr_kedro.experiments.definition import Experiment
from mathamr_kedro.experiments.grid import Cell, list_cells
from mathamr_kedro.stats import FloatArray, SeedResult

SYSTEM = "mathamr_plus"
"""The trained system; with several strategies, ``mathamr_plus/<strategy>``."""


@dataclass(frozen=True)
class GridResults:
    """The finished cells of an experiment on one collection."""

    experiment: Experiment
    collection: str
    finished: tuple[tuple[Cell, FinishedCell], ...]
    missing: tuple[Cell, ...]

    @property
    def topic_sets(self) -> list[str]:
        """Topic sets of the experiment's task, in order."""
        task = self.experiment.task
        return list_topic_sets(self.finished[0][1].scores, task)


def find_results(
    experiment: Experiment, parameters: Mapping[str, Any], store: CellStore
) -> GridResults:
    """Find the finished cells of an experiment.

    Where cells were made from several collections (data that changed since), those of
    the newest one count, and the others are missing.

    Raises:
        MissingInputError: no cell is finished.
    """
    cells = list_cells(experiment, parameters)
    found = [(cell, done) for cell in cells for done in store.find_all(cell.key)]
    if not found:
        raise MissingInputError(
            f"No finished cell of the experiment {experiment.name!r} in "
            f"{str(store.base)!r}; run `mathamr experiments run {experiment.name}` "
            "with the same environment"
        )
    newest = max((done for _, done in found), key=lambda done: done.record.finished)
    collection = newest.record.collection
    chosen = [(c, done) for c, done in found if done.record.collection == collection]
    present = {cell.name for cell, _ in chosen}
    missing = tuple(cell for cell in cells if cell.name not in present)
    return GridResults(experiment, collection, tuple(chosen), missing)


def list_topic_sets(scores: pa.Table, task: int) -> list[str]:
    """Return the topic sets of a task, in order."""
    mask = np.asarray(scores.column("task")) == task
    return sorted(set(scores.filter(pa.array(mask)).column("topic_set").to_pylist()))


def choose_topic_set(names: Sequence[str], wanted: str | None) -> str:
    """Return the wanted topic set, or the last official one (ARQMath-3 of 1, 2 and 3).

    Raises:
        MissingInputError: there is none, or not this one.
    """
    if not names or (wanted is not None and wanted not in names):
        raise MissingInputError(
            f"Expected scores of the topic set {wanted or 'any'!r} (found: "
            f"{', '.join(names) or 'none'}); run the stage 'evaluation'"
        )
    official = [name for name in names if name.startswith("ARQMath")]
    return wanted or (official or list(names))[-1]


def gather_results(grid: GridResults, topic_set: str) -> dict[str, list[SeedResult]]:
    """Return results over seeds by row of the tables."""
    gathered: dict[str, list[SeedResult]] = {}
    topics: dict[str, tuple[str, ...]] = {}
    for cell, done in grid.finished:
        scored = read_topic_scores(done.scores, grid.experiment.task, topic_set)
        for system, (found, _) in scored.items():
            if topics.setdefault(topic_set, found) != found:
                raise InputError(
                    f"{cell.name}: the topics of {system!r} are not those of the other "
                    "cells; run the experiment again"
                )
        for row, result in _read_rows(cell, done, scored, grid.experiment):
            gathered.setdefault(row, []).append(result)
    return gathered


TopicScores = tuple[tuple[str, ...], dict[str, FloatArray]]
"""Topics, and scores by measure in their order."""


def read_topic_scores(
    scores: pa.Table, task: int, topic_set: str
) -> dict[str, TopicScores]:
    """Return the scores of every system on one topic set; topics in order.

    A measure that is undefined on a topic (NaN) leaves this topic out for all systems.
    """
    frame = scores.to_pandas()
    frame = frame[(frame["task"] == task) & (frame["topic_set"] == topic_set)]
    found: dict[str, TopicScores] = {}
    for system in dict.fromkeys(frame["system"]):
        own = frame[frame["system"] == system]
        wide = own.pivot(index="topic_id", columns="measure", values="score")
        wide = wide.sort_index()
        values = {
            str(measure): column.dropna().to_numpy(dtype=np.float64)
            for measure, column in wide.items()
        }
        found[str(system)] = (tuple(map(str, wide.index)), values)
    return found


def read_figures(efficiency: Mapping[str, Any], task: int) -> dict[str, float]:
    """Return the figures of efficiency tables by the names of their columns."""
    training, index = efficiency.get("training", {}), efficiency.get("index", {})
    raw = {
        "seconds_per_epoch": training.get("seconds_per_epoch"),
        "minutes_per_epoch": _scale(training.get("seconds_per_epoch"), 1 / 60),
        "gpu_gigabytes": _scale(training.get("peak_memory_mib"), 1 / 1024),
        "parameters": (training.get("parameters") or {}).get("total"),
        "index_megabytes": _scale(index.get("bytes"), 1e-6),
        "index_gigabytes": _scale(index.get("bytes"), 1e-9),
        "vectors": index.get("vectors"),
        "formulas": index.get("formulas"),
    }
    for search in efficiency.get("search", ()):
        if search["task"] == task:
            raw[f"QPS {search['system']}"] = search["queries_per_second"]
    return {name: float(value) for name, value in raw.items() if value is not None}


def strategy_of(system: str) -> str | None:
    """Return the strategy of a trained system; ``None`` for another system.

    >>> strategy_of("mathamr_plus/maxsim_hnsw"), strategy_of("bm25")
    ('maxsim_hnsw', None)
    """
    name, _, strategy = system.partition("/")
    return strategy if name == SYSTEM else None


def _read_rows(
    cell: Cell,
    done: FinishedCell,
    scored: Mapping[str, TopicScores],
    experiment: Experiment,
) -> Iterator[tuple[str, SeedResult]]:
    figures = read_figures(done.efficiency, experiment.task)
    plain = {k: v for k, v in figures.items() if not k.startswith("QPS ")}
    by_strategy = _name_strategies(cell, scored, experiment)
    if experiment.rows == "strategies":
        for name, system in by_strategy.items():
            own = plain | _take_qps(figures, system)
            yield (
                name,
                SeedResult(cell.seed, _choose(scored[system][1], experiment), own),
            )
        return
    main = next(iter(by_strategy.values()))
    scores = _choose(scored[main][1], experiment)
    plain |= _take_qps(figures, main)
    if experiment.strategies:
        for name, system in by_strategy.items():
            chosen = _choose(scored[system][1], experiment)
            scores |= {f"{name}:{measure}": v for measure, v in chosen.items()}
            qps = _take_qps(figures, system)
            plain |= {f"{name}:{key}": value for key, value in qps.items()}
    yield cell.condition, SeedResult(cell.seed, scores, plain)


def _name_strategies(
    cell: Cell, scored: Mapping[str, TopicScores], experiment: Experiment
) -> dict[str, str]:
    """Return the system of each strategy by its name in the tables."""
    own = {strategy_of(system): system for system in scored}
    own.pop(None, None)
    if not own:
        raise InputError(
            f"{cell.name}: expected scores of the system {SYSTEM!r} (got "
            f"{', '.join(scored) or 'none'})"
        )
    if not experiment.strategies:
        return {strategy or SYSTEM: system for strategy, system in own.items()}
    absent = [name for name in experiment.strategies if name not in own]
    if absent:
        raise InputError(
            f"{cell.name}: expected scores of the strategy {absent[0]!r} (got "
            f"{', '.join(map(str, own))})"
        )
    return {name: own[name] for name in experiment.strategies}


def _choose(
    scores: Mapping[str, FloatArray], experiment: Experiment
) -> dict[str, FloatArray]:
    return {name: scores[name] for name in experiment.measures if name in scores}


def _take_qps(figures: Mapping[str, float], system: str) -> dict[str, float]:
    name = f"QPS {system}"
    return {"QPS": figures[name]} if name in figures else {}


def _scale(value: float | None, factor: float) -> float | None:
    return None if value is None else value * factor
