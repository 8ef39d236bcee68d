"""The same results from every runner, whatever happens to the workers."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace

import pytest

from mathamr_kedro.base.errors import ConfigurationError, MissingInputError, WorkerError
from mathamr_kedro.base.workers import (
    Failed,
    Partition,
    RayConfig,
    WorkerConfig,
    run_partitions,
)
from mathamr_kedro.base.workers.job import Event
from tests.base.workers import work
from tests.conftest import PATIENCE

RUNNERS = [
    WorkerConfig(workers=1, batch_size=3),
    WorkerConfig(workers=2, batch_size=3),
    pytest.param(
        WorkerConfig(
            runner="ray",
            workers=2,
            batch_size=3,
            ray=RayConfig(address="local", cpus_per_worker=0.1),
        ),
        marks=[pytest.mark.ray, pytest.mark.filterwarnings("ignore")],
    ),
]
RUNNER_IDS = ["in process", "processes", "ray"]
TWO = WorkerConfig(workers=2, batch_size=4)


def run(function, partitions, settings):
    named = [Partition(name, items) for name, items in partitions.items()]
    found = list(run_partitions(function, named, settings))
    assert [done.name for done in found] == list(partitions)
    assert [done.items for done in found] == list(partitions.values())
    return {done.name: done.results for done in found}


@pytest.mark.parametrize("settings", RUNNERS, ids=RUNNER_IDS)
def test_every_runner_gives_the_same_results_in_order(settings):
    partitions = {f"p{n}": list(range(n)) for n in range(12)}
    expected = {name: [i * i for i in items] for name, items in partitions.items()}
    assert run(work.square, partitions, settings) == expected


@pytest.mark.parametrize("settings", RUNNERS, ids=RUNNER_IDS)
def test_an_item_that_raises_fails_alone(settings):
    results = run(work.Obey(), {"p": ["a", "raise 1", "b", "c"]}, settings)["p"]
    assert results == [
        "done a",
        Failed("out_of_memory", "MemoryError: raise 1"),
        "done b",
        "done c",
    ]


@pytest.mark.parametrize("settings", RUNNERS, ids=RUNNER_IDS)
def test_an_error_of_configuration_stops_the_run(settings):
    with pytest.raises(MissingInputError, match="install one"):
        run(work.Obey(), {"p": ["a", "missing"]}, settings)
    with pytest.raises(MissingInputError, match="install one"):
        run(work.RaisesAtStart(), {"p": [1]}, settings)


@pytest.mark.parametrize("settings", RUNNERS[1:], ids=RUNNER_IDS[1:])
def test_an_item_that_kills_its_worker_fails_alone(settings):
    results = run(work.Obey(), {"p": ["a", "kill", "b"], "q": ["c", "exit"]}, settings)
    assert [results["p"][0], results["p"][2], results["q"][0]] == [
        "done a",
        "done b",
        "done c",
    ]
    killed, left = results["p"][1], results["q"][1]
    assert (killed.reason, left.reason) == ("worker_died", "worker_died")
    if settings.runner == "local":
        assert killed.detail == "worker killed by SIGKILL"
        assert left.detail == "worker ended with exit code 3"


@pytest.mark.slow
def test_an_item_that_hangs_fails_alone():
    settings = WorkerConfig(workers=2, batch_size=4, timeout_s=5.0)
    results = run(work.Obey(), {"p": ["a", "hang", "b"], "q": ["c"]}, settings)
    failed = Failed("timeout", "no result within 5 s")
    assert results == {"p": ["done a", failed, "done b"], "q": ["done c"]}


def test_a_worker_killed_by_somebody_else_costs_no_item(tmp_path):
    orders = ["a", "once 1", "b", "c", "d", "once 2"]
    settings = WorkerConfig(workers=2, batch_size=1)
    results = run(work.Obey(tmp_path), {"p": orders}, settings)
    assert results["p"] == [f"done {order}" for order in orders]


def test_wrong_number_of_results_is_a_failure():
    (result,) = run(work.Obey(), {"p": ["short"]}, WorkerConfig(workers=1))["p"]
    assert result == Failed("exception", "Expected 1 results (got 0)")


def test_results_that_cannot_travel_are_a_failure():
    (result,) = run(work.unpicklable, {"p": [1]}, TWO)["p"]
    assert result.reason == "exception"
    assert "cannot travel" in result.detail


def test_workers_that_never_start_stop_the_run():
    with pytest.raises(WorkerError, match=r"3 workers in a row .* exit code 9"):
        run(work.FailsToStart(), {"p": [1]}, TWO)


def test_a_worker_that_is_never_ready_stops_the_run():
    settings = WorkerConfig(workers=2, start_timeout_s=1.0)
    with pytest.raises(WorkerError, match="not ready within 1 s"):
        run(work.SleepsAtStart(), {"p": [1]}, settings)


def test_at_most_the_given_number_of_processes(tmp_path):
    run(work.Obey(tmp_path), {f"p{n}": ["a", "b"] for n in range(8)}, TWO)
    pids = {name.name.split()[0] for name in tmp_path.iterdir()}
    slots = {name.name.split()[1] for name in tmp_path.iterdir()}
    assert 1 <= len(pids) <= 2
    assert str(os.getpid()) not in pids
    assert slots <= {"0", "1"}


def test_a_worker_has_one_thread_ignores_interrupts_and_says_who_it_is(
    monkeypatch, capfd
):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    assert run(work.describe, {"p": ["a"]}, TWO) == {"p": [("1", True, 0)]}
    assert "worker 0: here is a\n" in capfd.readouterr().err
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    assert run(work.describe, {"p": ["a"]}, TWO) == {"p": [("3", True, 0)]}


def test_a_function_in_process_is_the_worker_0(monkeypatch):
    settings = WorkerConfig(workers=1)
    before = signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    assert run(work.describe, {"p": ["a"]}, settings) == {"p": [("3", before, 0)]}


def test_workers_are_gone_with_their_files_when_a_run_ends(tmp_path):
    open_files = os.listdir("/proc/self/fd")
    run(work.Obey(tmp_path), {"p": ["a", "kill", "b"]}, TWO)
    assert len(os.listdir("/proc/self/fd")) == len(open_files)
    pids = {int(name.name.split()[0]) for name in tmp_path.iterdir()}
    assert pids and not any(Path(f"/proc/{pid}").exists() for pid in pids)


def test_a_worker_is_replaced_after_its_share_of_items(tmp_path):
    settings = WorkerConfig(workers=2, batch_size=1, items_per_process=2)
    run(work.Obey(tmp_path), {"p": ["a"] * 6}, settings)
    pids = [name.name.split()[0] for name in tmp_path.iterdir()]
    assert max(map(pids.count, pids)) <= 2


def test_partitions_are_read_as_they_are_needed():
    read = []

    def partitions():
        for n in range(200):
            read.append(n)
            yield Partition(f"p{n}", [n])

    found = run_partitions(work.square, partitions(), WorkerConfig(workers=1))
    assert next(found).results == [0]
    assert len(read) <= 3
    found.close()


def test_a_function_that_cannot_be_imported_stops_the_run(monkeypatch):
    monkeypatch.setattr(work.square, "__module__", "nowhere")
    monkeypatch.setitem(sys.modules, "nowhere", work)
    with pytest.raises(WorkerError, match="cannot import the function"):
        run(work.square, {"p": [1]}, TWO)


SCRIPT = """
from mathamr_kedro.base.workers import Partition, WorkerConfig, run_partitions
from tests.base.workers.work import square
settings = WorkerConfig(workers=2, batch_size=1)
for done in run_partitions(square, [Partition("p", [1, 2, 3])], settings):
    print(done.results)
"""


def test_a_script_needs_no_guard(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    run = subprocess.run(
        [sys.executable, str(script)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout == "[1, 4, 9]\n"


def test_nothing_to_do_starts_nothing():
    assert run(work.FailsToStart(), {}, TWO) == {}
    assert run(work.FailsToStart(), {"empty": []}, TWO) == {"empty": []}


RUN_UNTIL_KILLED = """
import sys
from pathlib import Path
from mathamr_kedro.base.workers import Partition, WorkerConfig, run_partitions
from tests.base.workers.work import Obey
partitions = [Partition("p", ["hang 1", "hang 2"])]
settings = WorkerConfig(workers=2, batch_size=1)
list(run_partitions(Obey(Path(sys.argv[1])), partitions, settings))
"""


def test_workers_die_with_their_parent(tmp_path):
    parent = subprocess.Popen(
        [sys.executable, "-c", RUN_UNTIL_KILLED, str(tmp_path)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)},
        cwd=Path(__file__).parents[2],
    )
    wait_until(lambda: len(list(tmp_path.iterdir())) == 2)
    pids = [int(name.name.split()[0]) for name in tmp_path.iterdir()]
    assert all(map(is_alive, pids))
    parent.kill()
    parent.wait()
    wait_until(lambda: not any(map(is_alive, pids)))


def is_alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def wait_until(is_true) -> None:
    limit = time.monotonic() + PATIENCE
    while not is_true():
        assert time.monotonic() < limit
        time.sleep(0.02)


class Cluster:
    """A pool whose workers wait for places, and whose machines may be lost.

    Args:
        places: slots that find a place.
        losses: batches that are lost with their machine, before others are not.
        lost_starts: workers that are lost before they are ready.
    """

    def __init__(
        self, places: set[int], losses: int = 0, lost_starts: float = 0
    ) -> None:
        self.places, self.losses, self.lost_starts = places, losses, lost_starts
        self.events: list[tuple[int, Event]] = []
        self.stopped: list[int] = []

    def start(self, slot):
        self.lost_starts -= 1
        if slot in self.places:
            lost, ready = Event("lost", "no memory"), Event("ready")
            end = lost if self.lost_starts >= 0 else ready
            self.events += [(slot, Event("placed")), (slot, end)]
        return False

    def submit(self, slot, batch):
        time.sleep(0.01)
        self.losses -= 1
        lost, done = Event("lost", "no node"), Event("finished", results=batch)
        self.events.append((slot, lost if self.losses >= 0 else done))

    def wait(self, timeout):
        if not self.events:
            time.sleep(timeout)
        events, self.events = self.events[:1], self.events[1:]
        return events

    def stop(self, slot):
        self.stopped.append(slot)

    def close(self):
        pass


@pytest.fixture
def use_cluster(monkeypatch):
    def use(*args):
        pool = Cluster(*args)
        monkeypatch.setattr(
            "mathamr_kedro.base.workers.run.make_pool", lambda function, config: pool
        )
        return pool

    return use


def test_a_worker_may_wait_for_a_place_while_others_work(use_cluster):
    """Ten times as long as a worker may take to start."""
    use_cluster({1})
    settings = WorkerConfig(workers=3, batch_size=1, start_timeout_s=0.05)
    items = list(range(50))
    assert run(None, {"p": items}, settings) == {"p": items}


def test_a_run_without_any_place_stops(use_cluster):
    use_cluster(set())
    settings = WorkerConfig(workers=3, start_timeout_s=0.05)
    with pytest.raises(WorkerError, match=r"No worker found a place .* 0.05 s"):
        run(None, {"p": [1]}, settings)


def test_a_lost_machine_is_no_fault_of_its_batch(use_cluster):
    use_cluster({0}, 5)
    settings = WorkerConfig(workers=1, batch_size=2)
    assert run(None, {"p": [1, 2]}, settings) == {"p": [1, 2]}


def test_machines_that_are_lost_before_a_worker_starts_are_not_waited_for_for_ever(
    use_cluster,
):
    use_cluster({0, 1}, 0, float("inf"))
    settings = WorkerConfig(workers=2, start_timeout_s=0.05)
    with pytest.raises(WorkerError, match=r"No worker could start .* no memory"):
        run(None, {"p": [1]}, settings)


def test_machines_are_waited_for_while_there_is_time(use_cluster):
    use_cluster({0}, 0, 20)
    settings = WorkerConfig(workers=1, start_timeout_s=60)
    assert run(None, {"p": [1]}, settings) == {"p": [1]}


def test_a_batch_that_loses_every_machine_is_given_up(use_cluster):
    use_cluster({0}, 10**6)
    settings = WorkerConfig(workers=1, batch_size=2)
    failed = Failed("worker_died", "worker no node")
    assert run(None, {"p": [1, 2]}, settings) == {"p": [failed, failed]}


def test_settings_refuse_what_cannot_work():
    with pytest.raises(ConfigurationError, match="workers of at least 1"):
        WorkerConfig(workers=0)
    with pytest.raises(ConfigurationError, match="timeout_s above 0"):
        WorkerConfig(timeout_s=0)


@pytest.mark.skipif(find_spec("ray") is not None, reason="ray is installed")
def test_missing_ray_says_how_to_get_it():
    with pytest.raises(ConfigurationError, match="pip install"):
        run(work.square, {"p": [1]}, WorkerConfig(runner="ray"))


def test_progress_is_told_after_each_batch(monkeypatch, caplog):
    caplog.set_level("INFO", "mathamr_kedro.base.progress")
    counts = iter(range(0, 1000, 10))
    clock = SimpleNamespace(perf_counter=lambda: next(counts))
    monkeypatch.setattr("mathamr_kedro.base.progress.time", clock)
    partitions = [Partition("a", list(range(6))), Partition("b", [7])]
    settings = WorkerConfig(workers=1, batch_size=3)
    done = run_partitions(work.square, partitions, settings, "squares", 9, lambda r: 1)
    assert [result.name for result in done] == ["a", "b"]
    told = [message.partition(",")[0] for message in caplog.messages]
    assert "squares: 3 of 9 (33 %)" in told
    assert told[-2] == "squares: 9 of 9 (100 %)"  # seven items, and one other of each


@pytest.mark.ray
@pytest.mark.filterwarnings("ignore")
def test_results_let_go_after_ray_has_left_start_no_other_cluster():
    """A process that ends with an error leaves the cluster first."""
    import ray

    config = WorkerConfig(
        runner="ray", workers=2, batch_size=1,
        ray=RayConfig(address="local", cpus_per_worker=0.1),
    )  # fmt: skip
    partitions = [Partition(str(n), [n]) for n in range(8)]
    results = run_partitions(work.square, partitions, config)
    assert next(results).results == [0]
    ray.shutdown()
    results.close()
    assert not ray.is_initialized()
