"""Recall at a cut-off, ``recall`` of trec_eval.

recall@k = |relevant results in the top k| / R
"""

from __future__ import annotations

import numpy as np

from mathamr_kedro.evaluation.metrics.grades import GradeArray


def recall_at(
    grades: GradeArray, judged: GradeArray, k: int, relevant_from: int = 2
) -> float:
    """Score one topic; 0 if nothing is relevant.

    Args:
        grades: grades of the results, best rank first.
        judged: grades of all judged documents of the topic, in any order.
        k: cut-off.
        relevant_from: lowest grade that counts as relevant (2 in ARQMath).

    >>> recall_at(np.array([3, 0, 2]), judged=np.array([3, 2, 2, 2, 0]), k=1)
    0.25
    """
    num_relevant = int(np.count_nonzero(judged >= relevant_from))
    found = int(np.count_nonzero(grades[:k] >= relevant_from))
    return found / num_relevant if num_relevant else 0.0


def expected_recall_at(
    grades: GradeArray,
    judged: GradeArray,
    k: int,
    relevant_from: int = 2,
    depth: int | None = None,
) -> float:
    """Score that ``grades`` get on average in a random order, cut at ``depth``."""
    num_relevant = int(np.count_nonzero(judged >= relevant_from))
    if num_relevant == 0 or grades.size == 0:
        return 0.0
    seen = min(n for n in (grades.size, k, depth) if n is not None)
    found = int(np.count_nonzero(grades >= relevant_from)) * seen / grades.size
    return found / num_relevant
