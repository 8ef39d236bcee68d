"""Fusions of runs, task by task: rows of the tables beside the systems themselves."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

from mathamr_kedro.base.errors import ConfigurationError, suggest
from mathamr_kedro.systems.fusion import Fusion, fuse_runs
from mathamr_kedro.trec import Run

FuseRuns: TypeAlias = Callable[[Sequence[Run], Fusion], Run]
"""Fuses runs of one task."""


def add_fusions(
    runs: Sequence[Run], fusions: Sequence[Fusion], fuse: FuseRuns = fuse_runs
) -> list[Run]:
    """Return the runs and, behind them, the fusions of each task that has all parts.

    Args:
        runs: of all tasks.
        fusions: in the order in which they may name each other.
        fuse: makes one.

    Raises:
        ConfigurationError: a fusion names a system that no task has, or two systems
            have one name.
    """
    known: dict[int, dict[str, Run]] = {}
    for run in runs:
        _add(known, run)
    for fusion in fusions:
        fused = [
            fuse([of_task[name] for name in fusion.of], fusion)
            for of_task in known.values()
            if all(name in of_task for name in fusion.of)
        ]
        if not fused and known:
            raise explain_parts(fusion, known.values())
        for run in fused:
            _add(known, run)
    return [run for of_task in known.values() for run in of_task.values()]


def explain_parts(fusion: Fusion, tasks: Iterable[Iterable[str]]) -> ConfigurationError:
    """Return what is wrong with the parts of a fusion that no task has."""
    systems = sorted({name for of_task in tasks for name in of_task})
    wrong = next((name for name in fusion.of if name not in systems), None)
    if wrong is None:
        reason = f"no task has all of {list(fusion.of)}."
    else:
        reason = f"no system is named {wrong!r}{suggest(wrong, systems) or '.'}"
    return ConfigurationError(
        f"Fusion {fusion.name!r}: {reason} Known: {', '.join(systems)} "
        "(evaluation.fusions)"
    )


def _add(known: dict[int, dict[str, Run]], run: Run) -> None:
    if known.setdefault(run.task, {}).setdefault(run.name, run) is not run:
        raise ConfigurationError(
            f"Two systems are named {run.name!r}; give each strategy and fusion a "
            "name of its own (conf/<env>/parameters/evaluation.yml)"
        )
