"""Binary preference, ``bpref`` of trec_eval (Buckley and Voorhees 2004).

With R relevant and N judged non-relevant documents of the topic, and S_k the number of
judged non-relevant results above the relevant result k:

    Bpref = (1 / R) Σ_k (1 - min(S_k, R) / min(R, N))

Unjudged results are passed over. The thesis (Figure 2.3) writes R in place of
min(R, N); trec_eval, whose figures ARQMath publishes, has the minimum.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from mathamr_kedro.evaluation.metrics.grades import UNJUDGED, GradeArray


def bpref(grades: GradeArray, judged: GradeArray, relevant_from: int = 2) -> float:
    """Score one topic; 0 if nothing is relevant.

    Args:
        grades: grades of the results, best rank first.
        judged: grades of all judged documents of the topic, in any order.
        relevant_from: lowest grade that counts as relevant (2 in ARQMath).

    >>> bpref(np.array([3, 0, -1, 2]), judged=np.array([3, 2, 0, 0]))  # (1 + 1/2) / 2
    0.75
    """
    num_relevant, num_others = _count(judged, relevant_from)
    if num_relevant == 0:
        return 0.0
    relevant = grades >= relevant_from
    others_above = np.cumsum((grades != UNJUDGED) & ~relevant)[relevant]
    kept = _preferences(others_above, num_relevant, num_others)
    return float(kept.sum() / num_relevant)


def expected_bpref(
    grades: GradeArray,
    judged: GradeArray,
    relevant_from: int = 2,
    depth: int | None = None,
) -> float:
    """Score that ``grades`` get on average in a random order, cut at ``depth``.

    With n non-relevant results in the list, a relevant one has 0, 1, ... or n of them
    above it, each with the same probability 1 / (n + 1).
    """
    num_relevant, num_others = _count(judged, relevant_from)
    r, n = _count(grades, relevant_from)
    if num_relevant == 0 or r == 0:
        return 0.0
    if depth is not None and depth < r + n:
        weights = _weights_of_cut_list(r, n, depth)
    else:
        weights = np.full(n + 1, r / (n + 1))
    above = np.arange(weights.size)
    kept = _preferences(above, num_relevant, num_others)
    return float(weights @ kept / num_relevant)


def _count(grades: GradeArray, relevant_from: int) -> tuple[int, int]:
    num_judged = np.count_nonzero(grades != UNJUDGED)
    num_relevant = np.count_nonzero(grades >= relevant_from)
    return int(num_relevant), int(num_judged - num_relevant)


def _preferences(
    others_above: npt.NDArray[np.int64], num_relevant: int, num_others: int
) -> npt.NDArray[np.float64]:
    # Without judged non-relevant documents nothing is above: every term is 1.
    max_others = max(min(num_relevant, num_others), 1)
    return 1.0 - np.minimum(others_above, num_relevant) / max_others


def _weights_of_cut_list(r: int, n: int, depth: int) -> npt.NDArray[np.float64]:
    """Return the expected number of relevant results with s others above, within depth.

    A relevant result with s others and t relevant ones above has rank s + t + 1, and
    the number of random orders that put it there is C(s + t, s) · C(rest, n - s).
    """
    # Logarithms, as the numbers of orders overflow.
    log_factorial = np.concatenate(([0.0], np.cumsum(np.log(np.arange(1, r + n + 1)))))

    def log_choose(total: npt.NDArray[np.int64], part: npt.NDArray[np.int64]):
        return log_factorial[total] - log_factorial[part] - log_factorial[total - part]

    s = np.arange(min(n, depth - 1) + 1)[:, None]
    t = np.arange(min(r, depth))[None, :]
    rest = (r - 1 - t) + (n - s)
    log_orders = log_choose(s + t, s) + log_choose(rest, n - s)
    log_all = log_choose(np.array(r + n), np.array(n))
    return np.where(s + t < depth, np.exp(log_orders - log_all), 0.0).sum(axis=1)
