"""Normalised discounted cumulative gain, ``ndcg`` of trec_eval.

Järvelin and Kekäläinen 2002; with gain = grade and a logarithmic discount:

    DCG@k = Σ_{i=1..k} grade_i / log2(i + 1)        nDCG@k = DCG@k / DCG@k(ideal order)

The ideal order holds *all* judged documents of the topic, returned or not. nDCG' is the
same after unjudged documents are removed.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from mathamr_kedro.evaluation.metrics.grades import GradeArray, sort_ideally


def ndcg(grades: GradeArray, judged: GradeArray, k: int | None = None) -> float:
    """Score one topic; 0 if nothing is relevant.

    Args:
        grades: grades of the results, best rank first.
        judged: grades of all judged documents of the topic, in any order.
        k: cut-off; all results when absent.

    >>> ndcg(np.array([0, 3]), judged=np.array([3, 0]))  # 1 / log2(3)
    0.6309297535714575
    """
    ideal = _dcg(sort_ideally(judged), k)
    return _dcg(grades, k) / ideal if ideal > 0 else 0.0


def expected_ndcg(
    grades: GradeArray,
    judged: GradeArray,
    k: int | None = None,
    depth: int | None = None,
) -> float:
    """Score that ``grades`` get on average in a random order, cut at ``depth``.

    Each rank then holds the mean gain: E[DCG@k] = mean gain · Σ_{i≤k} 1 / log2(i + 1).
    """
    ideal = _dcg(sort_ideally(judged), k)
    if ideal <= 0 or grades.size == 0:
        return 0.0
    ranks = min(n for n in (grades.size, k, depth) if n is not None)
    return float(_gains(grades).mean() * _discounts(ranks).sum() / ideal)


def _dcg(grades: GradeArray, k: int | None) -> float:
    gains = _gains(grades[:k])
    return float(gains @ _discounts(gains.size))


def _gains(grades: GradeArray) -> npt.NDArray[np.float64]:
    return np.maximum(grades, 0).astype(np.float64)


@lru_cache(maxsize=1024)
def _discounts(count: int) -> npt.NDArray[np.float64]:
    discounts = 1.0 / np.log2(np.arange(2, count + 2, dtype=np.float64))
    discounts.setflags(write=False)
    return discounts
