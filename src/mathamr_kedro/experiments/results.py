"""From finished cells to the results that tables are made of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from mathamr_kedro.base.errors import InputError, MissingInputError
from mathamr_kedro.base.progress import report_progress
from mathamr_kedro.evaluation.stats import QUERY_SECONDS
from mathamr_kedro.evaluation.tables import (
    Results,
    ScoredSet,
    SeedResult,
    select_best_seed,
)
from mathamr_kedro.experiments.cells import CellStore, FinishedCell
from mathamr_kedro.experiments.grid import SYSTEM, Cell, Experiment, list_cells


class ShownRun(NamedTuple):
    """The run that represents a row of the tables in the examples."""

    label: str
    cell: FinishedCell
    system: str


@dataclass(frozen=True)
class GridResults:
    """The finished cells of an experiment on one collection."""

    experiment: Experiment
    collection: str
    finished: tuple[tuple[Cell, FinishedCell], ...]
    missing: tuple[Cell, ...]

    @classmethod
    def find(
        cls, experiment: Experiment, parameters: Mapping[str, Any], store: CellStore
    ) -> GridResults:
        """Find the finished cells of an experiment.

        If cells were made from several collections (data that changed since), those
        of the newest one count, and the others are missing.
        """
        cells = list_cells(experiment, parameters)
        found = [(cell, done) for cell in cells for done in store.list(cell.key)]
        if not found:
            raise MissingInputError(
                f"No finished cell of the experiment {experiment.name!r} in "
                f"{str(store.base)!r}; run `mathamr experiments run {experiment.name}` "
                "with the --env of your run"
            )
        newest = max((done for _, done in found), key=lambda done: done.record.finished)
        collection = newest.record.collection
        chosen = tuple(
            (cell, done) for cell, done in found if done.record.collection == collection
        )
        present = {cell.name for cell, _ in chosen}
        missing = tuple(cell for cell in cells if cell.name not in present)
        return cls(experiment, collection, chosen, missing)

    @property
    def topic_sets(self) -> list[str]:
        """Topic sets of the experiment's task, in order."""
        return self.finished[0][1].list_topic_sets(self.experiment.task)

    def gather(self, topic_set: str) -> dict[str, list[SeedResult]]:
        """Return results over seeds by row of the tables."""
        gathered: dict[str, list[SeedResult]] = {}
        topics: tuple[str, ...] = ()
        cells = report_progress(self.finished, "cells read", total=len(self.finished))
        for cell, done in cells:
            scored = done.read_scores(self.experiment.task, topic_set)
            topics = topics or scored.topics
            if topics != scored.topics:
                raise InputError(
                    f"{cell.name}: its topics are not those of the other cells; run "
                    "the experiment again"
                )
            for row, result in _read_rows(cell, done, scored, self.experiment):
                gathered.setdefault(row, []).append(result)
        return gathered

    def choose_shown(self, results: Results) -> tuple[ShownRun, ...]:
        """Return the run of each row's best seed, as the best-seed tables choose it."""
        cells = {done.folder.name: done for _, done in self.finished}
        best = {
            row: select_best_seed(found, self.experiment.measures[0])
            for row, found in results.items()
        }
        return tuple(ShownRun(row, cells[r.cell], r.system) for row, r in best.items())

    def describe_missing(self) -> str:
        """Return the unfinished cells, seed by seed."""
        by_seed: dict[int, list[str]] = {}
        for cell in self.missing:
            by_seed.setdefault(cell.seed, []).append(cell.condition)
        parts = (f"seed {seed} of {', '.join(c)}" for seed, c in by_seed.items())
        return "; ".join(parts)


def choose_topic_set(names: Sequence[str], wanted: str | None) -> str:
    """Return the wanted topic set, or the last official one (ARQMath-3 of 1 to 3).

    Parts of a topic set (``ARQMath-3/questions_above_50``) are never the last.
    """
    if not names or (wanted is not None and wanted not in names):
        raise MissingInputError(
            f"Expected scores of the topic set {wanted or 'any'!r} (found: "
            f"{', '.join(names) or 'none'}); run the stage 'evaluation'"
        )
    whole = [name for name in names if "/" not in name]
    official = [name for name in whole if name.startswith("ARQMath")]
    return wanted or (official or whole)[-1]


def strategy_of(system: str, of: str = SYSTEM) -> str | None:
    """Return the strategy of a trained system; ``None`` for another system.

    >>> strategy_of("mathamr_plus/maxsim_hnsw"), strategy_of("bm25")
    ('maxsim_hnsw', None)
    """
    name, _, strategy = system.partition("/")
    return strategy if name == of else None


def _read_rows(
    cell: Cell, done: FinishedCell, scored: ScoredSet, experiment: Experiment
) -> Iterator[tuple[str, SeedResult]]:
    """Yield the rows of a cell; strategies are timed on the same topics."""
    by_strategy = _name_strategies(cell, scored, experiment)
    systems = list(by_strategy.values())
    times = done.costs(experiment.task).time_queries(systems, scored.topics)
    own = {}
    for name, system in by_strategy.items():
        found = scored.systems[system]
        known, figures = found.per_topic, dict(found.figures)
        per_topic = {m: known[m] for m in experiment.measures if m in known}
        if system in times:
            per_topic[QUERY_SECONDS] = times[system]
            figures["QPS"] = 1 / max(float(times[system].mean()), 1e-9)
        own[name] = replace(found, per_topic=per_topic, figures=figures)
    if experiment.rows == "strategies":
        yield from own.items()
        return
    whole = next(iter(own.values()))
    scores, figures = dict(whole.per_topic), dict(whole.figures)
    for name, result in own.items() if experiment.strategies else ():
        scores |= {f"{name}:{key}": v for key, v in result.per_topic.items()}
        if "QPS" in result.values:
            figures[f"{name}:QPS"] = result.value("QPS")
    yield cell.condition, replace(whole, per_topic=scores, figures=figures)


def _name_strategies(
    cell: Cell, scored: ScoredSet, experiment: Experiment
) -> dict[str, str]:
    """Return the system of each strategy by its name in the tables."""
    parts = {
        system: strategy_of(system, experiment.system) for system in scored.systems
    }
    own = {
        part or experiment.system: system  # represents its best form
        for system, part in parts.items()
        if part is not None
    }
    if not own:
        raise InputError(
            f"{cell.name}: expected scores of the system {experiment.system!r} (got "
            f"{', '.join(scored.systems) or 'none'})"
        )
    if not experiment.strategies:
        return own
    absent = [name for name in experiment.strategies if name not in own]
    if absent:
        raise InputError(
            f"{cell.name}: expected scores of the strategy {absent[0]!r} (got "
            f"{', '.join(own)})"
        )
    return {name: own[name] for name in experiment.strategies}
