"""How many workers, where, and how long one may be silent."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from mathamr_kedro.base.parameters import check_range


@dataclass(frozen=True)
class RayConfig:
    """Parameters of ``runner: ray``."""

    address: str | None = None
    """Cluster to join: ``HOST:6379`` or ``auto`` on one of its nodes,
    ``ray://HOST:10001`` from outside. ``None``: the one that ``$RAY_ADDRESS`` names or
    that runs on this machine; if there is none, one that ends with the run."""
    cpus_per_worker: float = 0.5
    """Below one, so that actors never hold every CPU: then nothing else could start."""
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
    """After so many items a worker is replaced: libraries that leak stay bounded."""
    ray: RayConfig = field(default_factory=RayConfig)

    def __post_init__(self) -> None:
        check_range(self, "workers", "batch_size", "items_per_process", least=1)
        check_range(self, "timeout_s", above=0)
