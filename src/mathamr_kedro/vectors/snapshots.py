"""All of one commit of a store: what a reader sees, whatever a writer does meanwhile.

::

    reader                          writer
    reads store.json (commit 7)
                                    compacts: commit 8, removes files of 7
    maps segments: one is gone
    reads store.json again: 8       -> not damaged, only older; maps those of 8

Once mapped, files stay readable although they were removed. A snapshot never changes,
so threads share it; a store goes from one to the next by one assignment.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path

import numpy as np

from mathamr_kedro.base.errors import DamagedFileError, MissingInputError, suggest
from mathamr_kedro.base.types import PostId
from mathamr_kedro.vectors.post_vectors import PostVectors
from mathamr_kedro.vectors.store_files import Segment
from mathamr_kedro.vectors.store_state import SegmentEntry, StoreState


class Snapshot:
    """The state of a store and its segments, mapped into memory."""

    def __init__(self, state: StoreState, segments: Sequence[Segment]) -> None:
        self.state, self.segments = state, tuple(segments)

    @classmethod
    def take(cls, folder: Path, known: Snapshot | None = None) -> Snapshot:
        """Read the last commit of a store; what ``known`` has mapped is mapped already.

        Raises:
            MissingInputError: there is no store.
            DamagedFileError: a file is missing or cut short, and no writer removed it.
        """
        state = StoreState.read(folder)
        while True:
            try:
                return cls.map(folder, state, known)
            except DamagedFileError:
                found = StoreState.read(folder)
                if found == state:
                    raise
                state = found

    @classmethod
    def map(
        cls, folder: Path, state: StoreState, known: Snapshot | None = None
    ) -> Snapshot:
        """Map the segments of a state."""
        if known is not None and known.state == state:
            return known
        mapped = {s.entry.name: s for s in known.segments} if known else {}
        segments = []
        for entry in state.segments:
            found = mapped.get(entry.name)
            if found is None or found.entry != entry:
                found = Segment.map(folder, entry, found)
            segments.append(found)
        return cls(state, segments)

    def __len__(self) -> int:
        return sum(len(s.alive_posts) for s in self.segments)

    def keys(self) -> Iterator[PostId]:
        """Yield the posts."""
        for segment in self.segments:
            yield from segment.posts.keys.take(segment.alive_posts)

    @cached_property
    def places(self) -> dict[PostId, tuple[int, int]]:
        """Segment and row of each post."""
        found: dict[PostId, tuple[int, int]] = {}
        for number, segment in enumerate(self.segments):
            keys = segment.posts.keys.take(segment.alive)
            places = ((number, row) for row in segment.alive.tolist())
            found.update(zip(keys, places, strict=True))
        return found

    def follow(
        self, before: Snapshot, added: Sequence[PostId], deleted: set[PostId]
    ) -> Snapshot:
        """Take over the places of the commit ``before``, which must not be used again.

        A writer of many commits need not list all posts after each.
        """
        if "places" in before.__dict__:
            places = before.places
            for key in deleted:
                places.pop(key, None)
            last = len(self.segments) - 1
            places.update((key, (last, row)) for row, key in enumerate(added))
            self.__dict__["places"] = places
        return self

    def bury(
        self, folder: Path, keys: set[PostId], generation: int
    ) -> tuple[SegmentEntry, ...]:
        """Write which posts are dead from a generation on; return all entries."""
        by_segment: dict[int, list[int]] = {}
        for key in keys:
            if (place := self.places.get(key)) is not None:
                by_segment.setdefault(place[0], []).append(place[1])
        entries = list(self.state.segments)
        for number, rows in by_segment.items():
            entries[number] = self.segments[number].bury(folder, rows, generation)
        return tuple(entries)

    def list_small(self, posts: int) -> list[list[Segment]]:
        """Return the segments of fewer living posts that are worth writing together.

        Those with posts added by hand stay apart from those of the collection.
        """
        small = [s for s in self.segments if len(s.alive) < posts]
        groups = [
            [s for s in small if bool(s.entry.ranges) == is_batch]
            for is_batch in (True, False)
        ]
        return [g for g in groups if len(g) > 1 or any(len(s.dead_rows) for s in g)]

    def require(self, keys: Iterable[PostId]) -> None:
        """Raise :class:`MissingInputError` for the first post that is not there."""
        missing = next((k for k in keys if k not in self.places), None)
        if missing is not None:
            hint = suggest(missing, list(self.places)[:10_000])
            raise MissingInputError(
                f"No post {missing!r} among the {len(self)} of the index{hint}"
            )

    def read(self, keys: Sequence[PostId]) -> PostVectors:
        """Return posts in the given order.

        Raises:
            MissingInputError: a post is not there.
        """
        if not keys:
            return PostVectors.of((), self.state.dtype, self.state.width)
        self.require(keys)
        where = np.array([self.places[k] for k in keys])
        parts, order = [], []
        for number in np.unique(where[:, 0]):
            chosen = np.flatnonzero(where[:, 0] == number)
            parts.append(self.segments[number].posts.take(where[chosen, 1]))
            order.append(chosen)
        return PostVectors.join(parts).take(np.argsort(np.concatenate(order)))
