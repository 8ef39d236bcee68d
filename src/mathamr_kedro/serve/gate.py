"""A queue for one search at a time, which keeps a processor busy."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from fastapi import HTTPException

from mathamr_kedro.serve.metrics import Metrics

_T = TypeVar("_T")


class Gate:
    """Runs work in a thread of its own, one piece after the other.

    The parser, the encoder and the index are used by one thread only; more at once
    would only make each slower. Several processes use several cores.

    Args:
        max_waiting: requests that may work or wait; the next one is refused (503).
        seconds: time for waiting and working; after that the request is given up
            (503), and its work is dropped if it has not begun.
        metrics: where it counts.
    """

    def __init__(self, max_waiting: int, seconds: float, metrics: Metrics) -> None:
        self._max_waiting, self._seconds = max_waiting, seconds
        self._metrics = metrics
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="search")
        self.waiting = 0

    async def run(self, work: Callable[[], _T], writes: bool = False) -> _T:
        """Run work and return its result.

        Args:
            work: what to do.
            writes: whether it changes something: then its end is awaited once it has
                begun, so that the answer tells the outcome.

        Raises:
            HTTPException: 503, too many wait, or it took too long.
        """
        if self.waiting >= self._max_waiting:
            self._metrics.refused.inc()
            raise HTTPException(
                503,
                f"{self.waiting} requests are waiting already; try again in a second",
                {"Retry-After": "1"},
            )
        self._note_waiting(1)
        try:
            begun = self._thread.submit(work)
            done = asyncio.wrap_future(begun)
            await asyncio.wait({done}, timeout=self._seconds)
            if not done.done() and (begun.cancel() or not writes):
                done.cancel()
                self._metrics.late.inc()
                raise HTTPException(
                    503,
                    f"This took longer than {self._seconds:g} seconds; try again, or "
                    "ask with a shorter question or another system"
                    + ("; nothing was changed" if writes else ""),
                    {"Retry-After": "5"},
                )
            return await done
        finally:
            self._note_waiting(-1)

    def _note_waiting(self, change: int) -> None:
        self.waiting += change
        self._metrics.waiting.set(self.waiting)

    def close(self) -> None:
        """Finish the current work; drop the rest."""
        self._thread.shutdown(wait=True, cancel_futures=True)
