"""Counts and times of a server process, as Prometheus reads them."""

from __future__ import annotations

import os
import time
from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_BOUNDS = (0.01, 0.025, 0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8, 30.0)
"""Seconds."""


class Metrics:
    """Requests of one process: how many, how they ended, how long they took."""

    def __init__(self) -> None:
        self._requests: Counter[tuple[str, str, int]] = Counter()
        self._buckets: dict[str, list[int]] = {}
        self._seconds: Counter[str] = Counter()
        self._started = time.time()

    def count(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count a request; the route is its pattern, never what a client sent."""
        self._requests[method, route, status] += 1
        buckets = self._buckets.setdefault(route, [0] * (len(_BOUNDS) + 1))
        buckets[bisect_left(_BOUNDS, seconds)] += 1
        self._seconds[route] += seconds  # type: ignore[assignment]

    def write(self, gauges: Mapping[str, tuple[str, float]]) -> str:
        """Return everything as text.

        Args:
            gauges: other values by name, each with what it is.
        """
        worker = f'worker="{os.getpid()}"'
        lines = [
            "# HELP mathamr_requests_total Requests by method, route and status.",
            "# TYPE mathamr_requests_total counter",
        ]
        for (method, route, status), count in sorted(self._requests.items()):
            labels = f'method="{method}",route="{route}",status="{status}",{worker}'
            lines.append(f"mathamr_requests_total{{{labels}}} {count}")
        name = "mathamr_request_seconds"
        lines += [f"# HELP {name} Time of requests.", f"# TYPE {name} histogram"]
        for route, buckets in sorted(self._buckets.items()):
            labels, total = f'route="{route}",{worker}', 0
            for bound, count in zip((*_BOUNDS, "+Inf"), buckets, strict=True):
                total += count
                lines.append(f'{name}_bucket{{{labels},le="{bound}"}} {total}')
            lines.append(f"{name}_sum{{{labels}}} {self._seconds[route]:.6f}")
            lines.append(f"{name}_count{{{labels}}} {total}")
        own = {
            "start_time_seconds": ("When the process started.", self._started),
            "resident_bytes": ("Memory of the process.", _read_memory()),
        }
        for key, (what, value) in {**own, **gauges}.items():
            lines += [f"# HELP mathamr_{key} {what}", f"# TYPE mathamr_{key} gauge"]
            lines.append(f"mathamr_{key}{{{worker}}} {value:.15g}")
        return "\n".join(lines) + "\n"


def _read_memory() -> float:
    """Return the resident memory in bytes; 0 if the system does not say."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            pages = int(file.read().split()[1])
    except OSError:
        return 0.0
    return float(pages * os.sysconf("SC_PAGE_SIZE"))
