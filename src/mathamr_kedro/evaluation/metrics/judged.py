"""How much of a ranking has been judged at all.

    judged@k = |judged results in the top k| / |results in the top k|

A prime measure of a run with a low judged@10 rests on few documents.
"""

from __future__ import annotations

import numpy as np

from mathamr_kedro.evaluation.metrics.grades import UNJUDGED, GradeArray


def judged_at(grades: GradeArray, k: int) -> float:
    """Return judged@k of one topic; 0 if nothing came back.

    >>> judged_at(np.array([3, -1, 0, 2, -1]), k=2)
    0.5
    """
    top = grades[:k]
    return int(np.count_nonzero(top != UNJUDGED)) / top.size if top.size else 0.0


def expected_judged_at(grades: GradeArray) -> float:
    """Return judged@k that ``grades`` get on average in a random order, for any k."""
    return judged_at(grades, grades.size)
