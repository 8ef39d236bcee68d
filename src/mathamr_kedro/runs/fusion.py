"""Systems made of others: fusions of runs that have a name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from mathamr_kedro.base.errors import ConfigurationError, suggest
from mathamr_kedro.search.fusion import WEIGHTED, Fusion, fuse_runs
from mathamr_kedro.trec import Run


@dataclass(frozen=True)
class NamedFusion(Fusion):
    """A system made of others."""

    name: str = ""
    of: tuple[str, ...] = ()
    """Systems, or fusions before this one."""
    folds: int = 0
    """Cross-validated weights: judged topics are dealt into so many parts, each fused
    with the weights that are best on the others; 0: the weights as they are given."""
    steps: int = 4
    """Cross-validated weights are multiples of 1 / steps, and sum to 1."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.name or not self.of:
            raise ConfigurationError(
                f"Expected a name and the systems ('of') of a fusion (got {self!r})"
            )
        if self.folds and (self.folds < 2 or self.steps < 1):
            raise ConfigurationError(
                f"Expected folds of at least 2 and positive steps for the fusion "
                f"{self.name!r} (got {self.folds!r}, {self.steps!r})"
            )
        if self.folds and (self.weights or self.method not in WEIGHTED):
            raise ConfigurationError(
                f"Expected a method of {list(WEIGHTED)} and no weights beside folds, "
                f"which choose them, for the fusion {self.name!r} (got "
                f"{self.method!r}, {self.weights!r})"
            )
        if self.weights and len(self.weights) != len(self.of):
            raise ConfigurationError(
                f"Expected {len(self.of)} weights, one for each system of the fusion "
                f"{self.name!r} (got {self.weights!r})"
            )


FuseRuns: TypeAlias = Callable[[Sequence[Run], NamedFusion], Run]
"""Fuses runs of one task."""


def fuse_as_given(runs: Sequence[Run], fusion: NamedFusion) -> Run:
    """Fuse runs with the weights of the fusion; equal ones where folds choose them."""
    return fuse_runs(runs, fusion, fusion.name)


def add_fusions(
    runs: Sequence[Run],
    fusions: Sequence[NamedFusion],
    fuse: FuseRuns = fuse_as_given,
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
            raise _unknown_part(fusion, known)
        for run in fused:
            _add(known, run)
    return [run for of_task in known.values() for run in of_task.values()]


def _add(known: dict[int, dict[str, Run]], run: Run) -> None:
    if known.setdefault(run.task, {}).setdefault(run.name, run) is not run:
        raise ConfigurationError(
            f"Two systems are named {run.name!r}; give each strategy and fusion a "
            "name of its own (conf/<env>/parameters/evaluation.yml)"
        )


def _unknown_part(
    fusion: NamedFusion, known: Mapping[int, Mapping[str, Run]]
) -> ConfigurationError:
    systems = sorted({name for of_task in known.values() for name in of_task})
    wrong = next((name for name in fusion.of if name not in systems), None)
    if wrong is None:
        reason = f"no task has all of {list(fusion.of)}"
    else:
        reason = f"no system is named {wrong!r}{suggest(wrong, systems)}"
    return ConfigurationError(
        f"Fusion {fusion.name!r}: {reason} Known: {', '.join(systems)} "
        "(evaluation.fusions)"
    )
