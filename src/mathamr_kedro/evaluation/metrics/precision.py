"""Precision at a cut-off, ``P`` of trec_eval.

    P@k = |relevant results in the top k| / k

The divisor is k even if fewer results came back. P'@k is the same after unjudged
documents are removed, so that k *judged* results are looked at.
"""

from __future__ import annotations

import numpy as np

from mathamr_kedro.evaluation.metrics.grades import GradeArray


def precision_at(grades: GradeArray, k: int, relevant_from: int = 2) -> float:
    """Score one topic.

    Args:
        grades: grades of the results, best rank first.
        k: cut-off.
        relevant_from: lowest grade that counts as relevant (2 in ARQMath).

    >>> precision_at(np.array([3, 0, 2]), k=10)
    0.2
    """
    return int(np.count_nonzero(grades[:k] >= relevant_from)) / k


def expected_precision_at(
    grades: GradeArray, k: int, relevant_from: int = 2, depth: int | None = None
) -> float:
    """Score that ``grades`` get on average in a random order, cut at ``depth``."""
    if grades.size == 0:
        return 0.0
    seen = min(n for n in (grades.size, k, depth) if n is not None)
    share = int(np.count_nonzero(grades >= relevant_from)) / grades.size
    return share * seen / k
