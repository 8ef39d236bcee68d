"""Times drawn from keys, ids counted from times."""

from __future__ import annotations

from datetime import datetime, timedelta

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tools.sample.threads import Answer, Thread
from tools.sample.timeline import END, START, count_ids, draw_times


def _thread(key: str, duplicate_of: str | None = None) -> Thread:
    answers = (Answer("a"), Answer("b"), Answer("c"))
    return Thread(key, "t", "q", ("tag",), answers, duplicate_of=duplicate_of)


def test_answers_follow_their_question_within_the_years_of_the_dump():
    for number in range(300):
        thread = _thread(f"area/t{number}")
        times = draw_times([thread])[thread.key]
        moments = [times.question, *times.answers]
        assert START <= moments[0] and moments[-1] <= END
        assert moments == sorted(moments)


def test_a_new_thread_leaves_the_times_of_the_others():
    one, two = _thread("area/one"), _thread("area/two")
    assert draw_times([one])["area/one"] == draw_times([two, one])["area/one"]


def test_a_duplicate_is_later_than_what_it_duplicates():
    for number in range(100):
        first = _thread(f"area/t{number}")
        second = _thread(f"area/u{number}", duplicate_of=first.key)
        times = draw_times([second, first])
        assert times[second.key].question > times[first.key].question


# A busy machine is slow to draw the first examples, which is no fault of ours.
@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.integers(0, 5000), max_size=60))
def test_ids_are_distinct_and_grow_with_time(minutes):
    moments = [datetime(2012, 1, 1) + timedelta(minutes=m) for m in minutes]
    ids = count_ids(moments)
    assert len(set(ids)) == len(ids)
    in_time = [i for _, i in sorted(zip(moments, ids, strict=True))]
    assert in_time == sorted(in_time)
