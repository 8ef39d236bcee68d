"""How a worker calls the function it is given, and what it reports."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from mathamr_kedro.base.errors import ConfigurationError, MissingInputError
from mathamr_kedro.base.parameters import check_range

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class RayConfig:
    """Parameters of ``runner: ray``."""

    address: str | None = None
    """Cluster to join: ``HOST:6379`` or ``auto`` on one of its nodes,
    ``ray://HOST:10001`` from outside. ``None``: the one that ``$RAY_ADDRESS`` names or
    that runs on this machine; if there is none, one that ends with the run."""
    cpus_per_worker: float = 0.5
    """Below one: if actors held every CPU, nothing else could start."""
    gpus_per_worker: float = 0.0
    """Ray shows an actor only its own GPUs, the first as ``cuda:0``."""


@dataclass(frozen=True)
class WorkerConfig:
    """How :func:`mathamr_kedro.base.workers.run_partitions` runs."""

    runner: Literal["local", "ray"] = "local"
    workers: int = 2
    """Processes (or actors) at a time at most; ``local`` with 1 runs in this process,
    which cannot survive the death of a worker nor end one that hangs."""
    batch_size: int = 32
    """Items per call of the function."""
    timeout_s: float | None = 600.0
    """A batch that takes longer is run again item by item in a new worker."""
    start_timeout_s: float = 900.0
    """A worker that is not ready by then (models to load) stops the run; time that it
    waits for a place in a cluster, while others work, does not count."""
    items_per_process: int = 50_000
    """After so many items a worker is replaced, which bounds memory leaks."""
    ray: RayConfig = field(default_factory=RayConfig)

    def __post_init__(self) -> None:
        check_range(self, "workers", "batch_size", "items_per_process", least=1)
        check_range(self, "timeout_s", above=0)


Function = Callable[[Sequence[Any]], Sequence[Any]]

Reason = Literal["exception", "timeout", "out_of_memory", "unreadable_file"]

STOPPING = (ConfigurationError, MissingInputError)
"""Errors that every other item would meet too: they stop the run."""

_slot = [0]


class Event(NamedTuple):
    """What happened to a worker.

    ============  ==============================================================
    ``placed``    it has its place in a cluster (``detail``) and is loading
    ``ready``     it has loaded what it needs
    ``finished``  the batch is done: ``results``
    ``raised``    the function raised (``detail``); the worker survives
    ``stopping``  the function raised an ``error`` that concerns the whole run
    ``died``      the worker is gone (``detail``)
    ``lost``      so is its machine, or all memory there; the batch is not at fault
    ============  ==============================================================
    """

    kind: Literal["placed", "ready", "finished", "raised", "stopping", "died", "lost"]
    detail: str = ""
    reason: Reason = "exception"
    """Why it raised, to count by."""
    results: Sequence[Any] = ()
    error: Exception | None = None


class Job:
    """The function of a run inside one worker."""

    def __init__(self, function: Function, slot: int) -> None:
        _slot[0] = slot
        self._function = function

    def prepare(self) -> Event:
        """Call ``function.prepare()`` if there is one; return its outcome."""
        try:
            getattr(self._function, "prepare", lambda: None)()
        except Exception as exc:
            return _describe(exc)
        return Event("ready")

    def call(self, batch: Sequence[Any]) -> Event:
        """Call the function on a batch; return its outcome."""
        try:
            results = list(self._function(batch))
        except Exception as exc:
            logger.debug("batch of %d failed", len(batch), exc_info=True)
            return _describe(exc)
        if len(results) != len(batch):
            return Event(
                "raised", f"Expected {len(batch)} results (got {len(results)})"
            )
        return Event("finished", results=results)


def current_slot() -> int:
    """Return the number of this worker, from 0; a parser picks its GPU by it."""
    return _slot[0]


def _describe(exc: Exception) -> Event:
    if isinstance(exc, STOPPING):
        return Event("stopping", error=exc)
    return Event("raised", f"{type(exc).__name__}: {exc}", explain_error(exc))


def explain_error(exc: Exception) -> Reason:
    """Return the reason that an error gives a failure.

    >>> explain_error(MemoryError()), explain_error(PermissionError("Posts.xml"))
    ('out_of_memory', 'unreadable_file')
    >>> explain_error(ValueError("no graph"))
    'exception'
    """
    # torch has an error of this name, which is no MemoryError.
    if isinstance(exc, MemoryError) or type(exc).__name__ == "OutOfMemoryError":
        return "out_of_memory"
    if isinstance(exc, TimeoutError):
        return "timeout"
    return "unreadable_file" if isinstance(exc, OSError) else "exception"
