"""Progress of long loops as log lines: count, speed, time left.

::

    posts parsed: 5,500 of 14,210 (39 %), 16/s, 9 min 4 s left
    posts: 60,000 so far, 41 % of the files, 812/s, 1 min 46 s left
    cells: 3 of 20 (15 %), 42 s each, 11 min 54 s left

If the number of items is not known, the bytes of the files that they come from tell how
far a loop is; readers count them by :func:`count_bytes`.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from mathamr_kedro.base.formatting import format_duration

T = TypeVar("T")

logger = logging.getLogger(__name__)

_WORTH_A_LINE = 2.0
"""Seconds; a shorter loop ends without a line."""
_bytes_read = [0]


def count_bytes(number: int) -> None:
    """Count bytes that were read from an input file, compressed or not."""
    _bytes_read[0] += number


def report_progress(
    items: Iterable[T],
    name: str,
    size_of: Callable[[T], int] = lambda item: 1,
    seconds: float = 10.0,
    total: int | None = None,
    total_bytes: int = 0,
    ends: bool = True,
) -> Iterator[T]:
    """Yield the items; log how far the loop is every few seconds, and its end.

    Args:
        items: any iterable.
        name: what is counted, in the plural.
        size_of: how much an item adds to the count.
        seconds: minimum time between two log lines.
        total: the final count; ``None`` if it is not known.
        total_bytes: of the files that the items are read from, if it is not.
        ends: whether to log the end; ``False`` if the caller logs more.
    """
    meter = _Meter(name, total, total_bytes)
    last, count, is_long = meter.started, 0, False
    for item in items:
        count += size_of(item)
        yield item
        now = time.perf_counter()
        if now - last >= seconds:
            last, is_long = now, True
            logger.info("%s", meter.describe(count, now))
    now = time.perf_counter()
    is_long = ends and (is_long or now - meter.started >= _WORTH_A_LINE)
    logger.log(logging.INFO if is_long else logging.DEBUG, "%s", meter.end(count, now))


class _Meter:
    """Counts and times of a loop."""

    def __init__(self, name: str, total: int | None, total_bytes: int) -> None:
        self.started = time.perf_counter()
        self._name, self._total, self._total_bytes = name, total, total_bytes
        self._first_byte = _bytes_read[0]

    def describe(self, count: int, now: float) -> str:
        """Describe the progress."""
        share, passed = self._find_share(count), now - self.started
        parts = [_format_rate(count, passed)]
        if 0 < share < 1:
            parts.append(f"{format_duration(passed * (1 - share) / share)} left")
        if self._total is not None:
            known = f"{count:,} of {self._total:,} ({share:.0%})".replace("%", " %")
            return f"{self._name}: {', '.join([known, *parts])}"
        known = f"{count:,} so far"
        if share:
            known += f", {share:.0%} of the files".replace("%", " %")
        return f"{self._name}: {', '.join([known, *parts])}"

    def end(self, count: int, now: float) -> str:
        """Log the total."""
        passed = now - self.started
        rate = f", {_format_rate(count, passed)}" if count else ""
        return f"{self._name}: {count:,} in {format_duration(passed)}{rate}"

    def _find_share(self, count: int) -> float:
        if self._total is not None:
            return min(1.0, count / self._total) if self._total else 1.0
        read = _bytes_read[0] - self._first_byte
        return min(1.0, read / self._total_bytes) if self._total_bytes else 0.0


def _format_rate(count: int, seconds: float) -> str:
    """Format a rate; items that take more than a second, by their time.

    >>> [_format_rate(n, 10.0) for n in (50_000, 100, 25, 10, 4, 0)]
    ['5,000/s', '10/s', '2.5/s', '1.0/s', '2.5 s each', 'none in 10 s']
    >>> _format_rate(2, 400.0), _format_rate(1, 60.0)
    ('3 min 20 s each', '1 min 0 s each')
    """
    if count == 0:
        return f"none in {format_duration(seconds)}"
    rate = count / max(seconds, 1e-9)
    if rate >= 10:
        return f"{rate:,.0f}/s"
    if rate >= 1:
        return f"{rate:.1f}/s"
    each = seconds / count
    return f"{each:.1f} s each" if each < 60 else f"{format_duration(each)} each"
