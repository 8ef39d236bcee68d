"""Workers as Ray actors, on this machine or over a cluster.

Plain actors that are called batch by batch: ``ray.data`` merges partitions, and a task
per batch would load the model every time. Every node of the cluster needs this package.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mathamr_kedro.errors import ConfigurationError
from mathamr_kedro.workers.config import RayConfig
from mathamr_kedro.workers.job import Event, Function, Job


class RayPool:
    """Actors of a Ray cluster, one per slot."""

    def __init__(self, function: Function, config: RayConfig) -> None:
        try:
            import ray  # noqa: PLC0415
        except ImportError as exc:
            raise ConfigurationError(
                "Expected the package 'ray' for 'runner: ray'; run: "
                'pip install "mathamr-kedro[ray]", or use "runner: local"'
            ) from exc
        self._ray = ray
        self._is_own = not ray.is_initialized()
        if self._is_own:
            ray.init(address=config.address, log_to_driver=True)
        self._function = ray.put(function)
        self._make_actor = ray.remote(Job).options(
            num_cpus=config.cpus_per_worker,
            num_gpus=config.gpus_per_worker,
            max_restarts=0,
        )
        self._actors: dict[int, Any] = {}
        self._waiting: dict[int, Sequence[Any]] = {}
        self._running: dict[Any, int] = {}

    def submit(self, slot: int, batch: Sequence[Any]) -> None:
        """Call the actor, or start it first."""
        if slot in self._actors:
            self._running[self._actors[slot].call.remote(batch)] = slot
            return
        self._actors[slot] = self._make_actor.remote(self._function, slot)
        self._waiting[slot] = batch
        self._running[self._actors[slot].prepare.remote()] = slot

    def wait(self, timeout: float | None) -> list[tuple[int, Event]]:
        """Return the events of the calls that are done."""
        done, _ = self._ray.wait(list(self._running), timeout=timeout)
        return [self._receive(reference) for reference in done]

    def stop(self, slot: int) -> None:
        """Kill the actor of a slot."""
        actor = self._actors.pop(slot, None)
        self._waiting.pop(slot, None)
        self._running = {r: s for r, s in self._running.items() if s != slot}
        if actor is not None:
            self._ray.kill(actor)

    def close(self) -> None:
        """Kill all actors; leave the cluster if we joined or started it."""
        for slot in list(self._actors):
            self.stop(slot)
        if self._is_own:
            self._ray.shutdown()

    def _receive(self, reference: Any) -> tuple[int, Event]:
        slot = self._running.pop(reference)
        try:
            event = self._ray.get(reference)
        except self._ray.exceptions.RayActorError as exc:
            self.stop(slot)
            return slot, Event("died", _first_line(exc))
        except self._ray.exceptions.RayError as exc:
            return slot, Event("raised", _first_line(exc))
        if event.kind == "ready" and slot in self._waiting:
            self.submit(slot, self._waiting.pop(slot))
        return slot, event


def _first_line(exc: Exception) -> str:
    return f"{type(exc).__name__}: {str(exc).strip().partition(chr(10))[0]}"
