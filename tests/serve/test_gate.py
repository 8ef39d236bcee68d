"""One piece of work at a time: who waits, who is refused, and what ends."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import CancelledError

import pytest

pytest.importorskip("fastapi", reason="the extra serve is missing")
from fastapi import HTTPException

from mathamr_kedro.serve.gate import Gate
from tests.conftest import PATIENCE


class Work:
    """Ends when it is told to."""

    def __init__(self):
        self.begun, self.end = threading.Event(), threading.Event()

    def __call__(self):
        self.begun.set()
        assert self.end.wait(PATIENCE)
        return "done"


async def begin(gate, work):
    """Return the request whose work has begun."""
    request = asyncio.create_task(gate.run(work))
    while not work.begun.is_set():
        await asyncio.sleep(0.001)
    return request


def test_work_gives_its_result_and_its_errors():
    gate = Gate(0, PATIENCE)
    assert asyncio.run(gate.run(lambda: 7)) == 7
    with pytest.raises(ZeroDivisionError):
        asyncio.run(gate.run(lambda: 1 // 0))
    assert (gate.waiting, gate.refused, gate.given_up) == (0, 0, 0)


def test_as_many_wait_as_may_and_the_next_is_refused():
    gate, work = Gate(1, PATIENCE), Work()

    async def ask():
        first = await begin(gate, work)
        second = asyncio.create_task(gate.run(lambda: "later"))
        await asyncio.sleep(0)
        with pytest.raises(HTTPException) as refused:
            await gate.run(lambda: "never")
        assert refused.value.status_code == 429
        assert refused.value.detail.startswith("2 requests are waiting")
        assert (gate.waiting, gate.refused) == (2, 1)
        work.end.set()
        assert await first == "done" and await second == "later"

    asyncio.run(ask())
    assert (gate.waiting, gate.refused) == (0, 1)


def test_it_is_idle_before_and_after_work_but_not_meanwhile():
    gate, work = Gate(1, PATIENCE), Work()
    assert gate.is_idle(0)

    async def ask():
        first = await begin(gate, work)
        second = asyncio.create_task(gate.run(lambda: gate.is_idle(0)))
        assert not gate.is_idle(0)
        work.end.set()
        await first
        assert not await second  # another one was at work

    asyncio.run(ask())
    assert gate.is_idle(0)


def test_what_takes_too_long_is_given_up_and_counted():
    gate, work = Gate(0, 0.01), Work()

    async def ask():
        with pytest.raises(HTTPException) as late:
            await gate.run(work)
        assert late.value.status_code == 503
        assert "longer than 0.01 seconds" in late.value.detail

    asyncio.run(ask())
    work.end.set()
    assert (gate.given_up, gate.refused, gate.waiting) == (1, 0, 0)
    assert gate.is_idle(0)


def test_a_closed_gate_ends_who_waits_for_an_idle_moment():
    gate = Gate(0, PATIENCE)
    gate.close()
    with pytest.raises(CancelledError):
        gate.is_idle(0)


def test_closing_finishes_what_has_begun_and_drops_the_rest():
    gate, work, later = Gate(5, PATIENCE), Work(), []

    async def ask():
        first = await begin(gate, work)
        second = asyncio.create_task(gate.run(lambda: later.append("late")))
        await asyncio.sleep(0)
        threading.Timer(0.01, work.end.set).start()
        gate.close()
        assert work.end.is_set()
        assert await first == "done"
        with pytest.raises(asyncio.CancelledError):
            await second

    asyncio.run(ask())
    assert later == []
