"""Posts that are added to an index, replaced and deleted after indexing.

They live in Qdrant with their clean texts (:mod:`mathamr_kedro.vectors.points`); the
store of the collection never changes.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext
from itertools import islice
from typing import NamedTuple, TypeAlias

from mathamr_kedro.base.errors import InputError, MathAMRError
from mathamr_kedro.base.records import Failure, Post
from mathamr_kedro.base.types import PostId
from mathamr_kedro.vectors.points import check_size
from mathamr_kedro.vectors.post_vectors import PostEntry
from mathamr_kedro.vectors.qdrant import Addition, Connection, QdrantIndex
from mathamr_kedro.vectors.store import VectorStore

EncodePost: TypeAlias = Callable[[Post], PostEntry]

_POSTS_AT_ONCE = 1000
"""Posts of one change: a killed process loses at most those."""


class IndexStatus(NamedTuple):
    """What an index holds."""

    encoder: str
    is_built: bool
    """Whether the next search need not build it first."""
    posts: int
    added: int = 0
    """Of ``posts``: those that were added or replaced by hand."""
    deleted: int = 0
    """Posts of the collection that were deleted by hand."""
    waiting: int = 0
    """Added posts that the next search encodes with the present encoder."""
    formulas: int = 0


class UpdatableIndex:
    """Adds posts to an index, deletes them, and says what it holds.

    Args:
        connection: where the index is.
        store: the vectors it was built from.
        load_encoder: gives what makes posts comparable with those of the store; called
            if posts are added, as parser and model take seconds to load.
        lock: locks what else must not be written meanwhile.
    """

    def __init__(
        self,
        connection: Connection,
        store: VectorStore,
        load_encoder: Callable[[], EncodePost],
        lock: Callable[[], AbstractContextManager[object]] = nullcontext,
    ) -> None:
        self._connection, self._store = connection, store
        self._load_encoder, self._lock = load_encoder, lock

    def add(self, posts: Iterable[Post | Failure], synced: bool = False) -> Addition:
        """Encode and add posts; one with an id that exists replaces it.

        What cannot be encoded, or has too many vectors, is returned as a failure, as
        are those given.

        Args:
            posts: with their clean texts.
            synced: whether a folder decides them (:meth:`QdrantIndex.update`).

        Raises:
            LockedError: another process is changing the index.
        """
        encode = self._load_encoder()
        total, stream = Addition(), iter(posts)
        while some := list(islice(stream, _POSTS_AT_ONCE)):
            encoded, failures = _encode(some, encode)
            total += Addition(failures=tuple(failures))
            if encoded:
                total += self._update(encoded, (), synced)
        return total

    def _update(
        self,
        add: Mapping[PostId, tuple[PostEntry, Post]],
        delete: Collection[PostId],
        synced: bool = False,
    ) -> Addition:
        with self._lock(), QdrantIndex.open(self._connection, self._store) as index:
            return index.update(add, delete, synced)

    def sync(
        self, posts: Mapping[PostId, Post], is_indexed: Callable[[Post], bool]
    ) -> Addition:
        """Make the index hold these posts, and those that were added by hand.

        Args:
            posts: all posts of a folder.
            is_indexed: whether the store holds a post as it is.

        Raises:
            LockedError: another process is changing the index.
        """
        with QdrantIndex.open(self._connection, self._store) as index:
            known, changes = index.posts, index.changes
            by_hand = changes.added.keys() - changes.synced
            held = {*self._store.places, *changes.entries} - by_hand
            gone = [key for key in held if key not in posts and key in known]
            new = [
                post
                for key, post in posts.items()
                if changes.added.get(key) != post
                and (key in changes.keys or key not in known or not is_indexed(post))
            ]
        deleted = self._update({}, gone, synced=True) if gone else Addition()
        return deleted + self.add(new, synced=True) if new else deleted

    def delete(self, ids: Collection[PostId]) -> None:
        """Delete posts, and the formulas of their comments with them.

        Raises:
            MissingInputError: one is missing; nothing is deleted.
            LockedError: another process is changing the index.
        """
        self._update({}, ids)

    def encode_waiting(self) -> Addition:
        """Encode posts that were added to an index of another encoder."""
        with QdrantIndex.open(self._connection, self._store) as index:
            waiting = index.changes.waiting
        return self.add(waiting) if waiting else Addition()

    def status(self) -> IndexStatus:
        """Describe the index; changes nothing."""
        store = self._store
        try:
            with QdrantIndex(self._connection, store) as index:
                changes = index.changes
                return IndexStatus(
                    store.encoder,
                    True,
                    len(index.posts),
                    len(changes.entries),
                    len(changes.deleted),
                    len(changes.waiting),
                    index.size().formulas,
                )
        except InputError:
            return IndexStatus(store.encoder, False, len(store))


def _encode(
    posts: Iterable[Post | Failure], encode: EncodePost
) -> tuple[dict[PostId, tuple[PostEntry, Post]], list[Failure]]:
    """Encode posts, the last of those with one id; return what cannot be read too."""
    encoded: dict[PostId, tuple[PostEntry, Post]] = {}
    failures: list[Failure] = []
    for post in posts:
        if isinstance(post, Failure):
            failures.append(post)
            continue
        try:
            entry = encode(post)
            check_size(entry.key, *entry.vectors.shape)
            encoded[post.post_id] = entry, post
        except MathAMRError as exc:
            failures.append(
                Failure("indexing", "", "", post.post_id, "not_encoded", str(exc))
            )
    return encoded, failures
