"""Which of the workers this process is."""

from __future__ import annotations

_slot = [0]


def current_slot() -> int:
    """Return the number of this worker, from 0; a parser picks its GPU by it."""
    return _slot[0]


def set_slot(slot: int) -> None:
    """Note the number; called once when a worker starts."""
    _slot[0] = slot
