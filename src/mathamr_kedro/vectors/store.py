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
from pathlib import Path
from typing import Any
from uuid import uuid4

from mathamr_kedro.base.errors import (
    ConfigurationError,
    LockedError,
    MalformedInputError,
    MissingInputError,
)
from mathamr_kedro.base.files import FolderLock
from mathamr_kedro.base.types import PostId
from mathamr_kedro.vectors.post_vectors import PostVectors
from mathamr_kedro.vectors.snapshots import Snapshot
from mathamr_kedro.vectors.store_files import Changes, Segment
from mathamr_kedro.vectors.store_mending import leave_out_damaged
from mathamr_kedro.vectors.store_state import (
    Dtype,
    GraphRange,
    SegmentEntry,
    StoreState,
)


class VectorStore:
    """The vectors of a collection of posts.

    ::

        with VectorStore.open(folder, encoder="9f3c...", width=32) as store:
            store.commit(PostVectors.of(posts), shard=GraphRange("posts", 0, 4096))
            store.commit(delete=["1801"])
        entry = VectorStore(folder).read(["1802"]).entry(0)

    A reader sees the commit it was opened at until :meth:`refresh`, whatever a writer
    adds, deletes or compacts meanwhile. A writer belongs to one thread.
    """

    def __init__(self, folder: str | Path, lock: FolderLock | None = None) -> None:
        self.folder = Path(folder)
        self._lock = lock
        self._now = Snapshot.take(self.folder)

    @classmethod
    def open(
        cls,
        folder: str | Path,
        encoder: str,
        width: int,
        dtype: Dtype = "float32",
        mend: bool = False,
    ) -> VectorStore:
        """Open a store for writing, make it where there is none.

        Args:
            folder: of the store.
            encoder: who makes the vectors.
            width: numbers in a vector.
            dtype: of a number.
            mend: read all files, leave out what is damaged: to be committed again.

        Raises:
            ConfigurationError: the store holds vectors of another encoder, width or
                type.
            LockedError: another process writes to it.
            DamagedFileError: a file is not what was written, and is not to be mended.
        """
        folder = Path(folder)
        lock = FolderLock(folder, "wait for it to end")
        try:
            if not StoreState.is_in(folder):
                StoreState(encoder, width, uuid4().hex, dtype).write(folder)
            elif mend:
                leave_out_damaged(folder)
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
        return len(self._now)

    @property
    def state(self) -> StoreState:
        """What the commit consists of."""
        return self._now.state

    @property
    def encoder(self) -> str:
        """Checksum of the encoder that made the vectors."""
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
        """Go on to what another process may have committed."""
        self._now = Snapshot.take(self.folder, self._now)

    def segments(self) -> Sequence[Segment]:
        """Return the segments, mapped into memory."""
        return self._now.segments

    def keys(self) -> Iterator[PostId]:
        """Yield the posts in the store."""
        return self._now.keys()

    @property
    def places(self) -> dict[PostId, tuple[int, int]]:
        """Segment and row of each post."""
        return self._now.places

    def is_by_hand(self, key: PostId) -> bool:
        """Tell whether a post was added, replaced or deleted by hand."""
        place = self.places.get(key)
        if place is None:
            return key in self.state.gone
        return not self.state.segments[place[0]].ranges

    def require(self, keys: Iterable[PostId]) -> None:
        """Raise :class:`MissingInputError` for the first post that is not there."""
        self._now.require(keys)

    def read(self, keys: Sequence[PostId]) -> PostVectors:
        """Return posts in the given order.

        Raises:
            MissingInputError: a post is not in the store.
        """
        return self._now.read(keys)

    def commit(
        self,
        add: PostVectors | None = None,
        delete: Iterable[PostId] = (),
        shard: GraphRange | None = None,
        encoder: str | None = None,
    ) -> int:
        """Add, replace and delete posts, all at once; return the new generation.

        Args:
            add: posts to write; those that are there already are replaced.
            delete: posts to delete; those that are not there are passed over.
            shard: the batch of a collection that this is; without one, posts are
                added and deleted by hand.
            encoder: who made the vectors, if the caller knows; checked.

        Raises:
            MalformedInputError: a post is given twice, or vectors are not of length 1
                and of the width of the store; nothing is written.
        """
        if encoder is not None:
            self.check_encoder(encoder)
        self._check_writable()
        deleted = set(delete)
        added = self._check_posts(add, deleted) if add is not None else []
        generation = self.generation + 1
        segments = self._now.bury(self.folder, {*added, *deleted}, generation)
        if add is not None and len(added):
            ranges = () if shard is None else (shard.name,)
            rounded = add.astype(self.state.dtype)
            entry = SegmentEntry.write(self.folder, rounded, generation, ranges)
            segments += (entry,)
        changed: dict[str, Any] = {"generation": generation, "segments": segments}
        if shard is None:
            gone = deleted.intersection(self.places)
            gone.update(set(self.state.deleted).difference(added))
            changed["deleted"] = tuple(sorted(gone))
        else:
            changed["shards"] = (*self.state.keep_shards(segments, shard.of), shard)
        before = self._now
        self._advance(**changed)
        self._now.follow(before, added, deleted)
        return generation

    def _check_posts(self, add: PostVectors, deleted: set[PostId]) -> list[PostId]:
        added = list(add.keys)
        if added and add.width != self.width:
            raise MalformedInputError(
                f"Expected vectors of {self.width} numbers (got {add.width})"
            )
        add.check()
        if both := deleted.intersection(added):
            raise MalformedInputError(
                f"Expected post {min(both)!r} to be added or deleted, not both"
            )
        return added

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
        groups = self._now.list_small(posts)
        if not groups:
            return
        names = {s.entry.name for group in groups for s in group}
        kept = tuple(e for e in self.state.segments if e.name not in names)
        generation = self.generation + 1
        for part, group in enumerate(groups):
            if living := [s.living() for s in group if len(s.alive)]:
                joined = PostVectors.join(living)
                ranges = [name for s in group for name in s.entry.ranges]
                kept += (
                    SegmentEntry.write(self.folder, joined, generation, ranges, part),
                )
        self._advance(generation=generation, compacted=self.generation, segments=kept)
        self.state.remove_leftovers(self.folder)

    def _advance(self, **changed: Any) -> None:
        state = replace(self.state, **changed)
        state.write(self.folder)
        self._now = Snapshot.map(self.folder, state, self._now)

    def _check_writable(self) -> None:
        if self._lock is None:
            raise LockedError(
                f"{str(self.folder)!r} is open for reading; use VectorStore.open"
            )
