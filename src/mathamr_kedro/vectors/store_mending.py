"""Damage in a store: finding it, and leaving it out so that it is encoded again.

A segment holds batches of the collection, which the stage ``indexing`` can encode
again, or posts that were added by hand, whose texts are kept beside the store.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path

from mathamr_kedro.base.errors import DamagedFileError, InputError
from mathamr_kedro.vectors.store_state import SegmentEntry, StoreState

logger = logging.getLogger(__name__)


def verify_store(folder: Path) -> Iterator[InputError]:
    """Read all files of a store and yield what is wrong with each segment."""
    try:
        yield from _find_damage(folder)[1].values()
    except InputError as error:
        yield error


def leave_out_damaged(folder: Path) -> None:
    """Read all files of a store that is locked; take damaged segments from its list.

    Their batches are no longer among those that are in.
    """
    state, found = _find_damage(folder)
    for entry, error in found.items():
        again = (
            "it is left out, and its posts are encoded again"
            if entry.ranges
            else "its posts were added by hand: `mathamr index restore` adds them again"
        )
        logger.warning("%s. Now %s (%d posts)", error, again, entry.posts)
    if found:
        state.without(list(found)).write(folder)


def _find_damage(
    folder: Path,
) -> tuple[StoreState, dict[SegmentEntry, DamagedFileError]]:
    """Read all files of one commit; return its state and what is wrong."""
    while True:
        state = StoreState.read(folder)
        found = {e: error for e in state.segments if (error := e.find_damage(folder))}
        if not found or StoreState.read(folder) == state:  # else a writer removed them
            return state, found
