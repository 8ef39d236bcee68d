"""Functions that workers of the tests run; they must be importable in a new process."""

from __future__ import annotations

import logging
import os
import signal
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from mathamr_kedro.base.errors import MissingInputError
from mathamr_kedro.base.workers import current_slot


def square(numbers: Sequence[int]) -> list[int]:
    return [number**2 for number in numbers]


class Obey:
    """Does what the items say; keeps a note of every batch in a folder."""

    def __init__(self, notes: Path | None = None) -> None:
        self.notes = notes

    def prepare(self) -> None:
        self.greeting = "done"

    def __call__(self, orders: Sequence[str]) -> list[str]:
        for order in orders:
            self._note(order)
            if order.startswith("kill"):
                os.kill(os.getpid(), signal.SIGKILL)
            if order.startswith("exit"):
                os._exit(3)
            if order.startswith("hang"):
                time.sleep(600)
            if order.startswith("raise"):
                raise MemoryError(order)
            if order.startswith("missing"):
                raise MissingInputError("No model; install one")
            if order.startswith("once") and not self._first(order):
                os.kill(os.getpid(), signal.SIGKILL)
        if "short" in orders:
            return []
        return [f"{self.greeting} {order}" for order in orders]

    def _first(self, order: str) -> bool:
        """Tell whether the order was met before."""
        assert self.notes is not None
        mark = self.notes / f"met {order}"
        if mark.exists():
            return True
        mark.touch()
        return False

    def _note(self, order: str) -> None:
        if self.notes is not None:
            name = f"{os.getpid()} {current_slot()} {order} {time.monotonic_ns()}"
            (self.notes / name).touch()


def linger(numbers: Sequence[int]) -> list[tuple[int, int]]:
    """Take a moment; tell who did the work."""
    time.sleep(0.05 * len(numbers))
    return [(number, os.getpid()) for number in numbers]


def grow(numbers: Sequence[int]) -> list[np.ndarray]:
    """Return 24 MB for each number."""
    return [np.full(24 * 2**20, number, dtype=np.uint8) for number in numbers]


class FailsToStart:
    def prepare(self) -> None:
        os._exit(9)

    def __call__(self, items: Sequence[int]) -> Sequence[int]:
        return items


class RaisesAtStart(FailsToStart):
    def prepare(self) -> None:
        raise MissingInputError("No model; install one")


class SleepsAtStart(FailsToStart):
    def prepare(self) -> None:
        time.sleep(600)


def describe(items: Sequence[str]) -> list[tuple[object, ...]]:
    """Tell what this process is like; say something in its log."""
    logging.getLogger("work").warning("here is %s", items[0])
    ignores = signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    return [(os.environ.get("OMP_NUM_THREADS"), ignores, current_slot())] * len(items)


def unpicklable(items: Sequence[int]) -> list[object]:
    return [lambda: None for _ in items]
