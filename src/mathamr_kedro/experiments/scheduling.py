"""Running tasks that wait for one another, several at once."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, Protocol

from mathamr_kedro.base.errors import ConfigurationError

_State = Literal["finished", "failed", "skipped"]


class _Handle(Protocol):
    """A task that runs; :class:`subprocess.Popen` is one."""

    def poll(self) -> int | None:
        """Return the exit code, or ``None`` while it runs."""


@dataclass(frozen=True)
class Task:
    """Something to run."""

    name: str
    after: tuple[str, ...] = ()
    """Tasks that must have ended before, well or not."""
    needs: tuple[str, ...] = ()
    """Tasks that must have ended well."""
    group: str = ""
    """Of the tasks of one group, one runs at a time; empty: no group."""


class Ending(NamedTuple):
    """How a task ended."""

    task: str
    state: _State
    seconds: float


@dataclass
class _Running:
    task: Task
    handle: _Handle
    started: float


def run_tasks(
    tasks: Sequence[Task],
    start: Callable[[str, int], _Handle],
    num_slots: int,
    pause: float = 0.05,
) -> Iterator[Ending]:
    """Run all tasks in their order as far as they need not wait; yield how each ended.

    A task that needs a failed one is skipped; the others continue.

    Args:
        tasks: in order of preference; each names only tasks before it.
        start: starts a task in a slot.
        num_slots: how many run at once.
        pause: seconds between two looks at running tasks.

    Raises:
        ConfigurationError: a task waits for one that does not stand before it.
    """
    _check_order(tasks)
    waiting = list(tasks)
    running: dict[int, _Running] = {}
    states: dict[str, _State] = {}
    while waiting or running:
        for task in [t for t in waiting if _is_lost(t, states)]:
            waiting.remove(task)
            states[task.name] = "skipped"
            yield Ending(task.name, "skipped", 0.0)
        for slot in range(num_slots):
            chosen = next((t for t in waiting if _is_ready(t, states, running)), None)
            if slot not in running and chosen is not None:
                waiting.remove(chosen)
                started = time.perf_counter()
                handle = start(chosen.name, slot)
                running[slot] = _Running(chosen, handle, started)
        ended = False
        for slot, job in list(running.items()):
            code = job.handle.poll()
            if code is not None:
                del running[slot]
                ended = True
                state: _State = "failed" if code else "finished"
                states[job.task.name] = state
                yield Ending(job.task.name, state, time.perf_counter() - job.started)
        if running and not ended:
            time.sleep(pause)


def _check_order(tasks: Sequence[Task]) -> None:
    before: set[str] = set()
    for task in tasks:
        unknown = {*task.after, *task.needs} - before
        if unknown:
            raise ConfigurationError(
                f"Expected tasks before {task.name!r} to end first "
                f"(got {sorted(unknown)!r}, which do not stand before it)"
            )
        before.add(task.name)


def _is_ready(
    task: Task, states: dict[str, _State], running: dict[int, _Running]
) -> bool:
    is_busy = task.group and any(r.task.group == task.group for r in running.values())
    is_ended = all(name in states for name in task.after)
    is_ready = all(states.get(name) == "finished" for name in task.needs)
    return not is_busy and is_ended and is_ready


def _is_lost(task: Task, states: dict[str, _State]) -> bool:
    return any(states.get(name) in ("failed", "skipped") for name in task.needs)
