"""How a worker calls the function it is given, and what it reports."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple

from mathamr_kedro.base.errors import ConfigurationError, MissingInputError

logger = logging.getLogger(__name__)

Function = Callable[[Sequence[Any]], Sequence[Any]]

Reason = Literal["exception", "timeout", "out_of_memory", "unreadable_file"]

STOPPING = (ConfigurationError, MissingInputError)
"""Errors that no other item would escape: they stop the run instead of failing one."""

_slot = [0]


class Event(NamedTuple):
    """What happened to a worker.

    ============  ==============================================================
    ``placed``    it has found its place in a cluster, ``detail``, and loads
    ``ready``     it has loaded what it needs
    ``finished``  the batch is done: ``results``
    ``raised``    the function raised, as ``detail`` says; the worker lives on
    ``stopping``  the function raised an ``error`` that concerns the whole run
    ``died``      the worker is gone, as ``detail`` says
    ``lost``      so is its machine, or all memory there: no fault of its batch
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
