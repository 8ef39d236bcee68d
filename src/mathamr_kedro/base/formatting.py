"""Formatting of numbers and tables: one rule for scores everywhere."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

_BLOCKS = "▁▂▃▄▅▆▇█"
_NOISE = 12
"""Decimals beyond which two ways to add up the same scores may differ."""


def format_score(value: float, decimals: int = 4, signed: bool = False) -> str:
    """Return a score as text, rounded as ``printf`` and so trec_eval (``%.4f``) do.

    The binary number of the score is rounded to the nearest decimal. Sums
    in another order may differ in their last bit, and .3625 would become .362 in one
    place and .363 in another; so the noise of sums is rounded off first.

    >>> format_score(0.3625, 3), format_score(0.36250000000000004, 3)
    ('0.362', '0.362')
    >>> format_score(-1e-17, signed=True)
    '+0.0000'
    """
    exact = round(float(value), _NOISE) + 0.0  # no minus before zero
    return f"{exact:{'+' if signed else ''},.{decimals}f}"


def count_nouns(number: int, noun: str) -> str:
    """Return a number with its noun.

    >>> count_nouns(1, "shard"), count_nouns(1200, "shard")
    ('1 shard', '1,200 shards')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def shorten(text: str, max_length: int) -> str:
    r"""Return a text as one line, cut if it is too long.

    >>> shorten("a ring\nof integers", 80), shorten("a ring\nof integers", 8)
    ('a ring of integers', 'a ring …')
    """
    line = " ".join(text.split())
    return line if len(line) <= max_length else line[: max_length - 1] + "…"


def format_table(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Return a Markdown table; all columns but the first are aligned to the right.

    >>> print(format_table(("Statistic", "Value"), [("Posts", 1200)]))
    | Statistic | Value |
    |---|---:|
    | Posts | 1,200 |
    """
    lines = [f"| {' | '.join(map(_format_cell, line))} |" for line in (head, *rows)]
    lines.insert(1, "|---" + "|---:" * (len(head) - 1) + "|")
    return "\n".join(lines)


def _format_cell(value: Any) -> str:
    is_count = isinstance(value, int) and not isinstance(value, bool)
    return f"{value:,}" if is_count else str(value)


def format_duration(seconds: float) -> str:
    """Format a duration.

    >>> [format_duration(s) for s in (0.04, 2.31, 8, 150, 9000)]
    ['0.0 s', '2.3 s', '8 s', '2 min 30 s', '2 h 30 min']
    """
    if seconds < 5:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes == 0:
        return f"{rest} s"
    if minutes < 60:
        return f"{minutes} min {rest} s"
    return f"{minutes // 60} h {minutes % 60} min"


def draw_sparkline(values: Sequence[float], width: int = 40) -> str:
    """Draw a series as a line of blocks; of a long one, its last values.

    >>> draw_sparkline([0.9, 0.5, 0.3, 0.2]), draw_sparkline([1.0, 1.0])
    ('█▄▂▁', '▁▁')
    >>> draw_sparkline([])
    ''
    """
    shown = list(values)[-width:]
    if not shown:
        return ""
    low, high = min(shown), max(shown)
    scale = (len(_BLOCKS) - 1) / (high - low) if high > low else 0.0
    return "".join(_BLOCKS[round((value - low) * scale)] for value in shown)
