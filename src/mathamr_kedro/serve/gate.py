"""One search at a time: it keeps a processor busy, so requests wait in a queue."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from fastapi import HTTPException

_T = TypeVar("_T")


class Gate:
    """Runs work in a thread of its own, one piece after the other.

    The parser, the encoder and the index are used by one thread only; more at once
    would only make each slower. Several processes use several cores.

    Args:
        max_waiting: requests that may wait; the next one is refused (429).
        seconds: time for waiting and working; after that the request is given up
            (503), and its work is dropped if it has not begun.
    """

    def __init__(self, max_waiting: int, seconds: float) -> None:
        self._max_waiting, self._seconds = max_waiting, seconds
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="search")
        self.waiting = 0
        self.refused = 0
        self.given_up = 0

    async def run(self, work: Callable[[], _T]) -> _T:
        """Return what the work returns.

        Raises:
            HTTPException: 429, too many wait; 503, it took too long.
        """
        if self.waiting > self._max_waiting:
            self.refused += 1
            raise HTTPException(
                429,
                f"{self.waiting} requests are waiting already; try again in a second",
                {"Retry-After": "1"},
            )
        self.waiting += 1
        try:
            done = asyncio.wrap_future(self._thread.submit(work))
            return await asyncio.wait_for(done, self._seconds)
        except TimeoutError as exc:
            self.given_up += 1
            raise HTTPException(
                503,
                f"This took longer than {self._seconds:g} seconds; try again, or ask "
                "with a shorter question or another system",
                {"Retry-After": "5"},
            ) from exc
        finally:
            self.waiting -= 1

    def close(self) -> None:
        """Finish the work that has begun; drop the rest."""
        self._thread.shutdown(wait=True, cancel_futures=True)
