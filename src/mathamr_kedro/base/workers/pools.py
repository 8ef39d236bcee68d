"""What runs batches: this process itself, or processes of this machine.

A pool has slots; each slot holds one worker, started when there is work for it. The
pool tells what happened as events, and knows nothing of partitions or retries.
"""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from multiprocessing.connection import Connection, Pipe, wait
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from mathamr_kedro.base.workers.job import Event, Function, Job, WorkerConfig

logger = logging.getLogger(__name__)

_CHILD = Path(__file__).with_name("child.py")


class Pool(Protocol):
    """Slots that run batches."""

    def start(self, slot: int) -> bool:
        """Start the worker of an empty slot, which will be ``ready`` for batches.

        Returns:
            Whether it has its place; one that waits for a place is ``placed`` later.
        """
        ...

    def submit(self, slot: int, batch: Sequence[Any]) -> None:
        """Give a batch to a worker that is ready and idle."""
        ...

    def wait(self, timeout: float | None) -> list[tuple[int, Event]]:
        """Wait for events, at most ``timeout`` seconds, and return them."""
        ...

    def stop(self, slot: int) -> None:
        """End the worker of a slot at once, if it has one."""
        ...

    def close(self) -> None:
        """End all workers."""
        ...


def make_pool(function: Function, config: WorkerConfig) -> Pool:
    """Make the pool that a configuration asks for."""
    if config.runner == "ray":
        # Ray is an optional extra, imported by who asks for it.
        from mathamr_kedro.base.workers.ray_pool import RayPool  # noqa: PLC0415

        return RayPool(function, config.ray)
    if config.workers == 1:
        return _InProcessPool(function)
    return _ProcessPool(function)


class _InProcessPool:
    """One slot, run by the caller's own process: no isolation, no start-up time."""

    def __init__(self, function: Function) -> None:
        self._function = function
        self._batch: Sequence[Any] | None = None
        self._job: Job | None = None

    def start(self, slot: int) -> bool:
        """Do nothing: this process prepares when a result is awaited."""
        return True

    def submit(self, slot: int, batch: Sequence[Any]) -> None:
        """Keep the batch until its result is awaited."""
        self._batch = batch

    def wait(self, timeout: float | None) -> list[tuple[int, Event]]:
        """Run the batch."""
        if self._job is None:
            self._job = Job(self._function, slot=0)
            return [(0, self._job.prepare())]
        batch, self._batch = self._batch, None
        return [(0, self._job.call(batch))] if batch is not None else []

    def stop(self, slot: int) -> None:
        """Prepare the function again at the next start."""
        self._job = None

    def close(self) -> None:
        """There is no worker to end."""


class _Worker(NamedTuple):
    process: subprocess.Popen[bytes]
    connection: Connection
    alive: int
    """Open file whose end tells the worker that we are gone."""

    def kill(self) -> None:
        """Kill the process if it still runs, and close its pipes."""
        self.process.kill()
        self.process.wait()
        self.connection.close()
        os.close(self.alive)


class _ProcessPool:
    """Processes of this machine, each at the other end of a pipe.

    They are new programs, so they share no lock, GPU context or thread with the caller,
    and they end themselves when the caller dies, however that happens. The pools of the
    standard library cannot replace it: ``concurrent.futures`` gives up as a whole when
    a process dies, ``multiprocessing.Pool`` waits for its answer forever, and neither
    ends a task that hangs.
    """

    def __init__(self, function: Function) -> None:
        self._function = function
        self._workers: dict[int, _Worker] = {}
        self._busy: set[int] = set()

    def start(self, slot: int) -> bool:
        """Start a process, and send it what it needs before the first batch."""
        self._busy.add(slot)
        self._workers[slot] = _start_worker(slot)
        self._send(slot, sys.path)
        self._send(slot, self._function)
        return True

    def submit(self, slot: int, batch: Sequence[Any]) -> None:
        """Send the batch."""
        self._busy.add(slot)
        self._send(slot, batch)

    def wait(self, timeout: float | None) -> list[tuple[int, Event]]:
        """Return the events of the workers that have reported."""
        # A dead worker closes its pipe, which makes the connection ready, too.
        slots = {w.connection: slot for slot, w in self._workers.items()}
        ready = wait(list(slots), timeout)
        return [(slots[c], self._receive(slots[c])) for c in ready]  # type: ignore[index]

    def stop(self, slot: int) -> None:
        """Kill the worker of a slot."""
        if slot in self._workers:
            self._workers.pop(slot).kill()

    def close(self) -> None:
        """End all: the idle ones by closing their pipe, the busy ones by a signal."""
        # Idle workers end by themselves, so that what they hold (a model, a subprocess)
        # is closed properly; busy ones would first finish their batch.
        idle = [w for slot, w in self._workers.items() if slot not in self._busy]
        for worker in idle:
            worker.connection.close()
        for worker in idle:
            with contextlib.suppress(subprocess.TimeoutExpired):
                worker.process.wait(timeout=10)
        for slot in list(self._workers):
            self.stop(slot)

    def _send(self, slot: int, message: Any) -> None:
        try:
            self._workers[slot].connection.send(message)
        except OSError:
            # It died since its last answer; waiting for its answer will tell.
            logger.debug("worker %d is gone", slot)

    def _receive(self, slot: int) -> Event:
        worker = self._workers[slot]
        try:
            event: Event = worker.connection.recv()
        except (EOFError, OSError):
            # The pipe closes a little before the process has an exit code.
            with contextlib.suppress(subprocess.TimeoutExpired):
                worker.process.wait(timeout=10)
            code = worker.process.poll()
            self.stop(slot)
            return Event("died", _describe_exit(code))
        self._busy.discard(slot)
        return event


def _start_worker(slot: int) -> _Worker:
    ours, theirs = Pipe()
    # Nothing is written to this pipe: its end is closed by the system whenever this
    # process dies, which is what the worker waits for.
    end, alive = os.pipe()
    files = (theirs.fileno(), end)
    # -P: a module of the current folder must not shadow one of the library.
    command = [sys.executable, "-P", str(_CHILD), *map(str, files), str(slot)]
    try:
        process = subprocess.Popen(command, pass_fds=files, stdin=subprocess.DEVNULL)
    finally:
        theirs.close()  # so that the end of the worker is the end of the pipe
        os.close(end)
    return _Worker(process, ours, alive)


def _describe_exit(code: int | None) -> str:
    if code is not None and code < 0:
        return f"killed by {signal.Signals(-code).name}"
    return f"ended with exit code {code}"
