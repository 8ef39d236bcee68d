r"""Fusions: a system made of systems, and several runs fused into one.

Two lists for a query, and what each fusion makes of them (scores scaled to 0 ... 1)::

    list A        list B         rrf (k = 60)        mean          f1
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

Scores of a query are scaled to 0 ... 1 by its best and worst,
so that cosines and BM25 go together; what a list does not have counts 0 there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mathamr_kedro.base.errors import ConfigurationError
from mathamr_kedro.base.hits import FormulaHits, Hits
from mathamr_kedro.base.parameters import check_range
from mathamr_kedro.base.types import FormulaId, PostId, TopicId
from mathamr_kedro.evaluation.metrics import sort_as_trec_eval
from mathamr_kedro.systems.base import Collection, Index, PostTypes, System
from mathamr_kedro.systems.found import Found
from mathamr_kedro.systems.query import Query, Target
from mathamr_kedro.trec import Run

if TYPE_CHECKING:
    from mathamr_kedro.systems.rankings import Ranking

FusionMethod: TypeAlias = Literal["rrf", "score_rrf", "weighted", "mean", "max", "f1"]
Scores: TypeAlias = NDArray[np.float64]

WEIGHTED: tuple[FusionMethod, ...] = ("rrf", "score_rrf", "weighted")
"""Methods that weights are for: what a list adds grows with its weight."""

RANK_CONSTANT = 60
"""The ``k`` of ``rrf`` and ``score_rrf``, as in their papers."""
WEIGHT_STEPS = 4
"""Cross-validated weights are multiples of 1 / 4, and sum to 1."""


@dataclass(frozen=True)
class Fusion(System):
    """A system made of others: how their lists are fused."""

    method: FusionMethod = "rrf"
    weights: tuple[float, ...] = ()
    """One for each system, for methods of :data:`WEIGHTED`; equal if empty."""
    depth: int = 1000
    name: str = ""
    of: tuple[str, ...] = ()
    """Systems, or fusions before this one."""
    folds: int = 0
    """Cross-validated weights: judged topics are dealt into so many parts, each fused
    with the weights that are best on the others; 0: the weights as they are given."""

    # No annotations: they are no parameters.
    finds = frozenset[Target]({"posts", "formulas"})
    index_reads = ()

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
        check_range(self, "depth", least=1)
        if self.folds and self.folds < 2:
            raise ConfigurationError(
                f"Expected folds of at least 2 for the fusion {self.name!r} (got "
                f"{self.folds!r})"
            )
        if self.folds and (self.weights or self.method not in WEIGHTED):
            raise ConfigurationError(
                f"Expected a method of {list(WEIGHTED)} and no weights beside folds, "
                f"which choose them, for the fusion {self.name!r} (got "
                f"{self.method!r}, {self.weights!r})"
            )
        if self.of and self.weights and len(self.weights) != len(self.of):
            raise ConfigurationError(
                f"Expected {len(self.of)} weights, one for each system of the fusion "
                f"{self.name!r} (got {self.weights!r})"
            )

    def index(self, data: Collection, model: Path, folder: Path) -> Mapping[str, Any]:
        """Write nothing: its parts have indexes."""
        return {"bytes": 0}

    def open(self, data: Collection, model: Path, folder: Path) -> FusedIndex:
        """Return its parts, to be asked together."""
        if data.rankings is None:
            raise ConfigurationError(
                f"Expected the rankings that {self.name!r} fuses (got none)"
            )
        return FusedIndex(self, [data.rankings(name) for name in self.of])

    def fuse(self, lists: Sequence[Hits]) -> Hits:
        """Fuse the lists of one query, an empty one if a system has found nothing.

        Formulas are fused by their visual ids; the first list that has a visual id
        names its formula.
        """
        shares = self.split(lists)
        scores = (float(parts.sum()) for parts in shares.values())
        hits = Hits.rank(shares, scores).top(self.depth)
        return _name_formulas(hits, lists)

    def split(self, lists: Sequence[Hits]) -> dict[str, Scores]:
        """Return what each list adds to the score of each document: their sum is it.

        A harmonic mean is no sum; there, all lists have an equal share.
        """
        if self.weights and len(self.weights) != len(lists):
            raise ConfigurationError(
                f"Expected {len(lists)} weights, one for each run (got "
                f"{self.weights!r})"
            )
        weights = np.array(self.weights or (1.0,) * len(lists))
        rankings = [
            sort_as_trec_eval(Hits(hits.judged_ids, hits.scores)) for hits in lists
        ]
        ids = list(dict.fromkeys(i for hits in rankings for i in hits.ids))
        return dict(zip(ids, self._share(rankings, ids, weights).T, strict=True))

    def _share(
        self, rankings: Sequence[Hits], ids: Sequence[str], weights: Scores
    ) -> Scores:
        """(runs, ids) what each run adds to a score."""
        place = {i: n for n, i in enumerate(ids)}
        ranks, table = np.zeros((2, len(rankings), len(ids)))
        for row, found in enumerate(rankings):
            columns = [place[i] for i in found.ids]
            ranks[row, columns] = weights[row] / (
                RANK_CONSTANT + np.arange(1, len(columns) + 1)
            )
            if columns:
                low, high = found.scores.min(), found.scores.max()
                span = high - low
                table[row, columns] = (found.scores - low) / span if span else 1.0
        match self.method:
            case "rrf":
                return ranks
            case "score_rrf":
                # What a run did not return has no rank, whatever its score would be.
                return ranks * table
            case "max":
                is_best = np.arange(len(table))[:, None] == table.argmax(0)
                return np.where(is_best, table, 0.0)
            case "f1":
                with np.errstate(divide="ignore"):
                    mean = 1.0 / (1.0 / np.clip(table, 0.0, None)).sum(0)
                return np.tile(mean, (len(table), 1))
        shares: Scores = weights[:, None] * table
        return shares / weights.sum()


class FusedIndex(Index):
    """Asks the parts of a fusion and fuses what they find."""

    def __init__(self, fusion: Fusion, parts: Sequence[Ranking]) -> None:
        self._fusion, self._parts = fusion, parts

    def list_rankings(self, target: Target) -> Sequence[str]:
        """Return its one name, if all parts find such things."""
        is_whole = all(target in part.finds for part in self._parts)
        return [self._fusion.name] if is_whole else []

    def rank(
        self,
        queries: Sequence[Query],
        depth: int,
        ranking: str | None = None,
        types: PostTypes = None,
    ) -> Sequence[Hits]:
        """Return the fused list of each query."""
        name = ranking or self._fusion.name
        return [self.find(query, depth, name, types).hits for query in queries]

    def find(
        self, query: Query, depth: int, ranking: str, types: PostTypes = None
    ) -> Found:
        """Return the fused list of a query, with those it was made of.

        Scores are scaled by the ends of the lists: all are as deep as usual, or as
        ``depth`` says if that is more.
        """
        deeper = depth if depth > self._fusion.depth else 0
        parts = tuple(part.find(query, types, deeper) for part in self._parts)
        lists = [part.hits for part in parts]
        fusion = replace(self._fusion, depth=max(depth, self._fusion.depth))
        split = partial(fusion.split, lists)
        return Found(ranking, query, fusion.fuse(lists), parts=parts, split=split)


def fuse_runs(runs: Sequence[Run], fusion: Fusion, name: str | None = None) -> Run:
    """Fuse runs; topics are those of any of them.

    Raises:
        ConfigurationError: there is no run, weights do not fit, or runs of formula
            instances and of other ids are mixed.
    """
    if not runs:
        raise ConfigurationError("Expected at least one run to fuse (got none)")
    if len({run.holds_instances for run in runs}) > 1:
        raise ConfigurationError(
            "Expected runs of one kind of id; formula instances and other ids cannot "
            "be fused"
        )
    nothing = Hits([], np.zeros(0))
    fused: dict[TopicId, Hits] = {
        topic: fusion.fuse([run.lists.get(topic, nothing) for run in runs])
        for topic in dict.fromkeys(topic for run in runs for topic in run.lists)
    }
    return Run(
        fusion.name if name is None else name,
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


def _name_formulas(hits: Hits, lists: Sequence[Hits]) -> Hits:
    """Let the first list that has a visual id name its formula."""
    parts = [part for part in lists if len(part) or isinstance(part, FormulaHits)]
    if not parts or not all(isinstance(part, FormulaHits) for part in parts):
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
