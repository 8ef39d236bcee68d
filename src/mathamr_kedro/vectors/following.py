"""One builder for ``edge`` and ``server``: an index that follows its store.

::

    note: generation 7        store: generation 9     apply changes 8 and 9, check,
                                                      note 9
    no note, another config-  store: generation 9     grow a new build, check it,
    uration, or damaged                               put it into use, note 9

A build grows under a name of its own, and notes its progress from time to time: a
killed one goes on where it stopped. It is put into use in one step when it is complete
and was checked. Changes are applied to the build in use and noted when they are safe; a
process that is killed in between leaves an older note, and the next one applies the
same changes again, which does no harm. Who reads the build in use goes on reading it.

No search sees an index before it was compared with its store: the number of posts and
formulas, and the vectors of a sample. One that differs is built again.

Where builds are kept and how the note is written is up to a :class:`BuildPlace`.
"""

from __future__ import annotations

import itertools
import logging
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeAlias

from mathamr_kedro.base.checksums import checksum
from mathamr_kedro.base.errors import DiskFullError, InputError, WorkerError
from mathamr_kedro.base.progress import report_progress
from mathamr_kedro.vectors.points import (
    Collections,
    Point,
    PointCollection,
    formula_points,
    name_point,
    post_points,
)
from mathamr_kedro.vectors.store import VectorStore
from mathamr_kedro.vectors.store_files import Changes
from mathamr_kedro.vectors.verification import verify_collections

logger = logging.getLogger(__name__)

_Batch: TypeAlias = tuple[PointCollection, list[Point]]
_DELETED_AT_ONCE = 10_000
_POINTS_AT_ONCE, _VECTORS_AT_ONCE = 2000, 16_000
_NOTE_EVERY = 32
"""Batches between two notes of progress."""
_BYTES_OF_NUMBER = 4


@dataclass(frozen=True)
class Note:
    """What an index notes about itself."""

    config: str
    """Checksum of all that decides what is in the index, but the generation."""
    build: str
    """Tells the collections in use from those that are growing."""
    generation: int
    """Commit of the store that it has reached."""


class _BuildPlace(Protocol):
    """Where the builds of one index are: a folder, or a server."""

    def read_note(self) -> Note | None:
        """Return the note of the index in use; ``None`` where there is none."""

    def claim(self, note: Note) -> Note:
        """Prepare to change the collections in use; return those that may change.

        These are a copy where somebody reads them.
        """

    def announce(self, note: Note) -> None:
        """Note that the collections are about to change."""

    def write_note(self, collections: Collections, note: Note) -> None:
        """Make safe what was written, then note that these are in use."""

    def needs_note(self) -> bool:
        """Tell whether a change was announced that no note followed."""

    def load(self, note: Note) -> Collections:
        """Open the collections in use; any error means that they are damaged."""

    def reserve(self, num_bytes: int) -> None:
        """Raise :class:`DiskFullError` where there is no room for more vectors."""

    def discard(self, note: Note) -> None:
        """Remove damaged collections and their note."""

    def begin(self, note: Note) -> tuple[Collections, int]:
        """Make collections; or open what a killed build left, with its progress."""

    def save_progress(self, collections: Collections, note: Note, done: int) -> None:
        """Make safe what was written, then note how many batches that is."""

    def finish(self, collections: Collections) -> None:
        """Build the graphs, and wait for them."""

    def put_into_use(self, collections: Collections, note: Note) -> None:
        """Switch to a complete build in one step, then remove the others."""


class Follower:
    """Keeps the collections of an index equal to a store.

    Args:
        place: where the builds are.
        store: the vectors.
        settings: whatever else decides how the collections are made.
    """

    def __init__(self, place: _BuildPlace, store: VectorStore, *settings: Any) -> None:
        self._place, self._store, self._settings = place, store, settings

    @property
    def _config(self) -> str:
        state = self._store.state
        parts = state.identity, state.encoder, state.width
        return checksum(*parts, *self._settings)

    def reached(self) -> int | None:
        """Return the generation of the index in use; ``None`` if it must be built."""
        note = self._place.read_note()
        return note.generation if note is not None and self._can_use(note) else None

    def open(self) -> Collections:
        """Return collections that hold what the store holds."""
        note = self._place.read_note()
        if note is not None and self._can_use(note):
            opened: list[Collections] = []
            try:
                if note.generation != self._store.generation:
                    note = self._place.claim(note)
                opened.append(self._place.load(note))
                self._apply(opened[0], note)
                return opened[0]
            except (WorkerError, DiskFullError):  # no fault of the index
                raise
            except Exception as exc:
                # Whatever a killed process or a bad disk left: the store has all.
                logger.warning("%s", exc)
                logger.warning("The index is damaged; it is built anew from the store")
                for collections in opened:
                    collections.close()
                self._place.discard(note)
        return self._build()

    def _can_use(self, note: Note) -> bool:
        return (
            note.config == self._config
            and note.generation <= self._store.generation
            and not self._store.has_forgotten(note.generation)
        )

    def _apply(self, collections: Collections, note: Note) -> None:
        """Apply what the index lacks, and compare it with the store."""
        is_behind = note.generation != self._store.generation
        if is_behind:
            changes = self._store.changes_since(note.generation)
            self._place.announce(note)
            for _ in self._write(collections, changes):
                pass
        verify_collections(collections, self._store)
        if is_behind or self._place.needs_note():
            now = replace(note, generation=self._store.generation)
            self._place.write_note(collections, now)

    def _build(self) -> Collections:
        config, changes = self._config, self._store.changes_since(0)
        build = checksum(config, changes.generation)
        note = Note(config, build, changes.generation)
        collections, done = self._place.begin(note)
        try:
            self._fill(collections, changes, note, done)
        except InputError as exc:
            if not done:
                raise
            logger.warning("%s", exc)
            logger.warning("What a killed build left is damaged; it is built anew")
            collections.close()
            self._place.discard(note)
            collections, _ = self._place.begin(note)
            self._fill(collections, changes, note)
        self._place.put_into_use(collections, note)
        return collections

    def _fill(
        self, collections: Collections, changes: Changes, note: Note, done: int = 0
    ) -> None:
        for number in self._write(collections, changes, done):
            if number % _NOTE_EVERY == 0:
                self._place.save_progress(collections, note, number)
        self._place.finish(collections)
        verify_collections(collections, self._store)

    def _write(
        self, collections: Collections, changes: Changes, done: int = 0
    ) -> Iterator[int]:
        """Delete and write points; yield the number of batches written so far.

        Args:
            collections: where to.
            changes: what to do.
            done: batches that were written before a kill, to be passed over.
        """
        _delete(collections, changes)
        batches = _list_batches(collections, changes)
        skipped = sum(len(points) for _, points in itertools.islice(batches, done))
        total = changes.count_points() - skipped
        counted = report_progress(
            batches, "points indexed", lambda batch: len(batch[1]), total=total
        )
        for number, (collection, batch) in enumerate(counted, start=done + 1):
            self._place.reserve(self._count_bytes(batch))
            collection.upsert(batch)
            yield number

    def _count_bytes(self, batch: list[Point]) -> int:
        vectors = sum(len(p.vectors.get("all", ())) + 1 for p in batch)
        return _BYTES_OF_NUMBER * self._store.width * vectors


def _list_batches(collections: Collections, changes: Changes) -> Iterator[_Batch]:
    """Yield what is to be written, always in the same order."""
    for posts in changes.written():
        for batch in _in_batches(post_points(posts)):
            yield collections.posts, batch
        for batch in _in_batches(formula_points(posts)):
            yield collections.formulas, batch


def _in_batches(points: Iterable[Point]) -> Iterator[list[Point]]:
    """Put points together until there are many of them or of their vectors."""
    batch: list[Point] = []
    vectors = 0
    for point in points:
        batch.append(point)
        vectors += len(point.vectors.get("all", ())) + 1
        if len(batch) >= _POINTS_AT_ONCE or vectors >= _VECTORS_AT_ONCE:
            yield batch
            batch, vectors = [], 0
    if batch:
        yield batch


def _delete(collections: Collections, changes: Changes) -> None:
    posts = [name_point(key) for key in sorted(changes.deleted)]
    formulas = [
        name_point(key, place)
        for key, count in sorted(changes.buried.items())
        for place in range(count)
    ]
    for collection, ids in (
        (collections.posts, posts),
        (collections.formulas, formulas),
    ):
        for a in range(0, len(ids), _DELETED_AT_ONCE):
            collection.delete(ids[a : a + _DELETED_AT_ONCE])
