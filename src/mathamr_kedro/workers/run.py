"""Partitions in, partitions out, whatever happens to the workers in between."""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from mathamr_kedro.errors import WorkerError
from mathamr_kedro.progress import report_progress
from mathamr_kedro.workers.config import WorkerConfig
from mathamr_kedro.workers.job import Event, Function, Reason
from mathamr_kedro.workers.pools import Pool, make_pool

logger = logging.getLogger(__name__)

_OPEN_PARTITIONS = 32
"""Partitions begun and not yet given back, at most: bounds memory when one hangs."""
_ATTEMPTS = 2
"""An item whose worker died is tried again once: the killer may have been another."""
_START_ATTEMPTS = 3
"""Workers in a row that may fail to start before the first one ever worked ..."""
_RESTART_ATTEMPTS = 10
"""... and after that: then something outside kills them, and may stop to do so."""


class Partition(NamedTuple):
    """A named piece of the work; its items are independent of each other."""

    name: str
    items: Sequence[Any]


class Failed(NamedTuple):
    """Stands for the result of an item that no worker could finish."""

    reason: Reason | Literal["worker_died"]
    detail: str


class PartitionResult(NamedTuple):
    """A finished partition: one result, or :class:`Failed`, per item."""

    name: str
    items: Sequence[Any]
    results: list[Any]


def run_partitions(
    function: Function,
    partitions: Iterable[Partition],
    config: WorkerConfig,
    named: str | None = None,
    total: int | None = None,
    count_others: Callable[[PartitionResult], int] = lambda result: 0,
) -> Iterator[PartitionResult]:
    """Run ``function`` on the items of all partitions, a batch at a time.

    Args:
        function: from a batch of items to one result per item.
        partitions: read as workers become free, so a generator of any length will do.
        config: runner and limits; they never change a result.
        named: what the items are, for lines of progress after each batch; ``None``: the
            caller tells of finished partitions.
        total: number of the items, and of others that count with them.
        count_others: how many others of ``total`` are done with a partition.

    Yields:
        The partitions in their order, each once, with one result per item.

    Raises:
        ConfigurationError, MissingInputError: the function raised one.
        WorkerError: workers cannot import the function, are not ready in time, or die
            again and again before they are.
    """
    pool = make_pool(function, config)
    try:
        steps: Iterator[PartitionResult | int] = _Run(
            pool, iter(partitions), config
        ).steps()
        if named is not None:
            steps = report_progress(
                steps,
                named,
                lambda step: step if isinstance(step, int) else count_others(step),
                total=total,
            )
        for step in steps:
            if not isinstance(step, int):
                yield step
    finally:
        pool.close()


@dataclass
class _Open:
    """A partition on its way."""

    partition: Partition
    missing: int
    results: list[Any]


@dataclass
class _Task:
    """Items ``start`` to ``stop`` of an open partition."""

    owner: _Open
    start: int
    stop: int
    attempts: int = 0

    @property
    def items(self) -> Sequence[Any]:
        return self.owner.partition.items[self.start : self.stop]

    def finish(self, results: Sequence[Any]) -> None:
        self.owner.results[self.start : self.stop] = results
        self.owner.missing -= len(results)


@dataclass
class _Slot:
    """What a worker is doing."""

    task: _Task | None = None
    is_ready: bool = False
    deadline: float | None = None
    items: int = 0


@dataclass
class _Run:
    pool: Pool
    source: Iterator[Partition]
    config: WorkerConfig
    open: deque[_Open] = field(default_factory=deque)
    todo: deque[_Task] = field(default_factory=deque)
    failed_starts: int = 0
    has_worked: bool = False
    finished: int = 0
    """Items since the last step."""

    def __post_init__(self) -> None:
        self.slots = [_Slot() for _ in range(self.config.workers)]

    def steps(self) -> Iterator[PartitionResult | int]:
        """Yield numbers of items as they are done, and partitions in their order."""
        while True:
            self._submit_tasks()
            while self.open and not self.open[0].missing:
                done = self.open.popleft()
                yield PartitionResult(*done.partition, done.results)
                self._submit_tasks()
            if not self.open:
                return
            for slot, event in self.pool.wait(self._seconds_left()):
                self._note(slot, event)
            self._stop_late_ones()
            yield self.finished
            self.finished = 0

    def _submit_tasks(self) -> None:
        for number in range(len(self.slots)):
            if self.slots[number].task is not None:
                continue
            task = self._next_task()
            if task is None:
                return
            if self.slots[number].items >= self.config.items_per_process:
                self.pool.stop(number)
                self.slots[number] = _Slot()
            slot = self.slots[number]
            slot.task = task
            slot.items += task.stop - task.start
            slot.deadline = self._deadline(slot.is_ready)
            self.pool.submit(number, task.items)

    def _next_task(self) -> _Task | None:
        while not self.todo and len(self.open) < _OPEN_PARTITIONS:
            partition = next(self.source, None)
            if partition is None:
                break
            size = len(partition.items)
            owner = _Open(partition, size, [None] * size)
            self.open.append(owner)
            step = self.config.batch_size
            self.todo.extend(
                _Task(owner, start, min(start + step, size))
                for start in range(0, size, step)
            )
        return self.todo.popleft() if self.todo else None

    def _deadline(self, is_ready: bool) -> float | None:
        limit = self.config.timeout_s if is_ready else self.config.start_timeout_s
        return None if limit is None else time.monotonic() + limit

    def _seconds_left(self) -> float | None:
        deadlines = [s.deadline for s in self.slots if s.task and s.deadline]
        return max(0.0, min(deadlines) - time.monotonic()) if deadlines else None

    def _note(self, number: int, event: Event) -> None:
        slot = self.slots[number]
        if event.error is not None:
            raise event.error
        if event.kind == "ready":
            slot.is_ready = True
            slot.deadline = self._deadline(is_ready=True)
            self.failed_starts, self.has_worked = 0, True
            return
        if event.kind == "died" or not slot.is_ready:
            self.slots[number] = _Slot()
        if not slot.is_ready:
            self._note_failed_start(number, slot.task, event.detail)
            return
        task, slot.task = slot.task, None
        if task is None:  # an idle worker died; the next batch starts another
            return
        if event.kind == "finished":
            self._finish(task, event.results)
        elif event.kind == "raised":
            self._isolate(task, Failed(event.reason, event.detail))
        else:
            self._isolate(task, Failed("worker_died", f"worker {event.detail}"))

    def _note_failed_start(self, number: int, task: _Task | None, detail: str) -> None:
        self.pool.stop(number)
        self.failed_starts += 1
        limit = _RESTART_ATTEMPTS if self.has_worked else _START_ATTEMPTS
        if self.failed_starts >= limit:
            raise WorkerError(
                f"{self.failed_starts} workers in a row did not start (the last one: "
                f"{detail}); their messages are above"
            )
        logger.warning("worker %d did not start: %s", number, detail)
        if task is not None:
            self.todo.appendleft(task)

    def _isolate(self, task: _Task, failure: Failed) -> None:
        """Run the items of a failed batch one by one; give up on a single one."""
        if task.stop - task.start > 1:
            logger.warning(
                "batch of %d in %r failed, going on item by item: %s",
                task.stop - task.start,
                task.owner.partition.name,
                failure.detail,
            )
            singles = [
                _Task(task.owner, n, n + 1) for n in range(task.start, task.stop)
            ]
            self.todo.extendleft(reversed(singles))
            return
        task.attempts += 1
        if failure.reason == "worker_died" and task.attempts < _ATTEMPTS:
            self.todo.appendleft(task)
        else:
            self._finish(task, [failure])

    def _finish(self, task: _Task, results: Sequence[Any]) -> None:
        task.finish(results)
        self.finished += len(results)

    def _stop_late_ones(self) -> None:
        now = time.monotonic()
        for number, slot in enumerate(self.slots):
            if slot.task is None or slot.deadline is None or slot.deadline > now:
                continue
            self.pool.stop(number)
            self.slots[number] = _Slot()
            if not slot.is_ready:
                raise WorkerError(
                    f"Worker {number} was not ready within "
                    f"{self.config.start_timeout_s:g} s ('start_timeout_s')"
                )
            detail = f"no result within {self.config.timeout_s:g} s"
            self._isolate(slot.task, Failed("timeout", detail))
