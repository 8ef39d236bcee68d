"""Partitions in, partitions out, even if workers die in between."""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple

from mathamr_kedro.base.errors import WorkerError
from mathamr_kedro.base.progress import report_progress
from mathamr_kedro.base.workers.job import Event, Function, Reason, WorkerConfig
from mathamr_kedro.base.workers.pools import Pool, make_pool

logger = logging.getLogger(__name__)

_OPEN_PARTITIONS = 32
"""Partitions begun and not yet yielded, at most: bounds memory when one hangs."""
_ATTEMPTS = 2
"""An item whose worker died is tried once more: another one may have killed it."""
_START_ATTEMPTS = 3
"""Workers in a row that may fail to start before the first one has worked ..."""
_RESTART_ATTEMPTS = 10
"""... and after that: then the cause is outside, and may go away."""
_LOSSES = 5
"""Machines that may be lost with a batch before the batch is taken for the cause."""


class Partition(NamedTuple):
    """A named piece of the work; its items are independent of each other."""

    name: str
    items: Sequence[Any]


class Failed(NamedTuple):
    """Replaces the result of an item that no worker could finish."""

    reason: Reason | Literal["worker_died"]
    detail: str


class PartitionResult(NamedTuple):
    """A finished partition: one result, or :class:`Failed`, per item."""

    name: str
    items: Sequence[Any]
    results: list[Any]


@dataclass
class OpenPartition:
    """A partition on its way."""

    partition: Partition
    missing: int
    results: list[Any]


@dataclass
class Task:
    """Items ``start`` to ``stop`` of an open partition."""

    owner: OpenPartition
    start: int
    stop: int
    attempts: int = 0
    losses: int = 0

    @property
    def items(self) -> Sequence[Any]:
        """The items of the function."""
        return self.owner.partition.items[self.start : self.stop]

    def finish(self, results: Sequence[Any]) -> None:
        """Put results, one per item, into their places."""
        self.owner.results[self.start : self.stop] = results
        self.owner.missing -= len(results)


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
            caller reports finished partitions.
        total: number of the items, plus others that are counted with them.
        count_others: how many others of ``total`` each partition completes.

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


def run_each(
    function: Function, items: Iterable[tuple[str, Any]], config: WorkerConfig
) -> Iterator[tuple[str, Any]]:
    """Run ``function`` on named items, one at a time; each has to succeed.

    Yields:
        Name and result of each, in their order.

    Raises:
        WorkerError: an item failed; and what :func:`run_partitions` raises.
    """
    partitions = (Partition(name, [item]) for name, item in items)
    for done in run_partitions(function, partitions, replace(config, batch_size=1)):
        (result,) = done.results
        if isinstance(result, Failed):
            raise WorkerError(f"Shard {done.name!r}: {result.detail}")
        yield done.name, result


@dataclass
class _Slot:
    """What a worker is doing; a new slot has none."""

    is_started: bool = False
    is_placed: bool = False
    is_ready: bool = False
    task: Task | None = None
    deadline: float | None = None
    items: int = 0


@dataclass
class _Run:
    pool: Pool
    source: Iterator[Partition]
    config: WorkerConfig
    open: deque[OpenPartition] = field(default_factory=deque)
    todo: deque[Task] = field(default_factory=deque)
    failed_starts: int = 0
    has_worked: bool = False
    since: float | None = None
    """When the first of the machines in a row was lost on which no worker started."""
    finished: int = 0
    """Items since the last step."""

    def __post_init__(self) -> None:
        self.slots = [_Slot() for _ in range(self.config.workers)]

    def steps(self) -> Iterator[PartitionResult | int]:
        """Yield numbers of items as they are done, and partitions in their order."""
        while True:
            self._assign_tasks()
            # Only the first may be yielded: partitions keep their order, and finished
            # later ones wait.
            while self.open and not self.open[0].missing:
                done = self.open.popleft()
                yield PartitionResult(*done.partition, done.results)
                self._assign_tasks()
            if not self.open:
                return
            for slot, event in self.pool.wait(self._seconds_left()):
                self._note(slot, event)
            self._stop_late_ones()
            yield self.finished
            self.finished = 0

    def _assign_tasks(self) -> None:
        """Give tasks to the workers that are ready; start others for the rest.

        A task waits for no worker in particular: one that never finds a place in a
        cluster holds up nothing.
        """
        for number, slot in enumerate(self.slots):
            if not slot.is_ready or slot.task is not None:
                continue
            if not self._find_tasks(1):
                return
            # Only while there is work: replacing the worker of an empty queue would be
            # in vain.
            if slot.items >= self.config.items_per_process:
                self.pool.stop(number)
                self.slots[number] = _Slot()
                continue
            slot.task = self.todo.popleft()
            slot.items += slot.task.stop - slot.task.start
            slot.deadline = _add_seconds(self.config.timeout_s)
            self.pool.submit(number, slot.task.items)
        # A worker is only started if a task is left for it beside those that already
        # start: the end of a run starts none in vain.
        starting = sum(s.is_started and not s.is_ready for s in self.slots)
        for number, slot in enumerate(self.slots):
            if slot.is_started:
                continue
            starting += 1
            if not self._find_tasks(starting):
                return
            slot.is_started, slot.is_placed = True, self.pool.start(number)
            slot.deadline = _add_seconds(self.config.start_timeout_s)

    def _find_tasks(self, count: int) -> bool:
        """Open partitions until ``count`` tasks wait; tell whether so many do."""
        while len(self.todo) < count and len(self.open) < _OPEN_PARTITIONS:
            partition = next(self.source, None)
            if partition is None:
                break
            size = len(partition.items)
            owner = OpenPartition(partition, size, [None] * size)
            self.open.append(owner)
            step = self.config.batch_size
            self.todo.extend(
                Task(owner, start, min(start + step, size))
                for start in range(0, size, step)
            )
        return len(self.todo) >= count

    def _seconds_left(self) -> float | None:
        deadlines = [s.deadline for s in self.slots if s.deadline is not None]
        return max(0.0, min(deadlines) - time.monotonic()) if deadlines else None

    def _note(self, number: int, event: Event) -> None:
        slot = self.slots[number]
        if event.error is not None:
            raise event.error
        if event.kind == "placed":
            slot.is_placed = True
            slot.deadline = _add_seconds(self.config.start_timeout_s)
            return
        if event.kind == "ready":
            slot.is_ready, slot.deadline = True, None
            self.failed_starts, self.has_worked, self.since = 0, True, None
            return
        # Below, ``slot`` is the worker of the event; the list may have a new one.
        # The worker is gone, or will be stopped: its slot is free again.
        if event.kind in ("died", "lost") or not slot.is_ready:
            self.slots[number] = _Slot()
        if not slot.is_ready:
            self._note_failed_start(number, event)
            return
        task, slot.task, slot.deadline = slot.task, None, None
        if task is None:  # an idle worker died; there may be no work for another
            return
        if event.kind == "finished":
            self._finish(task, event.results)
        elif event.kind == "raised":
            self._isolate(task, Failed(event.reason, event.detail))
        elif event.kind == "lost" and task.losses < _LOSSES:
            logger.warning("worker %d is lost: %s", number, event.detail)
            # The machine was lost, not the batch: the same task goes to another worker.
            task.losses += 1
            self.todo.appendleft(task)
        else:
            self._isolate(task, Failed("worker_died", f"worker {event.detail}"))

    def _note_failed_start(self, number: int, event: Event) -> None:
        self.pool.stop(number)
        logger.warning("worker %d did not start: %s", number, event.detail)
        if event.kind == "lost":
            self._note_lost_start(event)
            return
        self.failed_starts += 1
        limit = _RESTART_ATTEMPTS if self.has_worked else _START_ATTEMPTS
        if self.failed_starts >= limit:
            raise WorkerError(
                f"{self.failed_starts} workers in a row did not start (the last one: "
                f"{event.detail}); their messages are above"
            )

    def _note_lost_start(self, event: Event) -> None:
        """Wait a limited time for machines to come back, or to have memory again."""
        limit, now = self.config.start_timeout_s, time.monotonic()
        self.since = self.since or now
        if any(slot.is_ready for slot in self.slots) or now - self.since < limit:
            return
        raise WorkerError(
            f"No worker could start within {limit:g} s ('start_timeout_s'); the last "
            f"one: {event.detail}. Add machines or memory, or ask for fewer 'workers', "
            "and run again: what is finished is kept"
        )

    def _isolate(self, task: Task, failure: Failed) -> None:
        """Run the items of a failed batch one by one; give up on a single one."""
        if task.stop - task.start > 1:
            logger.warning(
                "batch of %d in %r failed, continuing item by item: %s",
                task.stop - task.start,
                task.owner.partition.name,
                failure.detail,
            )
            singles = [Task(task.owner, n, n + 1) for n in range(task.start, task.stop)]
            # To the front, so that the open partition can be yielded soon.
            self.todo.extendleft(reversed(singles))
            return
        task.attempts += 1
        if failure.reason == "worker_died" and task.attempts < _ATTEMPTS:
            self.todo.appendleft(task)
        else:
            self._finish(task, [failure])

    def _finish(self, task: Task, results: Sequence[Any]) -> None:
        task.finish(results)
        self.finished += len(results)

    def _stop_late_ones(self) -> None:
        now = time.monotonic()
        for number, slot in enumerate(self.slots):
            if slot.deadline is None or slot.deadline > now:
                continue
            if slot.task is None:
                self._judge_late_start(number, slot)
                continue
            self.pool.stop(number)
            self.slots[number] = _Slot()
            # Another worker tries the items of its batch one by one.
            detail = f"no result within {self.config.timeout_s:g} s"
            self._isolate(slot.task, Failed("timeout", detail))

    def _judge_late_start(self, number: int, slot: _Slot) -> None:
        """Let a worker wait for its place while others work; otherwise give up."""
        limit = f"within {self.config.start_timeout_s:g} s ('start_timeout_s')"
        if slot.is_placed:
            raise WorkerError(f"Worker {number} was not ready {limit}")
        if not any(s.is_placed for s in self.slots):
            raise WorkerError(
                f"No worker found a place in the cluster {limit}: others hold what it "
                "has; `ray status` shows them. Wait for them, or ask for less with "
                "'cpus_per_worker' and 'gpus_per_worker'"
            )
        slot.deadline = _add_seconds(self.config.start_timeout_s)


def _add_seconds(limit: float | None) -> float | None:
    """Return when so many seconds will have passed."""
    return None if limit is None else time.monotonic() + limit
