"""One builder for ``edge`` and ``server``: an index that follows its store.

::

    note: generation 7        store: generation 9     apply changes 8 and 9, note 9
    no note, or another       store: generation 9     grow a new build, check it,
    configuration                                     put it into use, note 9

A build grows under a name of its own, and notes its progress from time to time: a
killed one goes on where it stopped. It is put into use in one step when it is complete
and was checked. Changes are applied to the build in use and noted when they are safe; a
process that is killed in between leaves an older note, and the next one applies the
same changes again, which does no harm.

Where builds are kept and how the note is written is up to a :class:`BuildPlace`.
"""

from __future__ import annotations

import itertools
import logging
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeAlias

import numpy as np

from mathamr_kedro.errors import MalformedInputError
from mathamr_kedro.files import fingerprint
from mathamr_kedro.progress import report_progress
from mathamr_kedro.search.engines.points import (
    Collections,
    Point,
    PointCollection,
    formula_points,
    name_point,
    post_points,
)
from mathamr_kedro.search.store import VectorStore
from mathamr_kedro.search.store_files import Changes

logger = logging.getLogger(__name__)

_Batch: TypeAlias = tuple[PointCollection, list[Point]]
_DELETED_AT_ONCE = 10_000
_POINTS_AT_ONCE, _VECTORS_AT_ONCE = 2000, 16_000
_NOTE_EVERY = 32
"""Batches between two notes of progress."""


@dataclass(frozen=True)
class Note:
    """What an index notes about itself."""

    config: str
    """Fingerprint of all that decides what is in the index, but the generation."""
    build: str
    """Tells the collections in use from those that are growing."""
    generation: int
    """Commit of the store that it has reached."""


class _BuildPlace(Protocol):
    """Where the builds of one index are: a folder, or a server."""

    def read_note(self) -> Note | None:
        """Return the note of the index in use; ``None`` where there is none."""

    def write_note(self, collections: Collections, note: Note) -> None:
        """Make safe what was written, then replace the note of the index in use."""

    def load(self, note: Note) -> Collections:
        """Open the collections in use; any error means that they are damaged."""

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
        return fingerprint(*parts, *self._settings)

    def reached(self) -> int | None:
        """Return the generation of the index in use; ``None`` if it must be built."""
        note = self._place.read_note()
        return note.generation if note is not None and self._can_use(note) else None

    def open(self) -> Collections:
        """Return collections that hold what the store holds."""
        note = self._place.read_note()
        if note is not None and self._can_use(note):
            try:
                collections = self._place.load(note)
            except Exception:
                # Whatever a killed process left: the store has everything.
                logger.warning("The index cannot be opened; it is built anew")
                self._place.discard(note)
            else:
                self._apply(collections, note)
                return collections
        return self._build()

    def catch_up(self, collections: Collections) -> bool:
        """Apply what was committed to the store; return whether that is possible."""
        note = self._place.read_note()
        if note is None or not self._can_use(note):
            return False
        self._apply(collections, note)
        return True

    def _can_use(self, note: Note) -> bool:
        return (
            note.config == self._config
            and note.generation <= self._store.generation
            and not self._store.has_forgotten(note.generation)
        )

    def _apply(self, collections: Collections, note: Note) -> None:
        if note.generation == self._store.generation:
            return
        changes = self._store.changes_since(note.generation)
        for _ in _apply_changes(collections, changes):
            pass
        self._place.write_note(
            collections, replace(note, generation=changes.generation)
        )

    def _build(self) -> Collections:
        config, changes = self._config, self._store.changes_since(0)
        build = fingerprint(config, changes.generation)
        note = Note(config, build, changes.generation)
        collections, done = self._place.begin(note)
        for number in _apply_changes(collections, changes, done):
            if number % _NOTE_EVERY == 0:
                self._place.save_progress(collections, note, number)
        self._place.finish(collections)
        _verify_collections(collections, self._store)
        self._place.put_into_use(collections, note)
        return collections


def _apply_changes(
    collections: Collections, changes: Changes, done: int = 0
) -> Iterator[int]:
    """Delete and write points; yield the number of batches written so far.

    Args:
        collections: where to.
        changes: what to do.
        done: batches that were written before a kill, to be passed over.
    """
    _delete(collections, changes)
    batches = itertools.islice(_list_batches(collections, changes), done, None)
    counted = report_progress(batches, "points", lambda batch: len(batch[1]))
    for number, (collection, batch) in enumerate(counted, start=done + 1):
        collection.upsert(batch)
        yield number


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


def _verify_collections(
    collections: Collections, store: VectorStore, sample: int = 20
) -> None:
    """Compare the counts with the store, and vectors of a sample of posts.

    Raises:
        MalformedInputError: something is missing, doubled or different.
    """
    for name, found, expected in (
        ("posts", collections.posts.count(), len(store)),
        ("formulas", collections.formulas.count(), store.num_formulas()),
    ):
        if found != expected:
            raise MalformedInputError(
                f"Expected {expected} {name} in the index (got {found}); delete the "
                "index and build it anew"
            )
    keys = sorted(store.keys())
    if not keys:
        return
    chosen = np.random.default_rng(0).choice(len(keys), min(sample, len(keys)), False)
    _compare_sample(collections, store, [keys[i] for i in chosen])


def _compare_sample(
    collections: Collections, store: VectorStore, keys: list[str]
) -> None:
    posts = store.read(keys)
    for collection, points, space in (
        (collections.posts, list(post_points(posts)), "all"),
        (collections.formulas, list(formula_points(posts)), "formula"),
    ):
        found = collection.fetch([p.point_id for p in points], space)
        for point, vectors in zip(points, found, strict=True):
            expected = np.asarray(point.vectors[space], dtype=np.float32)
            if not np.allclose(vectors, expected, rtol=0, atol=1e-6):
                raise MalformedInputError(
                    f"Expected the vectors of post {point.name('post')!r} in the index "
                    "as in the store; delete the index and build it anew"
                )
    logger.info("%d posts read back from the index as they are in the store", len(keys))
