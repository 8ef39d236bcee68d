"""A store of post vectors that can be killed at any moment, and goes on living.

::

    vectors/
      store.json                 which files count; replaced whole, the one commit point
      seg-000001.safetensors     posts; never changed after it was written
      seg-000002.safetensors
      dead-000007.safetensors    which posts of which segment were replaced or deleted

A commit writes its files first and then replaces ``store.json``; a file that is not
listed there was left by a killed run and is removed by the next writer. So a post is
in the store whole, once, or not at all.

The store remembers the encoder that made its vectors and takes no others. Every commit
has a number, its generation; an index built from the store notes the generation it has
reached and asks for the changes since.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np

from mathamr_kedro.errors import (
    ConfigurationError,
    LockedError,
    MalformedInputError,
    MissingInputError,
    suggest,
)
from mathamr_kedro.files import FolderLock
from mathamr_kedro.search.post_vectors import PostVectors
from mathamr_kedro.search.store_files import (
    Changes,
    Dtype,
    Segment,
    SegmentEntry,
    StoreState,
)
from mathamr_kedro.types import PostId


class VectorStore:
    """The vectors of a collection of posts.

    ::

        with VectorStore.open(folder, encoder="9f3c...", width=32) as store:
            store.commit(PostVectors.of(posts), shard="posts-00003")
            store.commit(delete=["1801"])
        entry = VectorStore(folder).read(["1802"]).entry(0)
    """

    def __init__(self, folder: str | Path, lock: FolderLock | None = None) -> None:
        self.folder = Path(folder)
        self._lock = lock
        self.state = StoreState.read(self.folder)
        self._segments: dict[str, Segment] = {}

    @classmethod
    def open(
        cls, folder: str | Path, encoder: str, width: int, dtype: Dtype = "float32"
    ) -> VectorStore:
        """Open a store for writing, make it where there is none.

        Raises:
            ConfigurationError: the store holds vectors of another encoder, width or
                type.
            LockedError: another process writes to it.
        """
        folder = Path(folder)
        lock = FolderLock(folder, "wait for it to end")
        try:
            if not StoreState.is_in(folder):
                StoreState(encoder, width, uuid4().hex, dtype).write(folder)
            store = cls(folder, lock)
            store.check_encoder(encoder)
            store.state.check_vectors(folder, width, dtype)
        except BaseException:
            lock.close()
            raise
        store.state.remove_leftovers(folder)
        return store

    def __enter__(self) -> VectorStore:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        """Let other processes write."""
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def __len__(self) -> int:
        return sum(len(s.alive_posts) for s in self.segments())

    @property
    def encoder(self) -> str:
        """Fingerprint of the encoder that made the vectors."""
        return self.state.encoder

    @property
    def width(self) -> int:
        """Numbers in a vector."""
        return self.state.width

    @property
    def generation(self) -> int:
        """Number of the last commit."""
        return self.state.generation

    def num_formulas(self) -> int:
        """Return the number of formulas that Task 2 may return."""
        return sum(int(s.living().returnable.sum()) for s in self.segments())

    def check_encoder(self, encoder: str) -> None:
        """Raise :class:`ConfigurationError` for vectors of another encoder."""
        if encoder != self.encoder:
            raise ConfigurationError(
                f"Expected vectors of encoder {self.encoder!r} in {str(self.folder)!r} "
                f"(got {encoder!r}); vectors of two encoders cannot be compared: "
                "encode all posts with one of them, in a folder of its own"
            )

    def refresh(self) -> None:
        """Read again what another process may have committed."""
        found = StoreState.read(self.folder)
        if found != self.state:
            self.state = found
            self.__dict__.pop("places", None)

    def segments(self) -> list[Segment]:
        """Return the segments, mapped into memory."""
        for entry in self.state.segments:
            known = self._segments.get(entry.name)
            if known is None or known.entry != entry:
                posts = known.posts if known else None
                self._segments[entry.name] = Segment.map(self.folder, entry, posts)
        return [self._segments[e.name] for e in self.state.segments]

    def keys(self) -> Iterator[PostId]:
        """Yield the posts in the store."""
        for segment in self.segments():
            yield from segment.posts.keys.take(segment.alive_posts)

    @cached_property
    def places(self) -> dict[PostId, tuple[int, int]]:
        """Segment and row of each post, and of each formula beside the posts."""
        found: dict[PostId, tuple[int, int]] = {}
        for number, segment in enumerate(self.segments()):
            keys = segment.posts.keys.take(segment.alive)
            places = ((number, row) for row in segment.alive.tolist())
            found.update(zip(keys, places, strict=True))
        return found

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
            MissingInputError: a post is not in the store.
        """
        if not keys:
            return PostVectors.of((), self.state.dtype, self.width)
        self.require(keys)
        segments = self.segments()
        where = np.array([self.places[k] for k in keys])
        parts, order = [], []
        for number in np.unique(where[:, 0]):
            chosen = np.flatnonzero(where[:, 0] == number)
            parts.append(segments[number].posts.take(where[chosen, 1]))
            order.append(chosen)
        return PostVectors.join(parts).take(np.argsort(np.concatenate(order)))

    def commit(
        self,
        add: PostVectors | None = None,
        delete: Iterable[PostId] = (),
        shard: str | None = None,
        encoder: str | None = None,
    ) -> int:
        """Add, replace and delete posts, all at once; return the new generation.

        Args:
            add: posts to write; those that are there already are replaced.
            delete: posts to delete; those that are not there are passed over.
            shard: name of the batch, listed in ``state.shards``.
            encoder: who made the vectors, if the caller knows; checked.
        """
        if encoder is not None:
            self.check_encoder(encoder)
        self._check_writable()
        generation = self.generation + 1
        added = list(add.keys) if add is not None else []
        if len(added) and add is not None and add.width != self.width:
            raise MalformedInputError(
                f"Expected vectors of {self.width} numbers (got {add.width})"
            )
        if both := set(added).intersection(deleted := set(delete)):
            raise MalformedInputError(
                f"Expected post {min(both)!r} to be added or deleted, not both"
            )
        segments = self._bury({*added, *deleted}, generation)
        if add is not None:
            add = add.astype(self.state.dtype)
            segments += (SegmentEntry.write(self.folder, add, generation),)
        shards = self.state.shards + ((shard,) if shard is not None else ())
        self._advance(generation=generation, segments=segments, shards=shards)
        self._forget(added, deleted)
        return generation

    def complete(self) -> None:
        """Note that every post of the collection is there."""
        self._check_writable()
        self._advance(complete=True)

    def has_forgotten(self, generation: int) -> bool:
        """Tell whether deletions since ``generation`` are no longer known."""
        return 0 < generation < self.state.compacted

    def changes_since(self, generation: int) -> Changes:
        """Return what an index that has reached ``generation`` lacks.

        Raises:
            MissingInputError: it is no longer known; start from generation 0.
        """
        if self.has_forgotten(generation):
            raise MissingInputError(
                f"Deletions since generation {generation} were forgotten when "
                f"{str(self.folder)!r} was compacted; build the index anew"
            )
        return Changes.since(generation, self.segments(), self.places, self.generation)

    def compact(self, posts: int = 10_000) -> None:
        """Write segments of fewer living posts anew, together and without the dead."""
        self._check_writable()
        small = [s for s in self.segments() if len(s.alive) < posts]
        if len(small) < 2 and not any(len(s.dead_rows) for s in small):
            return
        names = {s.entry.name for s in small}
        kept = tuple(e for e in self.state.segments if e.name not in names)
        generation = self.generation + 1
        parts = [s.living() for s in small if len(s.alive)]
        if parts:
            joined = PostVectors.join(parts)
            kept += (SegmentEntry.write(self.folder, joined, generation),)
        self._advance(generation=generation, compacted=self.generation, segments=kept)
        self._segments = {n: s for n, s in self._segments.items() if n not in names}
        self.__dict__.pop("places", None)
        self.state.remove_leftovers(self.folder)

    def _forget(self, added: list[PostId], deleted: set[PostId]) -> None:
        if "places" not in self.__dict__:
            return
        for key in deleted:
            self.places.pop(key, None)
        last = len(self.state.segments) - 1
        self.places.update((key, (last, row)) for row, key in enumerate(added))

    def _bury(self, keys: set[PostId], generation: int) -> tuple[SegmentEntry, ...]:
        by_segment: dict[int, list[int]] = {}
        for key in keys:
            if (place := self.places.get(key)) is not None:
                by_segment.setdefault(place[0], []).append(place[1])
        entries = list(self.state.segments)
        for number, rows in by_segment.items():
            segment = self.segments()[number]
            entries[number] = segment.bury(self.folder, rows, generation)
        return tuple(entries)

    def _advance(self, **changed: Any) -> None:
        self.state = replace(self.state, **changed)
        self.state.write(self.folder)

    def _check_writable(self) -> None:
        if self._lock is None:
            raise LockedError(
                f"{str(self.folder)!r} is open for reading; use VectorStore.open"
            )
