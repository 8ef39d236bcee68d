r"""Two-stage ranking: candidates by structure, then structure and text together.

.. math::
    S_\text{final}(q, c) = \lambda \cos(f_q, f_c) + (1 - \lambda) \cos(t_q, t_c)
    \qquad (3)

where :math:`f` are vectors of structure and :math:`t` of the surrounding text. A visual
id has one structure and as many texts as instances; it counts by its best instance.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mathamr_kedro.base.arrays import spread_ranges
from mathamr_kedro.base.hits import FormulaHits, Hits
from mathamr_kedro.systems.ssemb.index import FormulaIndex

Scores = NDArray[np.float32]


class TwoStageRanking:
    """Ranks the formulas of an index for one query."""

    def __init__(self, index: FormulaIndex, candidates: int) -> None:
        self._index, self._candidates = index, candidates

    def rank(
        self,
        structure: Scores,
        texts: Scores | None,
        weight: float,
        depth: int,
    ) -> FormulaHits:
        """Return the best formulas, each visual id once.

        Args:
            structure: (V,) similarities of visual ids.
            texts: (T,) similarities of contexts; ``None``: structure decides alone.
            weight: lambda of Eq. 3.
            depth: how many.
        """
        chosen = _choose_best(structure, self._candidates)
        if texts is None:
            texts, weight = np.zeros(1, dtype=np.float32), 1.0
        index = self._index
        starts = index.ptr[chosen]
        sizes = index.ptr[chosen + 1] - starts
        rows = spread_ranges(starts, sizes)
        if not len(rows):
            return FormulaHits([], np.zeros(0), [], [])
        context = index.context[rows]
        semantic = np.where(context >= 0, texts[np.maximum(context, 0)], 0.0)
        final = weight * np.repeat(structure[chosen], sizes) + (1 - weight) * semantic
        first = np.cumsum(sizes) - sizes
        best = np.maximum.reduceat(final, first)
        kept = _choose_best(best, depth)
        spans = zip(first[kept], sizes[kept], strict=True)
        places = [start + int(final[start : start + n].argmax()) for start, n in spans]
        return self._name(rows[places], chosen[kept], best[kept]).top(depth)

    def _name(
        self, rows: NDArray[np.int64], visuals: NDArray[np.int64], scores: Scores
    ) -> FormulaHits:
        ids = list(self._index.formulas.take(rows))
        posts = dict(zip(ids, self._index.posts.take(rows), strict=True))
        names = dict(zip(ids, self._index.visuals.take(visuals), strict=True))
        hits = Hits.rank(ids, scores)
        return FormulaHits(
            hits.ids,
            hits.scores,
            [names[i] for i in hits.ids],
            [posts[i] for i in hits.ids],
        )


def _choose_best(scores: Scores, number: int) -> NDArray[np.int64]:
    """Return the places of the best scores, ascending, with all that tie the last."""
    if len(scores) <= number:
        return np.arange(len(scores))
    floor = np.partition(scores, -number)[-number]
    return np.flatnonzero(scores >= floor)
