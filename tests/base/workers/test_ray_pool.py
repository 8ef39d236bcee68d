"""What is done with Ray, by a stand-in for it; test_ray_cluster.py has the real one."""

from __future__ import annotations

import pickle
import socket
from functools import partial
from types import SimpleNamespace

import pytest

from mathamr_kedro.base.errors import ConfigurationError, MissingInputError
from mathamr_kedro.base.workers import (
    Partition,
    RayConfig,
    WorkerConfig,
    job,
    run_partitions,
)
from mathamr_kedro.base.workers import ray_pool as module
from mathamr_kedro.base.workers.ray_pool import _LONGEST, RayPool, _describe
from tests.base.workers import work


class RayError(Exception):
    """Whatever befalls a call."""


class OutOfMemoryError(RayError):
    """A node was full."""


class Handle:
    """An actor as others see it: a call is a reference that is looked at later."""

    def __init__(self, actor):
        self.actor = actor

    def __getattr__(self, name):
        method = getattr(self.actor, name)
        return SimpleNamespace(remote=lambda *given: partial(method, *given))


class Ray:
    """As much of Ray as the pool asks for, in this process."""

    exceptions = SimpleNamespace(RayError=RayError, OutOfMemoryError=OutOfMemoryError)

    def __init__(self):
        self.is_open, self.joined, self.killed = False, [], []
        self.options, self.error = {}, None
        self.node = {"NodeID": "n", "Alive": True, "Resources": {"CPU": 4}}

    def is_initialized(self):
        return self.is_open

    def init(self, address, log_to_driver):
        assert log_to_driver  # what workers print is seen
        if isinstance(self.error, OSError | RuntimeError | ValueError):
            raise self.error
        self.is_open = True
        self.joined.append(address)

    def shutdown(self):
        self.is_open = False

    def nodes(self):
        return [self.node]

    def put(self, value):
        return value

    def remote(self, kind):
        def take(**options):
            self.options |= options
            return SimpleNamespace(remote=lambda *given: Handle(kind(*given)))

        return SimpleNamespace(options=take)

    def wait(self, references, timeout):
        return references[:1], references[1:]

    def get(self, reference):
        if self.error is not None:
            raise self.error
        return reference()

    def kill(self, handle):
        self.killed.append(handle.actor._slot)

    def get_runtime_context(self):
        return SimpleNamespace(get_node_id=lambda: "n")


@pytest.fixture
def ray(monkeypatch):
    found = Ray()
    monkeypatch.setattr(module, "_import_ray", lambda: found)
    monkeypatch.setattr(job, "_slot", [0])  # of this process
    return found


def start(function=work.square, *slots, **config):
    pool = RayPool(function, RayConfig(**config))
    for slot in slots:
        assert pool.start(slot) is False  # it waits for a place
    return pool


def take(pool):
    ((slot, event),) = pool.wait(1.0)
    return slot, event.kind, event


def test_a_run_is_that_of_the_other_runners(ray):
    settings = WorkerConfig(runner="ray", workers=2, batch_size=2)
    parts = [Partition("p", [1, 2, 3]), Partition("q", [4])]
    found = {
        r.name: list(r.results) for r in run_partitions(work.square, parts, settings)
    }
    assert found == {"p": [1, 4, 9], "q": [16]}
    assert not ray.is_open
    assert set(ray.killed) <= {0, 1}


def test_an_actor_is_placed_then_prepared_then_called(ray):
    pool = start(work.square, 3, address="auto", cpus_per_worker=2, gpus_per_worker=0)
    assert ray.options == {"num_cpus": 2, "num_gpus": 0, "max_restarts": 0}
    assert [take(pool)[:2], take(pool)[:2]] == [(3, "placed"), (3, "ready")]
    pool.submit(3, [2, 3])
    slot, kind, event = take(pool)
    assert (slot, kind, event.results) == (3, "finished", [4, 9])
    assert ray.joined == ["auto"]


def test_a_cluster_is_joined_once_and_left_by_who_joined_it(ray):
    pool = start(work.square, 0, 1)
    assert len(ray.joined) == 1
    pool.close()
    assert ray.killed == [0, 1]
    assert not ray.is_open


def test_a_cluster_that_somebody_else_joined_stays(ray):
    ray.is_open = True
    start(work.square, 0).close()
    assert ray.joined == []
    assert ray.killed == [0]
    assert ray.is_open


def test_nothing_is_asked_of_a_cluster_that_was_left(ray):
    pool = start(work.square, 0)
    ray.shutdown()
    pool.close()
    assert ray.killed == []


def test_calls_of_a_stopped_actor_are_forgotten(ray):
    pool = start(work.square, 0, 1)
    pool.stop(0)
    pool.stop(7)  # never there
    assert ray.killed == [0]
    assert take(pool)[:2] == (1, "placed")


@pytest.mark.parametrize(
    ("is_placed", "is_alive", "error", "kind"),
    [
        (True, True, RayError("gone"), "died"),
        (True, False, RayError("gone"), "lost"),
        (True, True, OutOfMemoryError("full"), "lost"),
        (False, True, RayError("gone"), "died"),
        (False, True, RayError("its node has died"), "lost"),
    ],
)
def test_a_lost_machine_is_told_from_a_dead_worker(
    ray, is_placed, is_alive, error, kind
):
    pool = start(work.square, 2)
    if is_placed:
        take(pool)
    ray.node["Alive"], ray.error = is_alive, error
    slot, found, event = take(pool)
    assert (slot, found) == (2, kind)
    assert event.detail == f"{type(error).__name__}: {error}"
    assert ray.killed == [2]
    assert pool.wait(1.0) == []


def test_the_next_actor_of_a_slot_is_not_where_the_last_one_was(ray):
    pool = start(work.square, 2)
    take(pool)
    pool.stop(2)
    pool.start(2)
    ray.node["Alive"], ray.error = False, RayError("gone")
    assert take(pool)[:2] == (2, "died")  # nobody knows where it was


def test_a_worker_that_fits_no_node_is_refused(ray):
    with pytest.raises(ConfigurationError, match="a node with 8 CPU and 0 GPU") as told:
        start(work.square, 0, cpus_per_worker=8)
    assert "got nodes with 4 CPU and 0 GPU" in str(told.value)


def test_what_is_missing_on_a_node_says_so(ray):
    pool = start(work.Obey(), 0)
    take(pool), take(pool)
    pool.submit(0, ["missing"])
    *_, event = take(pool)
    assert isinstance(event.error, MissingInputError)
    assert "every node needs the data at the same paths" in str(event.error)


def test_a_function_that_a_node_does_not_have_stops_the_run(ray):
    pool = start(work.square, 0)
    take(pool)

    pool._actors[0].actor._function = pickle.dumps(work.square).replace(
        b"square", b"cubist"
    )
    slot, kind, event = take(pool)
    assert (slot, kind) == (0, "stopping")
    assert "install the same version on every node" in str(event.error)


def test_results_that_cannot_travel_are_a_failure(ray):
    pool = start(work.unpicklable, 0)
    take(pool), take(pool)
    pool.submit(0, [1])
    slot, kind, event = take(pool)
    assert (slot, kind) == (0, "raised")
    assert event.detail.startswith("The results cannot travel: ")


@pytest.mark.parametrize("error", [OSError("a"), RuntimeError("b"), ValueError("c")])
def test_a_cluster_that_cannot_be_joined_is_named(ray, error):
    ray.error = error
    with pytest.raises(ConfigurationError, match=r"at 'auto'.*ray start --head"):
        start(work.square, 0, address="auto")


@pytest.mark.parametrize("form", ["{}", "ray://{}"])
def test_nobody_at_an_address_is_noticed_before_ray_asks(ray, form):
    with socket.create_server(("127.0.0.1", 0)) as server:
        place = form.format(f"127.0.0.1:{server.getsockname()[1]}")
        start(work.square, 0, address=place)
        assert ray.joined == [place]
    ray.shutdown()
    with pytest.raises(ConfigurationError, match="ConnectionRefusedError"):
        start(work.square, 0, address=place)


def test_errors_of_ray_are_one_line_without_ids_and_guesses():
    said = "The actor died\n\n\tclass_name: Child\n\tactor_id: 01\n unexpectedly."
    error = ValueError(f"{said} Some common causes include:\n (1) memory")
    assert _describe(error) == "ValueError: The actor died unexpectedly."


def test_long_errors_are_cut():
    assert _describe(OSError("x" * 10_000)) == f"OSError: {'x' * _LONGEST}"
