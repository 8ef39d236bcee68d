"""A finding: one odd fact about a run, with a count and examples."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal

Level = Literal["warning", "note"]


@dataclass(frozen=True)
class Finding:
    """One odd fact about a run."""

    code: str
    """Short name to look for in JSON output, e.g. ``missing_topics``."""
    level: Level
    """``warning``: the score is probably not what was meant; ``note``: good to know."""
    count: int
    message: str
    examples: tuple[str, ...] = ()


def find(
    code: str,
    level: Level,
    message: str,
    cases: Collection[str] = (),
    count: int | None = None,
) -> list[Finding]:
    """Return one finding, or none if the count is zero.

    Args:
        code: short name.
        level: how serious it is.
        message: what was found; ``{count}`` is filled in.
        cases: what is counted; the first three are kept as examples.
        count: number of cases, if they are not listed.

    >>> find("missing_topics", "note", "{count} topics are missing", ["A.1"])[0].message
    '1 topics are missing'
    >>> find("missing_topics", "note", "{count} topics are missing", [])
    []
    """
    number = len(cases) if count is None else count
    if not number:
        return []
    text = message.replace("{count}", f"{number:,}")
    return [Finding(code, level, number, text, tuple(list(cases)[:3]))]
