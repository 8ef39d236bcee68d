"""Topics dealt into folds, so that nothing is scored on what it was chosen by.

::

    topics    B.1  B.2  B.3  B.4  B.5  B.6        judged ones, in the order of their ids
    fold      0    1    2    0    1    2
    model 0   .    B.2  B.3  .    B.5  B.6        learns from these, serves B.1 and B.4
    model all B.1  B.2  B.3  B.4  B.5  B.6        serves topics without judgments
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from mathamr_kedro.base.types import TopicId

ALL = "all"
"""What was chosen by all judged topics."""
_HELD_OUT, _MOST_HELD_OUT = 0.05, 2560
"""Share, and greatest number, of the rows that are held out."""


def deal_topics(topics: Iterable[TopicId], folds: int) -> dict[TopicId, str]:
    """Return the fold of each topic.

    >>> deal_topics(["B.10", "B.9", "B.11"], 2)
    {'B.9': '0', 'B.10': '1', 'B.11': '0'}
    """
    ordered = sorted(set(topics), key=lambda topic: (len(topic), topic))
    return {topic: str(n % folds) for n, topic in enumerate(ordered)}


def hold_out(
    count: int, patience: int, seed: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the rows to learn from, and those that say when to stop.

    Args:
        count: of all rows.
        patience: 0: none is held out.
        seed: of the choice.
    """
    number = min(max(2, round(count * _HELD_OUT)), _MOST_HELD_OUT) if patience else 0
    rows = np.random.default_rng([seed, count]).permutation(count)
    return np.sort(rows[number:]), np.sort(rows[:number])
