r"""Several runs put together to one.

Two runs for a topic, and what each fusion makes of them (scores scaled to 0 ... 1)::

    run A         run B          rrf (k = 60)        mean          f1
    17  1.0       4   1.0        4   1/62 + 1/61     4   0.75      4   0.667
    4   0.5       90  0.0        90  1/63 + 1/62     17  0.5       17  0
    90  0.0                      17  1/61            90  0         90  0

- ``rrf`` reciprocal rank fusion :math:`\sum_r w_r / (k + \text{rank}_r)` (Cormack et
  al. 2009); scores do not matter, ranks do;
- ``weighted`` :math:`\sum_r w_r s_r / \sum_r w_r`; ``mean`` with equal weights;
- ``max`` the best score; ``f1`` the harmonic mean
  :math:`n / \sum_r 1 / s_r`, the F1 of two scores (Amador & Zanibbi 2025).

Scores of a topic are scaled to 0 ... 1 by its best and worst (``scale`` ``"minmax"``),
so that cosines and BM25 go together; what a run did not return counts 0 there. Without
scaling (``"none"``) it counts as much as the last that the run did return.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mathamr_kedro.errors import ConfigurationError
from mathamr_kedro.hits import Hits
from mathamr_kedro.metrics.rankings import Ranking, rank_documents
from mathamr_kedro.metrics.runs import Run, make_run

FusionMethod: TypeAlias = Literal["rrf", "weighted", "mean", "max", "f1"]
Scores: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True)
class Fusion:
    """How runs are put together."""

    method: FusionMethod = "rrf"
    weights: tuple[float, ...] = ()
    """One for each run, for ``rrf`` and ``weighted``; equal if empty."""
    k: int = 60
    """Constant of ``rrf``; 60 in its paper."""
    scale: Literal["minmax", "none"] = "minmax"
    depth: int = 1000

    def __post_init__(self) -> None:
        if self.weights and self.method not in ("rrf", "weighted"):
            raise ConfigurationError(
                f"Expected no weights for the fusion {self.method!r} (got "
                f"{self.weights!r}); use 'weighted' or 'rrf'"
            )
        if any(w < 0 for w in self.weights) or (self.weights and not any(self.weights)):
            raise ConfigurationError(
                f"Expected weights of at least 0, not all 0 (got {self.weights!r})"
            )
        if self.k < 0 or self.depth < 1:
            raise ConfigurationError(
                f"Expected k of at least 0 and a positive depth (got {self.k!r}, "
                f"{self.depth!r})"
            )


def fuse_runs(runs: Sequence[Run], fusion: Fusion, name: str) -> Run:
    """Put runs together; topics are those of any of them.

    Raises:
        ConfigurationError: there is no run, weights do not fit, or runs of formula
            instances and of other ids are mixed.
    """
    weights = _check_weights(runs, fusion)
    topics = dict.fromkeys(topic for run in runs for topic in run.results)
    fused: dict[str, dict[str, float]] = {}
    for topic in topics:
        rankings = [
            rank_documents(run.results[topic], depth=None)
            if topic in run.results
            else Ranking([], np.zeros(0))
            for run in runs
        ]
        ids = list(dict.fromkeys(i for r in rankings for i in r.ids))
        scores = _FUSE[fusion.method](rankings, ids, weights, fusion)
        fused[topic] = dict(Hits.rank(ids, scores.tolist()).top(fusion.depth))
    made = make_run(name, fused)
    return Run(name, made.results, holds_instances=runs[0].holds_instances)


def _check_weights(runs: Sequence[Run], fusion: Fusion) -> Scores:
    if not runs:
        raise ConfigurationError("Expected at least one run to fuse (got none)")
    if len({run.holds_instances for run in runs}) > 1:
        raise ConfigurationError(
            "Expected runs of one kind of id; formula instances and other ids cannot "
            "be fused"
        )
    if fusion.weights and len(fusion.weights) != len(runs):
        raise ConfigurationError(
            f"Expected {len(runs)} weights, one for each run (got {fusion.weights!r})"
        )
    return np.array(fusion.weights or (1.0,) * len(runs))


def _fuse_ranks(
    rankings: list[Ranking], ids: list[str], weights: Scores, fusion: Fusion
) -> Scores:
    place = {i: n for n, i in enumerate(ids)}
    total = np.zeros(len(ids))
    for weight, ranking in zip(weights, rankings, strict=True):
        rows = [place[i] for i in ranking.ids]
        total[rows] += weight / (fusion.k + np.arange(1, len(rows) + 1))
    return total


def _score_table(rankings: list[Ranking], ids: list[str], fusion: Fusion) -> Scores:
    """(runs, ids) scores, scaled."""
    place = {i: n for n, i in enumerate(ids)}
    table = np.zeros((len(rankings), len(ids)))
    for row, ranking in zip(table, rankings, strict=True):
        if not ranking.ids:
            continue
        scores, low, high = ranking.scores, ranking.scores.min(), ranking.scores.max()
        if fusion.scale == "none":
            row[:] = low
        elif high > low:
            scores = (scores - low) / (high - low)
        else:
            scores = np.ones_like(scores)
        row[[place[i] for i in ranking.ids]] = scores
    return table


def _fuse_weighted(
    rankings: list[Ranking], ids: list[str], weights: Scores, fusion: Fusion
) -> Scores:
    return weights @ _score_table(rankings, ids, fusion) / weights.sum()


def _fuse_max(
    rankings: list[Ranking], ids: list[str], weights: Scores, fusion: Fusion
) -> Scores:
    return _score_table(rankings, ids, fusion).max(0, initial=-np.inf)


def _fuse_f1(
    rankings: list[Ranking], ids: list[str], weights: Scores, fusion: Fusion
) -> Scores:
    table = np.clip(_score_table(rankings, ids, fusion), 0.0, None)
    with np.errstate(divide="ignore"):
        return len(table) / (1.0 / table).sum(0)


_FUSE: dict[str, Callable[[list[Ranking], list[str], Scores, Fusion], Scores]] = {
    "rrf": _fuse_ranks,
    "weighted": _fuse_weighted,
    "mean": _fuse_weighted,
    "max": _fuse_max,
    "f1": _fuse_f1,
}
