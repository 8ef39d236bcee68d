r"""Several runs fused into one.

Two runs for a topic, and what each fusion makes of them (scores scaled to 0 ... 1)::

    run A         run B          rrf (k = 60)        mean          f1
    17  1.0       4   1.0        4   1/62 + 1/61     4   0.75      4   0.667
    4   0.5       90  0.0        90  1/63 + 1/62     17  0.5       17  0
    90  0.0                      17  1/61            90  0         90  0

- ``rrf`` reciprocal rank fusion :math:`\sum_r w_r / (k + \text{rank}_r)` (Cormack et
  al. 2009); scores do not matter, ranks do;
- ``score_rrf`` :math:`\sum_r w_r s_r / (k + \text{rank}_r)`: ranks weighted by scores
  (Mansouri, Oard and Zanibbi 2021, and 2022 for MathAMR);
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

from mathamr_kedro.base.errors import ConfigurationError
from mathamr_kedro.base.hits import FormulaHits, Hits
from mathamr_kedro.base.types import FormulaId, PostId, TopicId
from mathamr_kedro.evaluation.metrics import sort_as_trec_eval
from mathamr_kedro.trec import Run

FusionMethod: TypeAlias = Literal["rrf", "score_rrf", "weighted", "mean", "max", "f1"]
Scores: TypeAlias = NDArray[np.float64]

WEIGHTED: tuple[FusionMethod, ...] = ("rrf", "score_rrf", "weighted")
"""Methods that weights are for: what a run adds grows with its weight."""


@dataclass(frozen=True)
class Fusion:
    """How runs are fused."""

    method: FusionMethod = "rrf"
    weights: tuple[float, ...] = ()
    """One for each run, for methods of :data:`WEIGHTED`; equal if empty."""
    k: int = 60
    """Constant of ``rrf`` and ``score_rrf``; 60 in their papers."""
    scale: Literal["minmax", "none"] = "minmax"
    depth: int = 1000

    def __post_init__(self) -> None:
        if self.weights and self.method not in WEIGHTED:
            raise ConfigurationError(
                f"Expected no weights for the fusion {self.method!r} (got "
                f"{self.weights!r}); use one of {list(WEIGHTED)}"
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

    def split(self, runs: Sequence[Run], topic: TopicId) -> dict[str, Scores]:
        """Return what each run adds to the score of each document: their sum is it.

        A harmonic mean is no sum; there, all runs have an equal share.
        """
        weights = _check_weights(runs, self)
        rankings = [
            sort_as_trec_eval(run.documents(topic))
            if topic in run.lists
            else Hits([], np.zeros(0))
            for run in runs
        ]
        ids = list(dict.fromkeys(i for hits in rankings for i in hits.ids))
        shares = _SPLIT[self.method](rankings, ids, weights, self)
        return dict(zip(ids, shares.T, strict=True))


def fuse_runs(runs: Sequence[Run], fusion: Fusion, name: str) -> Run:
    """Fuse runs; topics are those of any of them.

    Formulas are fused by their visual ids; the first run that returned a visual id
    names its formula.

    Raises:
        ConfigurationError: there is no run, weights do not fit, or runs of formula
            instances and of other ids are mixed.
    """
    _check_weights(runs, fusion)
    fused: dict[TopicId, Hits | FormulaHits] = {}
    for topic in dict.fromkeys(topic for run in runs for topic in run.lists):
        shares = fusion.split(runs, topic)
        scores = (float(parts.sum()) for parts in shares.values())
        hits = Hits.rank(shares, scores).top(fusion.depth)
        fused[topic] = _name_formulas(hits, topic, runs)
    return Run(
        name,
        fused,
        holds_instances=runs[0].holds_instances,
        task=runs[0].task,
        seconds=sum(run.seconds for run in runs),
        query_seconds={
            topic: sum(run.query_seconds[topic] for run in runs)
            for topic in fused
            if all(topic in run.query_seconds for run in runs)
        },
        device=next((run.device for run in runs if run.device != "cpu"), "cpu"),
    )


def _name_formulas(
    hits: Hits, topic: TopicId, runs: Sequence[Run]
) -> Hits | FormulaHits:
    """Let the first run that returned a visual id name its formula."""
    parts = [run.lists[topic] for run in runs if topic in run.lists]
    if not all(isinstance(part, FormulaHits) for part in parts):
        return hits
    named: dict[str, tuple[FormulaId, PostId]] = {}
    for part in parts:
        if isinstance(part, FormulaHits):
            instances = zip(part.ids, part.post_ids, strict=True)
            for visual_id, instance in zip(part.visual_ids, instances, strict=True):
                named.setdefault(visual_id, instance)
    formulas = [named[visual_id] for visual_id in hits.ids]
    return FormulaHits(
        [formula for formula, _ in formulas],
        hits.scores,
        hits.ids,
        [post for _, post in formulas],
    )


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


def _split_ranks(
    rankings: list[Hits], ids: list[str], weights: Scores, fusion: Fusion
) -> Scores:
    place = {i: n for n, i in enumerate(ids)}
    shares = np.zeros((len(rankings), len(ids)))
    for row, weight, ranking in zip(shares, weights, rankings, strict=True):
        columns = [place[i] for i in ranking.ids]
        row[columns] = weight / (fusion.k + np.arange(1, len(columns) + 1))
    return shares


def _split_scored_ranks(
    rankings: list[Hits], ids: list[str], weights: Scores, fusion: Fusion
) -> Scores:
    shares = _split_ranks(rankings, ids, weights, fusion)
    # What a run did not return has no rank in it, whatever its score would be.
    return shares * _score_table(rankings, ids, fusion)


def _score_table(rankings: list[Hits], ids: list[str], fusion: Fusion) -> Scores:
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


def _split_weighted(
    rankings: list[Hits], ids: list[str], weights: Scores, fusion: Fusion
) -> Scores:
    shares: Scores = weights[:, None] * _score_table(rankings, ids, fusion)
    return shares / weights.sum()


def _split_max(
    rankings: list[Hits], ids: list[str], weights: Scores, fusion: Fusion
) -> Scores:
    table = _score_table(rankings, ids, fusion)
    shares = np.zeros_like(table)
    columns = np.arange(len(ids))
    best = table.argmax(0)
    shares[best, columns] = table[best, columns]
    return shares


def _split_f1(
    rankings: list[Hits], ids: list[str], weights: Scores, fusion: Fusion
) -> Scores:
    table = np.clip(_score_table(rankings, ids, fusion), 0.0, None)
    with np.errstate(divide="ignore"):
        shares: Scores = np.tile(1.0 / (1.0 / table).sum(0), (len(table), 1))
    return shares


_SPLIT: dict[str, Callable[[list[Hits], list[str], Scores, Fusion], Scores]] = {
    "rrf": _split_ranks,
    "score_rrf": _split_scored_ranks,
    "weighted": _split_weighted,
    "mean": _split_weighted,
    "max": _split_max,
    "f1": _split_f1,
}
"""(runs, ids) what each run adds to a score."""
