"""Reciprocal rank of the first relevant result, ``recip_rank`` of trec_eval.

    RR = 1 / rank of the first relevant result, 0 if there is none

MRR is its mean over topics; MRR@k looks at the first k results only (MS MARCO).
"""

from __future__ import annotations

import numpy as np

from mathamr_kedro.evaluation.metrics.grades import GradeArray


def reciprocal_rank(
    grades: GradeArray, k: int | None = None, relevant_from: int = 2
) -> float:
    """Score one topic.

    Args:
        grades: grades of the results, best rank first.
        k: cut-off; all results when absent.
        relevant_from: lowest grade that counts as relevant (2 in ARQMath).

    >>> reciprocal_rank(np.array([0, -1, 3, 2]))
    0.3333333333333333
    """
    places = np.flatnonzero(grades[:k] >= relevant_from)
    return 1.0 / (int(places[0]) + 1) if places.size else 0.0


def expected_reciprocal_rank(
    grades: GradeArray,
    k: int | None = None,
    relevant_from: int = 2,
    depth: int | None = None,
) -> float:
    """Score that ``grades`` get on average in a random order, cut at ``depth``.

    With r relevant among n, the first one has rank i with the probability that the
    i - 1 before it are not relevant, and it is:

        P(i) = r / (n - i + 1) · Π_{j < i} (1 - r / (n - j + 1))
    """
    r, n = int(np.count_nonzero(grades >= relevant_from)), grades.size
    if r == 0:
        return 0.0
    seen = min(m for m in (n - r + 1, k, depth) if m is not None)
    ranks = np.arange(1, seen + 1)
    hit = r / (n - ranks + 1)
    before = np.concatenate(([1.0], np.cumprod(1 - hit)[:-1]))
    return float(np.sum(before * hit / ranks))
