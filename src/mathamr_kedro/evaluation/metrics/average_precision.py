"""Average precision, ``map`` of trec_eval.

With R documents of the topic relevant (grade at least ``relevant_from``):

    AP = (1 / R) Σ_{i: result i is relevant} P@i

MAP is its mean over topics; MAP' is the same after unjudged documents are removed.
"""

from __future__ import annotations

import numpy as np

from mathamr_kedro.evaluation.metrics.grades import GradeArray


def average_precision(
    grades: GradeArray, judged: GradeArray, relevant_from: int = 2
) -> float:
    """Score one topic; 0 if nothing is relevant.

    Args:
        grades: grades of the results, best rank first.
        judged: grades of all judged documents of the topic, in any order.
        relevant_from: lowest grade that counts as relevant (2 in ARQMath).

    >>> average_precision(np.array([3, 0, 2]), judged=np.array([3, 2, 2, 0]))
    0.5555555555555555
    """
    num_relevant = np.count_nonzero(judged >= relevant_from)
    if num_relevant == 0:
        return 0.0
    ranks = np.flatnonzero(grades >= relevant_from) + 1
    return float(np.sum(np.arange(1, ranks.size + 1) / ranks) / num_relevant)


def expected_average_precision(
    grades: GradeArray,
    judged: GradeArray,
    relevant_from: int = 2,
    depth: int | None = None,
) -> float:
    """Score that ``grades`` get on average in a random order, cut at ``depth``.

    With r relevant among n, rank i is relevant with probability r/n, and then each of
    the i - 1 results above it is relevant with probability (r - 1)/(n - 1):

        E[AP] = (1 / R) Σ_i (r/n) · (1 + (i - 1)(r - 1)/(n - 1)) / i
    """
    num_relevant = np.count_nonzero(judged >= relevant_from)
    r, n = np.count_nonzero(grades >= relevant_from), grades.size
    if num_relevant == 0 or r == 0:
        return 0.0
    i = np.arange(1, (n if depth is None else min(n, depth)) + 1)
    above = (i - 1) * (r - 1) / max(n - 1, 1)
    return float(np.sum((1 + above) / i) * r / n / num_relevant)
