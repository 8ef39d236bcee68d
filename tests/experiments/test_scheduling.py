from __future__ import annotations

from dataclasses import dataclass, field
from types import SimpleNamespace

import pytest

from mathamr_kedro.base.errors import ConfigurationError
from mathamr_kedro.experiments import scheduling
from mathamr_kedro.experiments.scheduling import Task, run_tasks


@dataclass
class Machine:
    """Runs tasks for some polls; notes which ran at the same time."""

    codes: dict[str, int] = field(default_factory=dict)
    started: list[str] = field(default_factory=list)
    together: list[set[str]] = field(default_factory=list)
    busy: dict[int, str] = field(default_factory=dict)

    def start(self, name: str, slot: int):
        assert slot not in self.busy
        self.started.append(name)
        self.busy[slot] = name
        self.together.append(set(self.busy.values()))
        return _Job(self, name, slot)


@dataclass
class _Job:
    machine: Machine
    name: str
    slot: int
    polls: int = 2

    def poll(self) -> int | None:
        self.polls -= 1
        if self.polls:
            return None
        del self.machine.busy[self.slot]
        return self.machine.codes.get(self.name, 0)


def run(machine: Machine, tasks: list[Task], slots: int = 2) -> dict[str, str]:
    return {e.task: e.state for e in run_tasks(tasks, machine.start, slots, pause=0)}


def test_tasks_run_side_by_side():
    machine = Machine()
    states = run(machine, [Task("a"), Task("b"), Task("c")])
    assert states == {"a": "finished", "b": "finished", "c": "finished"}
    assert {"a", "b"} in machine.together
    assert max(map(len, machine.together)) == 2


def test_tasks_of_one_group_wait_for_one_another():
    machine = Machine()
    tasks = [Task("p", group="g"), Task("q", group="g"), Task("c", needs=("p",))]
    run(machine, tasks)
    assert machine.started in (["p", "q", "c"], ["p", "c", "q"])
    assert not any({"p", "q"} <= found for found in machine.together)


def test_task_waits_for_what_it_needs():
    machine = Machine()
    run(machine, [Task("a"), Task("b", needs=("a",)), Task("c")], slots=3)
    assert machine.started == ["a", "c", "b"]


def test_failure_skips_what_needs_it_and_nothing_else():
    machine = Machine(codes={"a": 3})
    tasks = [
        Task("a"), Task("b", needs=("a",)), Task("c", needs=("b",)),
        Task("d", after=("a",)),
    ]  # fmt: skip
    assert run(machine, tasks) == {
        "a": "failed", "b": "skipped", "c": "skipped", "d": "finished",
    }  # fmt: skip


def test_waiting_for_a_later_task_is_refused():
    with pytest.raises(ConfigurationError, match="do not stand before it"):
        run(Machine(), [Task("a", after=("b",)), Task("b")])


@pytest.fixture
def pauses(monkeypatch) -> list[float]:
    """Pauses that were made; a clock that only they move."""
    made: list[float] = []
    clock = SimpleNamespace(sleep=made.append, perf_counter=lambda: sum(made))
    monkeypatch.setattr(scheduling, "time", clock)
    return made


def test_running_tasks_are_looked_at_after_a_pause(pauses):
    machine = Machine()
    endings = list(run_tasks([Task("a"), Task("b")], machine.start, 1, pause=0.5))
    assert pauses == [0.5, 0.5]  # one for each: none after the look at which it ended
    assert [ending.seconds for ending in endings] == [0.5, 0.5]


def test_a_skipped_task_took_no_time(pauses):
    tasks = [Task("a"), Task("b", needs=("a",))]
    endings = list(run_tasks(tasks, Machine(codes={"a": 1}).start, 1, pause=2.0))
    assert [(e.task, e.state, e.seconds) for e in endings] == [
        ("a", "failed", 2.0), ("b", "skipped", 0.0),
    ]  # fmt: skip
