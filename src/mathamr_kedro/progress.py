"""Progress of long loops as log lines: how many items, how fast."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

T = TypeVar("T")

logger = logging.getLogger(__name__)


def report_progress(
    items: Iterable[T],
    name: str,
    size_of: Callable[[T], int] = lambda item: 1,
    seconds: float = 10.0,
) -> Iterator[T]:
    """Yield the items; log their count and rate every few seconds and at the end.

    Args:
        items: any iterable.
        name: what is counted, in the plural.
        size_of: how much an item adds to the count.
        seconds: minimum time between two log lines.
    """
    started = last = time.perf_counter()
    count = 0
    for item in items:
        count += size_of(item)
        yield item
        now = time.perf_counter()
        if now - last >= seconds:
            last = now
            logger.info(
                "%s: %s so far, %s/s", name, f"{count:,}", _rate(count, started)
            )
    logger.info("%s: %s new, %s/s", name, f"{count:,}", _rate(count, started))


def _rate(count: int, started: float) -> str:
    return f"{count / max(time.perf_counter() - started, 1e-9):,.0f}"
