"""Lines of progress: count, speed, time left."""

from __future__ import annotations

import logging
import re

import pytest

from mathamr_kedro.base import progress
from mathamr_kedro.base.progress import count_bytes, report_progress


class Clock:
    """Time that passes only where a test says so."""

    def __init__(self):
        self.now = 1000.0  # a process may have run for long

    def perf_counter(self):
        return self.now


@pytest.fixture
def clock(monkeypatch, caplog):
    caplog.set_level(logging.INFO, "mathamr_kedro.base.progress")
    clock = Clock()
    monkeypatch.setattr(progress, "time", clock)
    return clock


def run(clock, number, each, **options):
    for _ in report_progress(range(number), "posts", **options):
        clock.now += each


def test_a_total_gives_share_and_remaining_time(clock, caplog):
    run(clock, 720, 1 / 16, total=720)
    assert caplog.messages[0] == "posts: 160 of 720 (22 %), 16/s, 35 s left"
    assert caplog.messages[-1] == "posts: 720 in 45 s, 16/s"


@pytest.mark.parametrize(
    ("each", "rate"), [(0.4, "2.5/s"), (12.5, "12.5 s each"), (200, "3 min 20 s each")]
)
def test_what_is_slow_is_never_zero_per_second(clock, caplog, each, rate):
    run(clock, 40, each, total=40)
    assert all(rate in message for message in caplog.messages)
    assert not any(re.search(r"\b0/s", message) for message in caplog.messages)


def test_a_loop_that_had_a_line_ends_with_one(clock, caplog):
    run(clock, 8, 0.125, total=8, seconds=0.25)
    assert caplog.messages[0] == "posts: 2 of 8 (25 %), 8.0/s, 0.8 s left"
    assert caplog.messages[-1] == "posts: 8 in 1.0 s, 8.0/s"


def test_nothing_done_yet_is_said_in_words(clock, caplog):
    run(clock, 1, 20, total=9, size_of=lambda item: 0)
    assert caplog.messages[0] == "posts: 0 of 9 (0 %), none in 20 s"


def test_a_short_loop_ends_without_a_line(clock, caplog):
    run(clock, 9, 0.1, total=9)
    assert caplog.messages == []


def test_bytes_tell_how_far_it_is_where_no_total_is_known(clock, caplog):
    for _ in report_progress(range(4), "posts", total_bytes=1000):
        count_bytes(250)
        clock.now += 10
    assert caplog.messages[0] == (
        "posts: 1 so far, 25 % of the files, 10.0 s each, 30 s left"
    )


@pytest.mark.parametrize(("each", "lines"), [(0.4375, 0), (0.5, 1)])
def test_the_end_gets_a_line_after_two_seconds(clock, caplog, each, lines):
    run(clock, 4, each, total=4, seconds=60)
    assert len(caplog.messages) == lines


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"total": 0}, "1 of 0 (100 %)"),
        ({"total_bytes": 100}, "1 so far, 100 % of the files"),  # more than expected
        ({"total_bytes": 500}, "1 so far, 50 % of the files"),
        ({}, "1 so far"),
    ],
)
def test_the_share_is_that_of_the_total_or_of_the_bytes(clock, caplog, options, said):
    count_bytes(10_000)  # of an earlier loop
    for _ in report_progress(range(1), "posts", **options):
        count_bytes(250)
        clock.now += 10
    assert caplog.messages[0].startswith(f"posts: {said}, 10.0 s each")
