"""What a run decides when workers end, are late, or do not start: no process, no time.

The pool answers as it is told; its clock moves only while somebody waits.
"""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from mathamr_kedro.base.errors import ConfigurationError, WorkerError
from mathamr_kedro.base.workers import (
    Failed,
    Partition,
    RayConfig,
    WorkerConfig,
    run_partitions,
)
from mathamr_kedro.base.workers.job import Event
from mathamr_kedro.base.workers.ray_pool import _check_resources

READY, DIED = Event("ready"), Event("died", "killed by SIGKILL")
LOST = Event("lost", "no node")


class Pool:
    """Workers that are ready at once, and do what ``answer`` makes of a batch.

    An answer of ``None`` never comes.
    """

    def __init__(self, answer=None, start=lambda slot: READY) -> None:
        self.answer = answer or (lambda batch: Event("finished", results=batch))
        self.begin = start
        self.now = 1000.0
        self.events: list[tuple[int, Event]] = []
        self.started: list[int] = []
        self.stopped: list[int] = []
        self.batches: list[list] = []
        self.waits: list[float | None] = []
        self.is_closed = False

    def start(self, slot):
        self.started.append(slot)
        self._add(slot, self.begin(slot))
        return True

    def submit(self, slot, batch):
        self.batches.append(list(batch))
        self._add(slot, self.answer(list(batch)))

    def _add(self, slot, event):
        if event is not None:
            self.events.append((slot, event))

    def wait(self, timeout):
        self.waits.append(timeout)
        assert len(self.waits) < 1000  # a run that never ends fails soon
        if not self.events:
            self.now += timeout
        found, self.events = self.events[:1], self.events[1:]
        return found

    def stop(self, slot):
        self.stopped.append(slot)

    def close(self):
        self.is_closed = True


@pytest.fixture
def run(monkeypatch):
    """Run items, or partitions by name, in a pool; return all results."""

    def run(pool, items, named=None, total=None, **settings):
        clock = SimpleNamespace(monotonic=lambda: pool.now)
        monkeypatch.setattr("mathamr_kedro.base.workers.run.time", clock)
        monkeypatch.setattr(
            "mathamr_kedro.base.workers.run.make_pool", lambda function, config: pool
        )
        config = WorkerConfig(**{"workers": 1, "batch_size": 1} | settings)
        partitions = items if not isinstance(items, list) else [Partition("p", items)]
        done = run_partitions(None, partitions, config, named, total)
        return [result for part in done for result in part.results]

    return run


def fail(bad, event):
    """Answer a batch with ``bad`` in it by an event, others by themselves."""
    return lambda b: event if bad in b else Event("finished", results=b)


def test_an_item_whose_worker_died_is_tried_once_more(run):
    pool = Pool(fail("b", DIED))
    failed = Failed("worker_died", "worker killed by SIGKILL")
    assert run(pool, ["a", "b", "c"]) == ["a", failed, "c"]
    assert pool.batches == [["a"], ["b"], ["b"], ["c"]]
    assert len(pool.started) == 3  # one more after each death, as there is work
    assert pool.is_closed


def test_an_item_that_raised_is_not_tried_again(run):
    pool = Pool(fail("b", Event("raised", "ValueError: b")))
    failed = Failed("exception", "ValueError: b")
    assert run(pool, ["a", "b", "c"]) == ["a", failed, "c"]
    assert pool.batches == [["a"], ["b"], ["c"]]
    assert len(pool.started) == 1  # its worker lives on


def test_items_of_a_failed_batch_go_on_one_by_one_before_others(run):
    pool = Pool(fail("c", Event("raised", "bad")))
    items = ["a", "b", "c", "d", "e"]
    found = run(pool, items, batch_size=2)
    assert found == ["a", "b", Failed("exception", "bad"), "d", "e"]
    assert pool.batches == [["a", "b"], ["c", "d"], ["c"], ["d"], ["e"]]


def test_a_batch_may_lose_five_machines_before_it_is_what_kills_them(run):
    pool = Pool(lambda batch: LOST)
    assert run(pool, ["a"]) == [Failed("worker_died", "worker no node")]
    assert len(pool.batches) == 5 + 2


def test_three_workers_that_do_not_start_end_a_run(run):
    pool = Pool(start=lambda slot: DIED)
    with pytest.raises(WorkerError, match=r"^3 workers in a row did not start"):
        run(pool, ["a"])
    assert pool.started == pool.stopped == [0, 0, 0]
    assert pool.is_closed


def test_ten_are_waited_for_once_one_has_worked(run):
    pool = Pool(lambda batch: DIED)
    pool.begin = lambda slot: READY if len(pool.started) == 1 else DIED
    with pytest.raises(WorkerError, match=r"^10 workers in a row did not start"):
        run(pool, ["a"])
    assert len(pool.started) == 11


def test_only_failed_starts_in_a_row_count(run):
    """Each item kills its worker, and eight starts fail before the next that works."""
    pool = Pool(lambda batch: DIED)
    pool.begin = lambda slot: READY if len(pool.started) % 9 == 1 else DIED
    failed = Failed("worker_died", "worker killed by SIGKILL")
    assert run(pool, ["a", "b"]) == [failed] * 2


def test_a_batch_has_its_time_and_no_more(run):
    pool = Pool(
        lambda batch: None if "b" in batch else Event("finished", results=batch)
    )
    found = run(pool, ["a", "b", "c"], timeout_s=5.0, start_timeout_s=9.0)
    assert found == ["a", Failed("timeout", "no result within 5 s"), "c"]
    assert pool.batches == [["a"], ["b"], ["c"]]
    assert pool.now == 1005.0
    assert pool.waits == [9.0, 5.0, 5.0, 9.0, 5.0]
    assert (pool.started, pool.stopped) == ([0, 0], [0])


def test_a_run_without_a_limit_waits_as_long_as_it_takes(run):
    pool = Pool()
    assert run(pool, ["a"], timeout_s=None, start_timeout_s=9.0) == ["a"]
    assert pool.waits == [9.0, None]


def test_late_workers_are_stopped_together(run):
    pool = Pool(lambda batch: None)
    found = run(pool, ["a", "b"], workers=2, timeout_s=5.0)
    assert found == [Failed("timeout", "no result within 5 s")] * 2
    assert pool.stopped == [0, 1]
    assert 0.0 not in pool.waits


def test_a_worker_that_has_its_place_must_be_ready_in_time(run):
    pool = Pool(start=lambda slot: None)
    with pytest.raises(WorkerError, match=r"Worker 0 was not ready within 9 s"):
        run(pool, ["a"], start_timeout_s=9.0)
    assert pool.now == 1009.0


def test_no_more_workers_start_than_there_are_batches(run):
    for items, expected in (
        (["a"], [0]),
        (["a", "b"], [0, 1]),
        (list("abcd"), [0, 1, 2]),
    ):
        pool = Pool()
        assert run(pool, items, workers=3) == items
        assert pool.started == expected
    pool = Pool()
    assert run(pool, list("abcd"), workers=3, batch_size=2) == list("abcd")
    assert pool.started == [0, 1]


@pytest.mark.parametrize(("limit", "starts"), [(5, 1), (4, 2), (2, 3), (1, 3)])
def test_a_worker_is_replaced_when_it_has_had_its_items(run, limit, starts):
    """A batch begins if its worker has had fewer: with two of each, six or four."""
    pool = Pool()
    items = list("abcdef")
    assert run(pool, items, batch_size=2, items_per_process=limit) == items
    assert len(pool.started) == starts
    assert len(pool.stopped) == starts - 1


def test_an_idle_worker_that_died_is_not_missed(run):
    pool = Pool()

    def answer(batch):
        if batch == ["b"]:  # when it is done, the other worker is idle, and dies
            pool.events.append((0, DIED))
        return Event("finished", results=batch)

    pool.answer = answer
    assert run(pool, ["a", "b"], workers=2) == ["a", "b"]
    assert pool.started == [0, 1]


def test_partitions_wait_for_the_first_one_up_to_a_number(run):
    read = []

    def partitions():
        for n in range(100):
            read.append(n)
            yield Partition(str(n), [n])

    pool, seen = Pool(), []

    def answer(batch):
        if batch == [0]:
            return None
        seen.append((batch[0], len(read)))
        return Event("finished", results=batch)

    pool.answer = answer
    found = run(pool, partitions(), workers=2, timeout_s=5.0)
    assert found == [Failed("timeout", "no result within 5 s"), *range(1, 100)]
    assert max(opened for n, opened in seen if n < 32) == 32


def test_a_machine_may_be_lost_before_the_start_for_so_long(run):
    pool = Pool(start=lambda slot: LOST)

    def wait(timeout, wait=pool.wait):
        pool.now += 4.0
        return wait(timeout)

    pool.wait = wait
    with pytest.raises(WorkerError, match="No worker could start within 8 s"):
        run(pool, ["a"], start_timeout_s=8.0)
    assert pool.now == 1012.0  # the first was lost after four seconds
    assert pool.started == [0, 0, 0]


def test_progress_counts_items_alone_where_nothing_else_is_said(run, caplog):
    caplog.set_level("DEBUG", "mathamr_kedro.base.progress")
    items = list(range(7))
    assert run(Pool(), items, "items", 20, batch_size=3) == items
    assert caplog.messages[-1].startswith("items: 7 ")


def test_a_worker_of_ray_asks_for_no_gpu_and_leaves_room_for_others():
    nodes = [{"Alive": True, "Resources": {"CPU": 0.5}}]
    _check_resources(nodes, RayConfig())
    nodes[0]["Resources"]["CPU"] = 0.4
    with pytest.raises(ConfigurationError, match=r"0\.5"):
        _check_resources(nodes, RayConfig())


def test_two_processes_of_this_machine_work_where_nothing_is_said():
    assert (WorkerConfig().runner, WorkerConfig().workers) == ("local", 2)


@pytest.mark.parametrize("name", ["workers", "batch_size", "items_per_process"])
def test_one_is_the_least_of_each_number(name):
    assert getattr(WorkerConfig(**{name: 1}), name) == 1
    with pytest.raises(ConfigurationError, match=f"at least 1 for '{name}'"):
        WorkerConfig(**{name: 0})


def test_any_time_above_zero_or_none_will_do():
    assert WorkerConfig(timeout_s=0.5).timeout_s == 0.5
    assert WorkerConfig(timeout_s=None).timeout_s is None
    with pytest.raises(ConfigurationError, match="above 0"):
        WorkerConfig(timeout_s=0)
