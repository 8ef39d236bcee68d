"""Reciprocal rank, ``recip_rank`` of trec_eval; its mean over topics is MRR.

RR = 1 / rank of the first relevant result
"""

from __future__ import annotations

import numpy as np

from mathamr_kedro.metrics.grades import GradeArray, Kernel


def _score(grades: GradeArray, relevant_from: int = 2, k: int | None = None) -> float:
    """Score one topic; 0 where no result, or none of the first k, is relevant.

    Args:
        grades: grades of the results, best rank first.
        relevant_from: lowest grade that counts as relevant (2 in ARQMath).
        k: cut-off.

    >>> _score(np.array([0, 1, 3, 2]))
    0.3333333333333333
    """
    places = np.flatnonzero(grades[:k] >= relevant_from)
    return 1.0 / (int(places[0]) + 1) if places.size else 0.0


def _expect(
    grades: GradeArray,
    relevant_from: int = 2,
    k: int | None = None,
    depth: int | None = None,
) -> float:
    r"""Score that ``grades`` get on average in a random order, cut at ``depth``.

    The first of m relevant among n results stands at rank r with the probability
    :math:`\frac{m}{n-r+1} \prod_{i<r} \left(1 - \frac{m}{n-i+1}\right)`.
    """
    relevant = int(np.count_nonzero(grades >= relevant_from))
    seen = min(n for n in (grades.size, k, depth) if n is not None)
    expected, none_yet = 0.0, 1.0
    for rank in range(1, seen + 1):
        here = min(1.0, relevant / (grades.size - rank + 1))
        expected += none_yet * here / rank
        none_yet *= 1.0 - here
    return expected


RECIPROCAL_RANK = Kernel(_score, _expect)
