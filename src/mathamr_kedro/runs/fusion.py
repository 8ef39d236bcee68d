"""Systems made of others: fusions of runs that have a name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mathamr_kedro.errors import ConfigurationError, suggest
from mathamr_kedro.search.fusion import Fusion, fuse_runs
from mathamr_kedro.trec import Run


@dataclass(frozen=True)
class NamedFusion(Fusion):
    """A system made of others."""

    name: str = ""
    of: tuple[str, ...] = ()
    """Systems, or fusions before this one."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.name or not self.of:
            raise ConfigurationError(
                f"Expected a name and the systems ('of') of a fusion (got {self!r})"
            )
        if self.weights and len(self.weights) != len(self.of):
            raise ConfigurationError(
                f"Expected {len(self.of)} weights, one for each system of the fusion "
                f"{self.name!r} (got {self.weights!r})"
            )


def add_fusions(runs: Sequence[Run], fusions: Sequence[NamedFusion]) -> list[Run]:
    """Return the runs and, behind them, the fusions of each task that has all parts.

    Raises:
        ConfigurationError: a fusion names a system that no task has, or two systems
            have one name.
    """
    known: dict[int, dict[str, Run]] = {}
    for run in runs:
        _add(known, run)
    for fusion in fusions:
        fused = [
            fuse_runs([of_task[name] for name in fusion.of], fusion, fusion.name)
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
