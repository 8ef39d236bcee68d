"""What runs batches: this process itself, or processes of this machine.

A pool has slots; each slot holds one worker, started when its first batch comes. The
pool tells what happened as events, and knows nothing of partitions or retries.
"""

from __future__ import annotations

import logging
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any, NamedTuple, Protocol

from mathamr_kedro.errors import ConfigurationError, MissingInputError
from mathamr_kedro.workers.slots import set_slot

logger = logging.getLogger(__name__)

Function = Callable[[Sequence[Any]], Sequence[Any]]

STOPPING = (ConfigurationError, MissingInputError)
"""Errors that no other item would escape: they stop the run instead of failing one."""


class Ready(NamedTuple):
    """The worker has loaded what it needs."""


class Finished(NamedTuple):
    """The batch is done."""

    results: Sequence[Any]


class Raised(NamedTuple):
    """The function raised; the worker lives on."""

    detail: str


class Stopping(NamedTuple):
    """The function raised an error that concerns the whole run."""

    error: Exception


class Died(NamedTuple):
    """The worker is gone."""

    detail: str


Event = Ready | Finished | Raised | Stopping | Died


class Pool(Protocol):
    """Slots that run batches."""

    def submit(self, slot: int, batch: Sequence[Any]) -> None:
        """Give an idle slot a batch; start its worker if there is none."""
        ...

    def wait(self, timeout: float | None) -> list[tuple[int, Event]]:
        """Return what happened; wait for it, at most ``timeout`` seconds."""
        ...

    def stop(self, slot: int) -> None:
        """End the worker of a slot at once; the next batch starts a new one."""
        ...

    def close(self) -> None:
        """End all workers."""
        ...


def prepare(function: Function) -> Event:
    """Call ``function.prepare()`` if there is one; return what came of it."""
    try:
        getattr(function, "prepare", lambda: None)()
    except Exception as exc:
        return _describe(exc)
    return Ready()


def call(function: Function, batch: Sequence[Any]) -> Event:
    """Call the function on a batch; return what came of it."""
    try:
        results = list(function(batch))
    except Exception as exc:
        logger.debug("batch of %d failed", len(batch), exc_info=True)
        return _describe(exc)
    if len(results) != len(batch):
        return Raised(f"Expected {len(batch)} results (got {len(results)})")
    return Finished(results)


def _describe(exc: Exception) -> Event:
    if isinstance(exc, STOPPING):
        return Stopping(exc)
    return Raised(f"{type(exc).__name__}: {exc}")


class InProcessPool:
    """One slot, run by the caller's own process: no isolation, no start-up time."""

    def __init__(self, function: Function) -> None:
        self._function = function
        self._batch: Sequence[Any] | None = None
        self._is_prepared = False

    def submit(self, slot: int, batch: Sequence[Any]) -> None:
        """Keep the batch until somebody waits for it."""
        self._batch = batch

    def wait(self, timeout: float | None) -> list[tuple[int, Event]]:
        """Run the batch."""
        if not self._is_prepared:
            self._is_prepared = True
            set_slot(0)
            return [(0, prepare(self._function))]
        batch, self._batch = self._batch, None
        return [(0, call(self._function, batch))] if batch is not None else []

    def stop(self, slot: int) -> None:
        """Prepare the function anew for the next batch."""
        self._is_prepared = False

    def close(self) -> None:
        """There is no worker to end."""


class _Worker(NamedTuple):
    process: BaseProcess
    connection: Connection


class ProcessPool:
    """Processes of this machine, each at the other end of a pipe.

    They are started anew (``spawn``), so they share no lock, GPU context or thread with
    the caller, and they end themselves when the caller dies, however that happens.
    """

    def __init__(self, function: Function) -> None:
        self._function = function
        self._context = multiprocessing.get_context("spawn")
        self._workers: dict[int, _Worker] = {}
        self._waiting: dict[int, Sequence[Any]] = {}  # for their worker to be ready
        self._busy: set[int] = set()

    def submit(self, slot: int, batch: Sequence[Any]) -> None:
        """Send the batch, or start the worker first."""
        if slot in self._workers:
            self._send(slot, batch)
        else:
            self._waiting[slot] = batch
            self._start(slot)

    def wait(self, timeout: float | None) -> list[tuple[int, Event]]:
        """Return the events of the workers that have something to say."""
        slots = {w.connection: slot for slot, w in self._workers.items()}
        ready = wait(list(slots), timeout)
        return [(slots[c], self._receive(slots[c])) for c in ready]  # type: ignore[index]

    def stop(self, slot: int) -> None:
        """Kill the worker of a slot."""
        worker = self._workers.pop(slot, None)
        self._waiting.pop(slot, None)
        self._busy.discard(slot)
        if worker is not None:
            worker.process.kill()
            _bury(worker)

    def close(self) -> None:
        """End all: the idle ones by closing their pipe, the busy ones by a signal."""
        workers = self._workers
        self._workers = {}
        for slot, worker in workers.items():
            if slot in self._busy:
                worker.process.kill()
            worker.connection.close()
        for worker in workers.values():
            worker.process.join(timeout=10)
            worker.process.kill()
            _bury(worker)
        self._busy.clear()
        self._waiting.clear()

    def _start(self, slot: int) -> None:
        ours, theirs = self._context.Pipe()
        process = self._context.Process(
            target=_serve, args=(theirs, slot), name=f"worker-{slot}", daemon=True
        )
        process.start()
        theirs.close()  # so that the end of the worker is the end of the pipe
        self._workers[slot] = _Worker(process, ours)
        self._busy.add(slot)
        try:
            ours.send(self._function)
        except OSError:
            logger.debug("worker %d died at once", slot)

    def _send(self, slot: int, batch: Sequence[Any]) -> None:
        self._busy.add(slot)
        try:
            self._workers[slot].connection.send(batch)
        except OSError:
            # It died since its last answer; waiting for its answer will tell.
            logger.debug("worker %d is gone", slot)

    def _receive(self, slot: int) -> Event:
        worker = self._workers[slot]
        try:
            event = worker.connection.recv()
        except (EOFError, OSError):
            del self._workers[slot]
            self._waiting.pop(slot, None)
            self._busy.discard(slot)
            worker.process.join(timeout=10)
            code = worker.process.exitcode
            worker.process.kill()
            _bury(worker)
            return Died(_describe_exit(code))
        self._busy.discard(slot)
        if isinstance(event, Ready) and slot in self._waiting:
            self._send(slot, self._waiting.pop(slot))
        return event


def _bury(worker: _Worker) -> None:
    worker.process.join()
    worker.process.close()
    worker.connection.close()


def _describe_exit(code: int | None) -> str:
    if code is not None and code < 0:
        return f"killed by {signal.Signals(-code).name}"
    return f"ended with exit code {code}"


def _serve(connection: Connection, slot: int) -> None:
    """Run batches until the pipe closes: what a worker process does."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the caller's to handle
    _die_with_parent()
    # Workers are the parallelism; threads inside them would fight for the same cores.
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    set_slot(slot)
    logging.basicConfig(format=f"worker {slot}: %(message)s", level=logging.WARNING)
    try:
        try:
            function = connection.recv()
        except (EOFError, OSError):
            raise
        except Exception as exc:
            name = f"{type(exc).__name__}: {exc}"
            connection.send(
                Stopping(ConfigurationError(f"The worker lacks the function ({name})"))
            )
            return
        connection.send(prepare(function))
        while True:
            _answer(connection, call(function, connection.recv()))
    except (EOFError, OSError):
        return


def _answer(connection: Connection, event: Event) -> None:
    try:
        connection.send(event)
    except (OSError, EOFError):
        raise
    except Exception as exc:
        connection.send(Raised(f"The results cannot travel: {exc}"))


def _die_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is None:
        return

    def watch() -> None:
        wait([parent.sentinel])
        os._exit(1)

    threading.Thread(target=watch, name="die-with-parent", daemon=True).start()
