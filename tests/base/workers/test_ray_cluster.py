"""A Ray cluster of two nodes on one host: what local processes give, whatever dies."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import sys
import tempfile
import threading
import time
from itertools import count
from pathlib import Path

import numpy as np
import pytest
import yaml

from mathamr_kedro.base.errors import ConfigurationError, WorkerError
from mathamr_kedro.base.workers import (
    Partition,
    RayConfig,
    WorkerConfig,
    run_partitions,
)
from mathamr_kedro.formula import TreeStore
from tests.base.workers import work
from tests.formula.test_tree_batches import build_batches
from tests.pipelines.search_world import build_index

pytestmark = [pytest.mark.ray, pytest.mark.filterwarnings("ignore")]

OVERLAY = Path(__file__).parents[2] / "conf" / "overlays" / "ray.yml"
STORE = 80 * 2**20  # bytes; Ray takes no less than 75 MB
QUICK = {  # a killed node is noticed within two seconds, a slow one is not taken for it
    "RAY_health_check_initial_delay_ms": "0",
    "RAY_health_check_period_ms": "500",
    "RAY_health_check_timeout_ms": "20000",
    "RAY_health_check_failure_threshold": "3",
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_memory_monitor_refresh_ms": "0",  # other programs may fill this host
}
NODE = {
    "num_cpus": 1,
    "object_store_memory": STORE,
    "include_dashboard": False,
}


class TwoNodes:
    """A head with one CPU, and a second node with one that may come and go."""

    def __init__(self, folder: Path) -> None:
        from ray.cluster_utils import Cluster

        self.folder = folder
        # Ray notes the newest cluster in its usual folder, and does not make that.
        (Path(tempfile.gettempdir()) / "ray").mkdir(exist_ok=True)
        self.cluster = Cluster(
            initialize_head=True, head_node_args={**NODE, "temp_dir": str(folder)}
        )
        self.add_second()

    def add_second(self) -> None:
        self.second = self.cluster.add_node(**NODE)

    def lose_second(self) -> None:
        self.cluster.remove_node(self.second, allow_graceful=False)

    def find_actors(self) -> list[int]:
        """Return the processes of actors, on both nodes."""
        raylets = {
            node.all_processes["raylet"][0].process.pid
            for node in (self.cluster.head_node, self.second)
        }
        return [pid for pid in map(int, _list_pids()) if _is_actor(pid, raylets)]

    def run(self, function, partitions, **settings):
        ray = RayConfig(self.cluster.address, cpus_per_worker=1)
        config = WorkerConfig(**{"runner": "ray", "workers": 2, "ray": ray} | settings)
        return run_partitions(function, partitions, config)


def _list_pids():
    return (entry.name for entry in Path("/proc").iterdir() if entry.name.isdigit())


def _is_actor(pid: int, raylets: set[int]) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        command = Path(f"/proc/{pid}/cmdline").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return False
    return int(state[1]) in raylets and command.startswith(b"ray::_Actor")


@pytest.fixture(scope="module")
def nodes():
    # Not below pytest's folders: the paths of sockets have to be short. Nodes of a
    # cluster do not run in the folder of the project, so neither do these.
    folder = Path(tempfile.mkdtemp(prefix="ray"))
    with pytest.MonkeyPatch.context() as patch:
        for name, value in QUICK.items():
            patch.setenv(name, value)
        path = [str(Path(p).absolute()) for p in [Path.cwd(), *filter(None, sys.path)]]
        patch.setenv("PYTHONPATH", os.pathsep.join(path))
        with patch.context() as there:
            there.chdir(folder)
            started = TwoNodes(folder)
        yield started
        started.cluster.shutdown()
    shutil.rmtree(folder, ignore_errors=True)


def test_both_nodes_work_and_results_are_in_order(nodes):
    partitions = [Partition(f"p{n}", list(range(n % 4))) for n in range(60)]
    done = list(nodes.run(work.linger, partitions, batch_size=2))
    assert [d.name for d in done] == [p.name for p in partitions]
    assert [[r[0] for r in d.results] for d in done] == [p.items for p in partitions]
    assert len({r[1] for d in done for r in d.results}) == 2  # a node holds one


def test_more_workers_than_places_hold_up_nothing(nodes):
    partitions = [Partition(f"p{n}", [n]) for n in range(120)]
    done = list(nodes.run(work.linger, partitions, workers=32))
    assert [d.results[0][0] for d in done] == list(range(120))


def test_a_killed_actor_costs_no_item(nodes):
    """Whoever works is killed from outside, five times."""
    killed: list[int] = []
    done = []
    for result in nodes.run(
        work.linger, [Partition(f"p{n}", [n, -n]) for n in range(80)], batch_size=2
    ):
        done.append(result)
        if len(done) % 15 == 0:
            killed.append(result.results[0][1])
            kill(killed[-1])
    assert [[r[0] for r in d.results] for d in done] == [[n, -n] for n in range(80)]
    assert len(set(killed)) > 1


def test_a_node_is_lost_and_another_joins(nodes):
    """Its batches are run again elsewhere: no item is lost, doubled or failed."""
    state = {"is_lost": False, "alone": 0, "has_rejoined": False}
    seen: dict[str, set[int]] = {"before": set(), "between": set(), "after": set()}

    def partitions():
        for n in count():
            if len(seen["after"]) == 2:
                return
            assert n < 4000
            yield Partition(f"p{n}", [n, -n, n])

    done = []
    for result in nodes.run(work.linger, partitions(), batch_size=1):
        done.append(result)
        pids = {r[1] for r in result.results}
        if not state["is_lost"]:
            seen["before"] |= pids
            if len(seen["before"]) == 2:
                nodes.lose_second()
                state["is_lost"] = True
        elif not state["has_rejoined"]:
            seen["between"] |= pids
            state["alone"] += 1
            if state["alone"] > 40:  # more than were open when the node was lost
                nodes.add_second()
                state["has_rejoined"] = True
        else:
            seen["after"] |= pids
    expected = [[n, -n, n] for n in range(len(done))]
    assert [[r[0] for r in d.results] for d in done] == expected
    assert [d.name for d in done] == [f"p{n}" for n in range(len(done))]
    assert len(seen["after"] - seen["before"]) == 1  # the actor of the new node


def test_results_pass_through_a_small_object_store(nodes):
    """240 MB of results, of which at most one per worker lies in the stores."""
    partitions = [Partition(f"p{n}", [n]) for n in range(10)]
    for n, done in enumerate(nodes.run(work.grow, partitions)):
        (array,) = done.results
        assert array.flags.writeable and len(array) == 24 * 2**20
        assert (array[0], array[-1]) == (n, n)
        array += np.uint8(1)
    spilled = [f for f in nodes.folder.rglob("ray_spilled_objects*/*") if f.is_file()]
    assert spilled == []


def test_results_that_cannot_travel_are_a_failure(nodes):
    (done,) = nodes.run(work.unpicklable, [Partition("p", [1])])
    assert "cannot travel" in done.results[0].detail


def test_a_function_that_a_node_cannot_import_stops_the_run(nodes, monkeypatch):
    monkeypatch.setattr(work.square, "__module__", "nowhere")
    monkeypatch.setitem(sys.modules, "nowhere", work)
    with pytest.raises(WorkerError, match="same version on every node"):
        list(nodes.run(work.square, [Partition("p", [1])]))


def test_workers_that_no_node_can_hold_are_refused(nodes):
    ray = RayConfig(nodes.cluster.address, cpus_per_worker=3, gpus_per_worker=1)
    message = r"a node with 3 CPU and 1 GPU .* nodes with 1 CPU and 0 GPU; 1 CPU"
    with pytest.raises(ConfigurationError, match=message):
        list(nodes.run(work.square, [Partition("p", [1])], ray=ray))


def test_a_cluster_that_others_fill_is_waited_for(nodes):
    """Two runs at once: the second has no place before the first one ends."""
    first = nodes.run(work.linger, (Partition(f"p{n}", [n]) for n in count()))
    seen: set[int] = set()
    while len(seen) < 2:
        seen |= {r[1] for r in next(first).results}
    late = nodes.run(work.square, [Partition("q", [3])], start_timeout_s=2.0)
    with pytest.raises(WorkerError, match=r"No worker found a place .* within 2 s"):
        next(late)
    assert next(first).results
    first.close()


@pytest.mark.parametrize("scheme", ["", "ray://"])
def test_a_cluster_that_does_not_answer_is_named(scheme):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"{scheme}127.0.0.1:{free.getsockname()[1]}"
        config = WorkerConfig(runner="ray", ray=RayConfig(address))
        with pytest.raises(ConfigurationError, match=f"reach .*'{address}'.*ray start"):
            list(run_partitions(work.square, [Partition("p", [1])], config))


def test_nothing_to_do_joins_no_cluster():
    config = WorkerConfig(runner="ray", ray=RayConfig("127.0.0.1:1"))
    assert list(run_partitions(work.square, [], config)) == []


MADE_BY_WORKERS = [
    "03_primary/**/*", "04_feature/**/*", "05_model_input/**/*",
    "06_models/*_vectors/*/*.safetensors",
]  # fmt: skip


def read_files(folder: Path) -> dict[str, bytes]:
    return {
        str(file.relative_to(folder)): file.read_bytes()
        for pattern in MADE_BY_WORKERS
        for file in folder.glob(pattern)
        if file.is_file() and file.name != ".seconds"  # how long it took
    }


def test_trees_of_formulas_are_those_of_one_process(nodes, tmp_path):
    ray = RayConfig(nodes.cluster.address, cpus_per_worker=1)
    made = []
    for workers in ({"workers": 1}, {"workers": 2, "runner": "ray", "ray": ray}):
        config = WorkerConfig(batch_size=2, **workers)
        with TreeStore(tmp_path / f"{len(made)}.sqlite") as store:
            made.append(build_batches(store, config))
    assert list(made[0].items()) == list(made[1].items())


@pytest.mark.timeout(600)
def test_every_stage_writes_the_same_bytes(nodes, tmp_path):
    """With the overlay ``ray``, while actors are killed; failures and all."""
    stages = yaml.safe_load(OVERLAY.read_text())["parameters"]
    for stage in stages.values():
        workers = stage.get("encoding", stage)["workers"]
        workers["ray"] = workers["ray"] | {"address": nodes.cluster.address}
    build_index(tmp_path / "local")
    end, killed = threading.Event(), []

    def kill_actors():
        # Two: a third that cannot start would be one too many for a run.
        while len(killed) < 2 and not end.wait(0.2):
            for pid in nodes.find_actors()[:1]:
                killed.append(pid)
                kill(pid)
                time.sleep(4)

    killer = threading.Thread(target=kill_actors)
    killer.start()
    try:
        build_index(tmp_path / "ray", **stages)
    finally:
        end.set()
        killer.join()
    local, ray = read_files(tmp_path / "local"), read_files(tmp_path / "ray")
    assert len(killed) == 2
    assert "03_primary/math_graphs/posts-0-000.amr.txt" in local
    assert [name for name in local if name.endswith("safetensors")]
    assert ray.keys() == local.keys()
    assert [name for name in local if local[name] != ray[name]] == []


def kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
