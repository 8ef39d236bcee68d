"""One topic's results as an array of grades, and the prime filter.

```
rank        1    2    3    4    5
document    17   4    90   2    33
judged?     3    -    0    2    -        a grade, or no judgment
grades      3   -1    0    2   -1        what the measures read
prime       3         0    2             unjudged documents removed
```
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import repeat

import numpy as np
import numpy.typing as npt

from mathamr_kedro.base.types import Grade

GradeArray = npt.NDArray[np.int64]
"""Grades of documents, best rank first; :data:`UNJUDGED` if there is none."""

UNJUDGED = -1
"""Grade of a document without judgment; every measure counts it as not relevant."""


def look_up_grades(ids: Sequence[str], judged: Mapping[str, Grade]) -> GradeArray:
    """Return the grade of each document, or :data:`UNJUDGED`.

    >>> look_up_grades(["17", "4", "90"], {"17": 3, "90": 0})
    array([ 3, -1,  0])
    """
    found = map(judged.get, ids, repeat(UNJUDGED))
    return np.fromiter(found, dtype=np.int64, count=len(ids))


def remove_unjudged(grades: GradeArray) -> GradeArray:
    """Return the grades of judged documents in the same order (prime measures).

    >>> remove_unjudged(np.array([3, -1, 0, 2, -1]))
    array([3, 0, 2])
    """
    return grades[grades != UNJUDGED]


def sort_ideally(judged: GradeArray) -> GradeArray:
    """Return all judged grades of a topic in the best possible order."""
    return np.sort(judged)[::-1]
