"""When the posts of the sample were written, and the ids that follow from it.

In a Stack Exchange dump ids grow with time. Here a thread's time is drawn from its
key alone, and a post's id is counted from its time, so that new threads leave the ids
of the others as they are::

    2010-07-20        2014-03-02 14:20  question     id 48004
        |                 +3 h 10 min   answer       id 48008
        v                 +2 d 05 h     answer       id 48084
      id 1000
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import NamedTuple

from tools.sample.threads import Thread

START = datetime(2010, 7, 20)
END = datetime(2018, 12, 31, 23, 59)
TOPIC_START = datetime(2019, 3, 1)
"""Topics are later questions than every thread, as in ARQMath."""
FIRST_POST_ID = 1_000
FIRST_COMMENT_ID = 500_000
_MINUTES_PER_ID = 40


class ThreadTimes(NamedTuple):
    """Times of a question and of its answers, in their order."""

    question: datetime
    answers: tuple[datetime, ...]


def draw_times(threads: Iterable[Thread]) -> dict[str, ThreadTimes]:
    """Return the times of each thread by its key; a duplicate is later."""
    by_key = {thread.key: thread for thread in threads}
    return {key: _times_of(thread, by_key) for key, thread in by_key.items()}


def _times_of(thread: Thread, by_key: Mapping[str, Thread]) -> ThreadTimes:
    rng = random.Random(f"time/{thread.key}")
    earliest = START
    if thread.duplicate_of is not None:
        earliest = _times_of(by_key[thread.duplicate_of], by_key).question
    # Some months are kept free at the end, so that answers fall before it, too.
    span = (END - earliest) * 0.97
    question = earliest + span * rng.random()
    moment, answers = question, []
    for _ in thread.answers:
        moment += timedelta(minutes=rng.uniform(9, 200) * rng.choice((1, 1, 3, 20)))
        answers.append(min(moment, END))
    return ThreadTimes(question, tuple(answers))


def count_ids(times: Iterable[datetime], first: int = FIRST_POST_ID) -> list[int]:
    """Return an id for each time; ids are distinct and grow with time.

    >>> count_ids([datetime(2010, 7, 20, 10), datetime(2010, 7, 20, 9, 50)])
    [1015, 1014]
    >>> count_ids([datetime(2010, 7, 20, 10), datetime(2010, 7, 20, 10, 1)])
    [1015, 1016]
    """
    moments = list(times)
    ids, last = [0] * len(moments), 0
    for place in sorted(range(len(moments)), key=moments.__getitem__):
        minutes = (moments[place] - START) // timedelta(minutes=1)
        last = max(last + 1, first + minutes // _MINUTES_PER_ID)
        ids[place] = last
    return ids


def write_time(moment: datetime) -> str:
    """Return a time as the dumps write it.

    >>> write_time(datetime(2014, 3, 2, 14, 20, 5, 123456))
    '2014-03-02T14:20:05.123'
    """
    return moment.isoformat(timespec="milliseconds")
