"""What systems returned for topics: ranked lists of posts or of formulas.

A list of Task 2 names visual ids, each once; beside each stands the formula that is
submitted for it, and the post of that formula.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mathamr_kedro.errors import ConfigurationError, suggest
from mathamr_kedro.hits import FormulaHits, Hits
from mathamr_kedro.metrics.runs import Results, Run
from mathamr_kedro.runs.fusion import Fusion, fuse_runs
from mathamr_kedro.runs.topic_sets import TopicSet
from mathamr_kedro.types import FormulaId, PostId, TopicId


class RankedList(NamedTuple):
    """Documents for one topic, best first."""

    ids: list[str]
    """Posts (Task 1) or visual ids (Task 2)."""
    scores: NDArray[np.float64]
    formula_ids: Sequence[FormulaId] = ()
    """Task 2: the formula that stands for each visual id."""
    post_ids: Sequence[PostId] = ()
    """Task 2: the post of that formula."""

    @classmethod
    def of(cls, hits: Hits | FormulaHits) -> RankedList:
        """Take over what an index returned."""
        if isinstance(hits, FormulaHits):
            return cls(hits.judged_ids, hits.scores, hits.ids, hits.post_ids)
        return cls(hits.ids, hits.scores)


@dataclass(frozen=True)
class SystemRun:
    """The lists of one system for topics of one task."""

    task: int
    system: str
    lists: Mapping[TopicId, RankedList]
    seconds: float = 0.0
    """Time of the searches alone, without building an index."""
    topic_set: str = ""
    """Empty: topics of all sets."""


def split_run(run: SystemRun, sets: Sequence[TopicSet]) -> list[SystemRun]:
    """Return a run for each topic set of its task."""
    return [
        SystemRun(
            run.task,
            run.system,
            {t.topic_id: run.lists[t.topic_id] for t in chosen.topics
             if t.topic_id in run.lists},
            topic_set=chosen.name,
        )
        for chosen in sets
        if chosen.task == run.task
    ]  # fmt: skip


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


def add_fusions(
    runs: Sequence[SystemRun], fusions: Sequence[NamedFusion]
) -> list[SystemRun]:
    """Return the runs and, behind them, the fusions of each task that has all parts.

    Raises:
        ConfigurationError: a fusion names a system that no task has, or two systems
            have one name.
    """
    known: dict[int, dict[str, SystemRun]] = {}
    for run in runs:
        _add(known, run)
    for fusion in fusions:
        fused = [
            _fuse([of_task[name] for name in fusion.of], fusion)
            for of_task in known.values()
            if all(name in of_task for name in fusion.of)
        ]
        if not fused and known:
            raise _unknown_part(fusion, known)
        for run in fused:
            _add(known, run)
    return [run for of_task in known.values() for run in of_task.values()]


def _add(known: dict[int, dict[str, SystemRun]], run: SystemRun) -> None:
    if known.setdefault(run.task, {}).setdefault(run.system, run) is not run:
        raise ConfigurationError(
            f"Two systems are named {run.system!r}; give each strategy and fusion a "
            "name of its own (conf/<env>/parameters/evaluation.yml)"
        )


def _fuse(parts: Sequence[SystemRun], fusion: NamedFusion) -> SystemRun:
    runs = [
        Run(
            part.system,
            {
                topic: Results(
                    found.ids, found.scores, np.arange(1, len(found.ids) + 1)
                )
                for topic, found in part.lists.items()
            },
        )
        for part in parts
    ]
    fused = fuse_runs(runs, fusion, fusion.name)
    lists = {
        topic: _name_formulas(
            RankedList(list(results.ids), results.scores),
            [part.lists[topic] for part in parts if topic in part.lists],
        )
        for topic, results in fused.results.items()
    }
    seconds = sum(part.seconds for part in parts)
    return SystemRun(parts[0].task, fusion.name, lists, seconds)


def _name_formulas(found: RankedList, parts: Sequence[RankedList]) -> RankedList:
    """Let the first system that returned a visual id name its formula."""
    named: dict[str, tuple[FormulaId, PostId]] = {}
    for part in parts:
        instances = zip(part.formula_ids, part.post_ids, strict=True)
        for visual_id, instance in zip(part.ids, instances, strict=False):
            named.setdefault(visual_id, instance)
    if not named:
        return found
    return found._replace(
        formula_ids=[named[visual_id][0] for visual_id in found.ids],
        post_ids=[named[visual_id][1] for visual_id in found.ids],
    )


def _unknown_part(
    fusion: NamedFusion, known: Mapping[int, Mapping[str, SystemRun]]
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
