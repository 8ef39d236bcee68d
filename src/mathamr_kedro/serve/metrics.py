"""Counts and times of a server, for Prometheus.

Several processes write their values to files in one folder, and a scrape of any of them
reads all files. The variable ``PROMETHEUS_MULTIPROC_DIR`` names the folder. It must be
set before this module is imported: ``prometheus_client`` reads it only once.
"""

from __future__ import annotations

import os
import time
from functools import partial
from pathlib import Path

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    disable_created_metrics,
    generate_latest,
)
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4 as CONTENT_TYPE
from prometheus_client.multiprocess import MultiProcessCollector, mark_process_dead

__all__ = ["CONTENT_TYPE", "SHARED_FOLDER", "Metrics"]

SHARED_FOLDER = "PROMETHEUS_MULTIPROC_DIR"
"""Variable with the folder through which processes share their values."""
_BOUNDS = (0.01, 0.025, 0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8, 30.0)
"""Seconds."""

disable_created_metrics()  # one more line for each value, which nobody plots


class Metrics:
    """Requests: how many, how they ended, how long they took; and the queue."""

    def __init__(self) -> None:
        # Not the registry of the package: one process may have several servers.
        self._registry = CollectorRegistry()
        gauge = partial(Gauge, namespace="mathamr", registry=self._registry)
        self._requests = Counter(
            "mathamr_requests",
            "Requests by method, route and status.",
            ("method", "route", "status"),
            registry=self._registry,
        )
        self._seconds = Histogram(
            "mathamr_request_seconds",
            "Time of requests.",
            ("route",),
            registry=self._registry,
            buckets=_BOUNDS,
        )
        self.waiting = gauge(
            "waiting_requests",
            "Requests at work or in line.",
            multiprocess_mode="livesum",
        )
        self.refused = gauge(
            "refused_requests", "Refused as too many waited.", multiprocess_mode="sum"
        )
        self.late = gauge(
            "late_requests", "Given up after the time limit.", multiprocess_mode="sum"
        )
        self._entries = gauge(
            "index_entries", "Entries of the index.", multiprocess_mode="mostrecent"
        )
        self._memory = gauge(
            "resident_bytes", "Memory of a process.", multiprocess_mode="liveall"
        )
        started = gauge(
            "start_time_seconds", "When a process started.", multiprocess_mode="liveall"
        )
        started.set(time.time())

    def count(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count a request; the route is its pattern, never what a client sent."""
        self._requests.labels(method, route, str(status)).inc()
        self._seconds.labels(route).observe(seconds)
        self._memory.set(_read_memory())

    def write(self, entries: int) -> bytes:
        """Return the values of all processes as text.

        Args:
            entries: how many the index has.
        """
        self._entries.set(entries)
        self._memory.set(_read_memory())
        folder = os.environ.get(SHARED_FOLDER)
        if folder is None:
            return generate_latest(self._registry)
        _forget_dead(Path(folder))
        shared = CollectorRegistry()
        MultiProcessCollector(shared, folder)
        return generate_latest(shared)


def _forget_dead(folder: Path) -> None:
    """Remove the live gauges of dead processes; a killed one could not do it itself."""
    for file in folder.glob("gauge_live*.db"):
        process = int(file.stem.rpartition("_")[2])
        try:
            os.kill(process, 0)
        except ProcessLookupError:
            mark_process_dead(process, str(folder))


def _read_memory() -> float:
    """Return the resident memory in bytes; 0 if the system does not say."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            pages = int(file.read().split()[1])
    except OSError:
        return 0.0
    return float(pages * os.sysconf("SC_PAGE_SIZE"))
