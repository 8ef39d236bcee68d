"""Workers as Ray actors, on this machine or over a cluster.

::

    this process ─ batch, as bytes ─> actor of slot 0, node A    one batch per actor:
                 <─ event, as bytes ─                            at most ``workers``
                 ─ batch ───────────> actor of slot 1, node B    in the object stores

Plain actors that are called batch by batch: ``ray.data`` merges partitions, and a task
per batch would load the model every time. Every node of the cluster needs this package.
"""

from __future__ import annotations

import pickle
import socket
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any, Literal
from urllib.parse import urlsplit

from mathamr_kedro.base.errors import ConfigurationError, MissingInputError, WorkerError
from mathamr_kedro.base.workers.job import Event, Function, Job, RayConfig

_SECONDS_TO_ANSWER = 10.0
"""Seconds until a cluster counts as unreachable; Ray itself tries for minutes."""


_LONGEST = 400
"""Characters of an error that are kept; some of Ray's contain tables of processes."""
_ON_NODES = " (a Ray worker says so: every node needs the data at the same paths)"


class RayPool:
    """Actors of a Ray cluster, one per slot; joined when the first one starts."""

    def __init__(self, function: Function, config: RayConfig) -> None:
        self._ray = _import_ray()
        self._function, self._config = function, config
        self._is_own = False
        self._make_actor: Callable[[int], Any] | None = None
        self._actors: dict[int, Any] = {}
        self._nodes: dict[int, str] = {}
        self._running: dict[Any, int] = {}

    def start(self, slot: int) -> bool:
        """Ask for an actor; the cluster places it where and when there is room."""
        self._make_actor = self._make_actor or self._join()
        self._actors[slot] = self._make_actor(slot)
        self._running[self._actors[slot].find_place.remote()] = slot
        return False

    def submit(self, slot: int, batch: Sequence[Any]) -> None:
        """Call the actor."""
        self._running[self._actors[slot].call.remote(pickle.dumps(batch))] = slot

    def wait(self, timeout: float | None) -> list[tuple[int, Event]]:
        """Return the events of the calls that are done."""
        done, _ = self._ray.wait(list(self._running), timeout=timeout)
        return [self._receive(reference) for reference in done]

    def stop(self, slot: int) -> None:
        """Kill the actor of a slot."""
        actor = self._actors.pop(slot, None)
        self._nodes.pop(slot, None)
        self._running = {r: s for r, s in self._running.items() if s != slot}
        if actor is not None:
            self._ray.kill(actor)

    def close(self) -> None:
        """Kill all actors; leave the cluster if we joined or started it."""
        if not self._ray.is_initialized():
            # The process ends and has left the cluster, its actors went along; a call
            # now would start another cluster and wait for it.
            return
        for slot in list(self._actors):
            self.stop(slot)
        if self._is_own:
            self._ray.shutdown()

    def _join(self) -> Callable[[int], Any]:
        """Join the cluster; return what asks it for the actor of a slot."""
        config = self._config
        if not self._ray.is_initialized():
            self._is_own = True
            _join_cluster(self._ray, config.address)
        _check_resources(self._ray.nodes(), config)
        function = self._ray.put(pickle.dumps(self._function))
        actors = self._ray.remote(_Actor).options(
            num_cpus=config.cpus_per_worker,
            num_gpus=config.gpus_per_worker,
            max_restarts=0,
        )
        return lambda slot: actors.remote(function, slot)

    def _receive(self, reference: Any) -> tuple[int, Event]:
        slot = self._running.pop(reference)
        try:
            event: Event = pickle.loads(self._ray.get(reference))
        except self._ray.exceptions.RayError as exc:
            event = Event(self._judge_death(slot, exc), _describe(exc))
            self.stop(slot)
            return slot, event
        if event.kind == "placed":
            self._nodes[slot] = event.detail
            self._running[self._actors[slot].prepare.remote()] = slot
        if isinstance(event.error, MissingInputError):
            event = event._replace(error=MissingInputError(f"{event.error}{_ON_NODES}"))
        return slot, event

    def _judge_death(self, slot: int, exc: Exception) -> Literal["lost", "died"]:
        if isinstance(exc, self._ray.exceptions.OutOfMemoryError):
            return "lost"  # the node has no memory left, whoever took it
        alive = {node["NodeID"] for node in self._ray.nodes() if node["Alive"]}
        if slot in self._nodes:
            return "died" if self._nodes[slot] in alive else "lost"
        # It never reported its node; Ray names it only in words.
        return "lost" if "node has died" in str(exc) else "died"


class _Actor:
    """A job whose input and output are bytes.

    Ray would hand out arrays of the object store, read-only, and keep their
    room there for as long as somebody holds them. Results are to be those of the other
    pools, and partitions wait for their turn in the memory of this process.
    """

    def __init__(self, function: bytes, slot: int) -> None:
        self._function, self._slot = function, slot
        self._job: Job | None = None

    def find_place(self) -> bytes:
        """Tell which node this is: the first answer, before anything is loaded."""
        node = _import_ray().get_runtime_context().get_node_id()
        return pickle.dumps(Event("placed", node))

    def prepare(self) -> bytes:
        """Load the function and what it needs."""
        try:
            function = pickle.loads(self._function)
        except Exception as exc:
            problem = (
                f"A worker cannot import the function ({type(exc).__name__}: {exc}); "
                "install the same version on every node of the cluster"
            )
            return pickle.dumps(Event("stopping", error=WorkerError(problem)))
        self._job = Job(function, self._slot)
        return pickle.dumps(self._job.prepare())

    def call(self, batch: bytes) -> bytes:
        """Run the function on a batch."""
        assert self._job is not None
        event = self._job.call(pickle.loads(batch))
        try:
            return pickle.dumps(event)
        except Exception as exc:
            return pickle.dumps(Event("raised", f"The results cannot travel: {exc}"))


def _import_ray() -> ModuleType:
    try:
        import ray  # noqa: PLC0415
    except ImportError as exc:
        raise ConfigurationError(
            "Expected the package 'ray' for 'runner: ray'; run: "
            'pip install "mathamr-kedro[ray]", or use "runner: local"'
        ) from exc
    return ray


def _join_cluster(ray: ModuleType, address: str | None) -> None:
    try:
        _knock(address)
        ray.init(address=address, log_to_driver=True)
    except (OSError, RuntimeError, ValueError, ray.exceptions.RayError) as exc:
        raise ConfigurationError(
            f"Cannot reach a Ray cluster at {address!r} ('ray.address', or "
            f"$RAY_ADDRESS): {_describe(exc)}. Start one with `ray start --head`, or "
            "set the address to null for one that starts and ends with the run"
        ) from exc


def _knock(address: str | None) -> None:
    """Raise OSError if nobody listens at HOST:PORT; other addresses are Ray's."""
    if address is None or ":" not in address:
        return
    place = urlsplit(address if "//" in address else f"//{address}")
    with socket.create_connection((place.hostname, place.port), _SECONDS_TO_ANSWER):
        return


def _check_resources(nodes: Sequence[dict[str, Any]], config: RayConfig) -> None:
    """Reject a worker that no node could hold even if it were empty."""
    needed = {"CPU": config.cpus_per_worker, "GPU": config.gpus_per_worker}
    found = [
        {name: node["Resources"].get(name, 0) for name in needed}
        for node in nodes
        if node["Alive"]
    ]
    if any(all(has[name] >= needed[name] for name in needed) for has in found):
        return

    def tell(amounts: dict[str, float]) -> str:
        return f"{amounts['CPU']:g} CPU and {amounts['GPU']:g} GPU"

    raise ConfigurationError(
        f"Expected a node with {tell(needed)} for each worker ('ray.cpus_per_worker', "
        f"'ray.gpus_per_worker'; got nodes with {'; '.join(map(tell, found))}); ask "
        "for less, or let such a node join the cluster first"
    )


def _describe(exc: Exception) -> str:
    """Return what an error says on one line, without Ray's ids and its guesses."""
    lines = [line.strip() for line in str(exc).splitlines() if line[:1] != "\t"]
    said = " ".join(filter(None, lines)).partition(" Some common causes")[0]
    return f"{type(exc).__name__}: {said[:_LONGEST]}"
