r"""Fusions of runs, task by task, with given or cross-validated weights.

No topic is scored by weights that were chosen on it. Judged topics are dealt into
folds. Of all weights on a grid,

.. math:: W = \{w \ge 0 : \textstyle\sum_r w_r = 1,\ w_r \cdot \text{steps} \in
    \mathbb{N}\}, \qquad
    w_f = \arg\max_{w \in W} \sum_{t \notin f} m(t, w)

those that are best for the measure :math:`m` on the topics of the other folds fuse the
runs for a topic of fold :math:`f`; of equally good weights, the ones nearest to equal
weights. Topics without judgments have the best weights of all.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from mathamr_kedro.base.errors import ConfigurationError, suggest
from mathamr_kedro.base.hits import DECIMALS, Hits, rank_ids
from mathamr_kedro.base.types import Grade, TopicId
from mathamr_kedro.evaluation.metrics import Measure
from mathamr_kedro.evaluation.metrics.measures import look_up_grades
from mathamr_kedro.systems.folds import ALL, deal_topics
from mathamr_kedro.systems.fusion import WEIGHT_STEPS, Fusion, fuse_runs
from mathamr_kedro.trec import Run

logger = logging.getLogger(__name__)

FuseRuns: TypeAlias = Callable[[Sequence[Run], Fusion], Run]
"""Fuses runs of one task."""

Weights = tuple[float, ...]

Grades = Mapping[TopicId, Mapping[str, Grade]]


def add_fusions(
    runs: Sequence[Run], fusions: Sequence[Fusion], fuse: FuseRuns = fuse_runs
) -> list[Run]:
    """Return the runs, followed by the fusions of each task that has all parts.

    Fusions are sorted so that one may refer to others.

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
    """Explain why no task has all parts of a fusion."""
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


def fuse_by_folds(
    runs: Sequence[Run], fusion: Fusion, grades: Grades, measure: Measure
) -> Run:
    """Fuse runs of one task with weights that maximise a measure."""
    topics = list(dict.fromkeys(topic for run in runs for topic in run.lists))
    judged = [t for t in topics if any(g > 0 for g in grades.get(t, {}).values())]
    grid = list_weights(len(runs), WEIGHT_STEPS)
    scores = np.zeros((len(grid), len(judged)))
    for column, topic in enumerate(judged):
        scores[:, column] = _score(runs, fusion, grid, topic, grades[topic], measure)
    fold_of = deal_topics(judged, fusion.folds)
    kept = {
        fold: np.array([fold_of[t] != fold for t in judged], dtype=bool)
        for fold in (*dict.fromkeys(fold_of.values()), ALL)
    }
    chosen: dict[str, Weights] = {}
    for fold, columns in kept.items():
        means = scores[:, columns].sum(1).round(DECIMALS)
        chosen[fold] = grid[int(means.argmax())]
    logger.info("fusion %s, weights by fold: %s", fusion.name, chosen)
    whole = fuse_runs(runs, replace(fusion, folds=0), fusion.name)
    lists = {}
    for topic in topics:
        weights = chosen[fold_of.get(topic, ALL)]
        fused = replace(fusion, folds=0, weights=weights)
        lists[topic] = fused.fuse([_find_list(run, topic) for run in runs])
    return replace(whole, lists=lists)


def list_weights(count: int, steps: int) -> list[Weights]:
    """Return all weights on the grid, those nearest to equal ones first.

    >>> list_weights(2, 2)
    [(0.5, 0.5), (0.0, 1.0), (1.0, 0.0)]
    """

    def split(parts: int, left: int) -> list[tuple[int, ...]]:
        if parts == 1:
            return [(left,)]
        return [
            (n, *rest) for n in range(left + 1) for rest in split(parts - 1, left - n)
        ]

    shares = split(count, steps)
    shares.sort(key=lambda share: sum(n * n for n in share))
    return [tuple(n / steps for n in share) for share in shares]


def _score(
    runs: Sequence[Run],
    fusion: Fusion,
    grid: Sequence[Weights],
    topic: TopicId,
    grades: Mapping[str, Grade],
    measure: Measure,
) -> NDArray[np.float64]:
    """Return the measure of one topic for all weights."""
    lists = [_find_list(run, topic) for run in runs]
    shares = replace(fusion, folds=0, weights=()).split(lists)
    ids = list(shares)
    table = np.array(list(shares.values())).reshape(len(ids), len(runs))
    ties = rank_ids(ids)
    found = look_up_grades(ids, grades)
    judged = np.array(list(grades.values()), dtype=np.int64)
    scores = np.zeros(len(grid))
    for row, weights in enumerate(grid):
        values = (table @ np.array(weights)).round(DECIMALS)
        order = np.lexsort((ties, -values))[: fusion.depth]
        scores[row] = measure.score(found[order], judged)
    return scores


def _find_list(run: Run, topic: TopicId) -> Hits:
    return run.lists.get(topic, Hits([], np.zeros(0)))
