r"""Scores by layout and by operators as one (section 4 of the paper).

With :math:`a` and :math:`b` the scores of a formula by Eq. 4, and :math:`r_a, r_b` its
ranks:

=======  ===========================================================
``max``  :math:`\max(a, b)`
``avg``  :math:`(a + b) / 2`
``f1``   :math:`2 a b / (a + b)`; 0 unless both are above 0
``rrf``  :math:`1 / (k + r_a) + 1 / (k + r_b)` (Cormack et al. 2009)
=======  ===========================================================
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from mathamr_kedro.base.hits import Hits
from mathamr_kedro.systems.formula_rgcn.config import Fusion

Scores = NDArray[np.float64]


def fuse_scores(
    lists: Sequence[Mapping[str, float]],
    ranked: Sequence[Sequence[str]],
    fusion: Fusion,
    k: int = 60,
) -> Hits:
    """Rank what any of some lists has.

    Args:
        lists: scores of all candidates by representation; one that lacks a candidate
            has no graph of it, which counts 0.
        ranked: what each representation found by itself, best first.
        fusion: see above.
        k: constant of ``rrf``.

    >>> both = [{"17": 3.0, "4": 1.0}, {"17": 1.0, "4": 2.5}]
    >>> fuse_scores(both, [["17", "4"], ["4", "17"]], "max").ids
    ['17', '4']
    >>> fuse_scores(both, [["17", "4"], ["4", "17"]], "f1").scores.round(3).tolist()
    [1.5, 1.429]
    """
    ids = list(dict.fromkeys(name for scores in lists for name in scores))
    if not ids:
        return Hits.rank([], [])
    if fusion == "rrf":
        return Hits.rank(ids, _sum_ranks(ids, ranked, k))
    table = np.array([[scores.get(name, 0.0) for name in ids] for scores in lists])
    if fusion == "max":
        return Hits.rank(ids, table.max(0))
    if fusion == "avg":
        return Hits.rank(ids, table.mean(0))
    inverse = 1.0 / np.where(table > 0, table, 1.0)
    harmonic = len(lists) / inverse.sum(0)
    return Hits.rank(ids, np.where((table > 0).all(0), harmonic, 0.0))


def _sum_ranks(ids: Sequence[str], ranked: Sequence[Sequence[str]], k: int) -> Scores:
    total = dict.fromkeys(ids, 0.0)
    for names in ranked:
        for rank, name in enumerate(names, start=1):
            total[name] += 1.0 / (k + rank)
    return np.array(list(total.values()))
