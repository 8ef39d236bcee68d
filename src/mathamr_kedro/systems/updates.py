"""Adding posts to what was indexed, replacing and deleting them.

::

    index = UpdatableIndex(changes, vectors, load_encoder, lock)
    index.add(posts)               # encoded first: what cannot be is named
    index.delete(["1801"])
    index.status().posts
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple, TypeAlias

from mathamr_kedro.base.errors import MathAMRError, MissingInputError, suggest
from mathamr_kedro.base.records import Failure, Post
from mathamr_kedro.base.types import PostId
from mathamr_kedro.systems.changes import (
    Change,
    Changes,
    ChangeStore,
    VectorCache,
)
from mathamr_kedro.vectors import PostEntry, PostParts, PostVectors, UpdatedPosts
from mathamr_kedro.vectors.points import check_size

logger = logging.getLogger(__name__)

EncodePost: TypeAlias = Callable[[Post], PostEntry]

_POSTS_AT_ONCE = 1000
"""Posts of one change: a killed process loses at most those."""
_SUGGESTED = 10_000
"""Posts among which one of a similar id is looked for."""


@dataclass(frozen=True)
class Addition:
    """Outcome of adding posts, or of a sync."""

    added: tuple[PostId, ...] = ()
    """Those that replaced others among them."""
    replaced: tuple[PostId, ...] = ()
    """Had another text."""
    unchanged: tuple[PostId, ...] = ()
    """Had been added before with the same text; not among ``added``."""
    formulas: int = 0
    failures: tuple[Failure, ...] = ()
    deleted: tuple[PostId, ...] = ()

    def __add__(self, other: Addition) -> Addition:
        return Addition(
            self.added + other.added,
            self.replaced + other.replaced,
            self.unchanged + other.unchanged,
            self.formulas + other.formulas,
            self.failures + other.failures,
            self.deleted + other.deleted,
        )


class IndexStatus(NamedTuple):
    """What an index holds."""

    encoder: str
    posts: int
    added: int = 0
    """Of ``posts``: those that were added or replaced."""
    deleted: int = 0
    """Posts of the collection that were deleted."""
    waiting: int = 0
    """Added posts that the next search encodes with the present encoder."""
    formulas: int = 0


class EncodedPosts(NamedTuple):
    """Vectors of posts, from the cache or made just now."""

    entries: dict[PostId, PostEntry]
    made: dict[Post, bytes]
    """Those that were made now, for the cache."""
    failures: list[Failure]
    """Of posts without vectors."""


def encode_posts(
    posts: Collection[Post],
    encoder: str,
    cache: VectorCache,
    load_encoder: Callable[[], EncodePost] | None,
) -> EncodedPosts:
    """Return the vectors of posts.

    Args:
        posts: with their clean texts.
        encoder: its checksum.
        cache: of what it made before.
        load_encoder: gives what encodes the others; ``None``: they are left out.
    """
    known = cache.find(encoder, posts)
    entries = {key: PostEntry.of_bytes(content) for key, content in known.items()}
    found = EncodedPosts(entries, {}, [])
    new = [post for post in posts if post.post_id not in entries]
    if not new or load_encoder is None:
        return found
    encode = load_encoder()
    for post in new:
        try:
            entry = encode(post)
            check_size(entry.key, *entry.vectors.shape)
        except MathAMRError as exc:
            found.failures.append(
                Failure("indexing", "", "", post.post_id, "not_encoded", str(exc))
            )
            continue
        entries[post.post_id], found.made[post] = entry, entry.to_bytes()
    return found


class AddedPosts:
    """Vectors of the posts that were added, laid out as those of the base.

    What is the same after another change is neither encoded nor laid out again.
    """

    def __init__(self, base: PostParts) -> None:
        self._base, self._texts = base, dict[PostId, Post]()
        self._vectors = PostVectors.of((), width=base.width).astype(base.dtype)

    def update(
        self, changes: Changes, load_encoder: Callable[[], EncodePost] | None = None
    ) -> PostParts:
        """Return the vectors of the posts that are added now.

        Args:
            changes: which posts.
            load_encoder: as in :func:`encode_posts`.
        """
        base, added = self._base, changes.added
        new = [p for key, p in added.items() if self._texts.get(key) != p]
        found = encode_posts(new, base.encoder, changes.cache, load_encoder)
        changes.cache.keep(base.encoder, found.made)
        kept = [
            row
            for row, key in enumerate(self._vectors.keys)
            if added.get(key) == self._texts[key]
        ]
        laid = PostVectors.of(list(found.entries.values()), width=base.width)
        self._vectors = PostVectors.join(
            [self._vectors.take(kept), laid.astype(base.dtype)]
        )
        self._texts = {key: added[key] for key in self._vectors.keys}
        if lost := added.keys() - self._texts.keys():
            logger.warning(
                "%s posts that were added cannot be found: %s",
                len(lost),
                found.failures[0].detail
                if found.failures
                else "the next `mathamr search` encodes them with the present encoder",
            )
        return PostParts([self._vectors], base.encoder, base.width, base.dtype)


class UpdatableIndex:
    """Adds posts to what was indexed, deletes them, and says what there is.

    Args:
        changes: where they are kept.
        base: vectors of what was indexed.
        load_encoder: gives what makes posts comparable with those; called if posts are
            added, as parser and model take seconds to load.
        lock: locks what else must not be written meanwhile.
    """

    def __init__(
        self,
        changes: ChangeStore,
        base: PostParts,
        load_encoder: Callable[[], EncodePost],
        lock: Callable[[], AbstractContextManager[object]] = nullcontext,
    ) -> None:
        self._changes, self._base = changes, base
        self._load_encoder, self._lock = load_encoder, lock

    def add(self, posts: Iterable[Post | Failure], synced: bool = False) -> Addition:
        """Encode and add posts; one with an id that exists replaces it.

        What cannot be encoded, or has too many vectors, is returned as a failure, as
        are those given. Posts that are the same are not written again.

        Args:
            posts: with their clean texts; the last of those with one id counts.
            synced: whether a folder decides them: the next run of the stages forgets
                them, as it reads the folder itself.

        Raises:
            LockedError: another process is changing them.
        """
        total, stream = Addition(), iter(posts)
        while some := list(islice(stream, _POSTS_AT_ONCE)):
            failures = [post for post in some if isinstance(post, Failure)]
            given = {post.post_id: post for post in some if isinstance(post, Post)}
            name, cache = self._base.encoder, self._changes.cache
            found = encode_posts(given.values(), name, cache, self._load_encoder)
            total += Addition(
                formulas=sum(len(e.formula_ids) for e in found.entries.values()),
                failures=(*failures, *found.failures),
            )
            whole = {key: given[key] for key in given if key in found.entries}
            total += self._write(whole, synced)
            cache.keep(name, found.made)
        return total

    def _write(self, add: Mapping[PostId, Post], synced: bool) -> Addition:
        if not add:
            return Addition()
        with self._lock(), self._changes.changing() as posts:
            before = Changes.of(posts)
            new = {key: Change(post, synced) for key, post in add.items()}
            same = {key for key, change in new.items() if posts.get(key) == change}
            posts |= {key: new[key] for key in new.keys() - same}
        added = tuple(key for key in add if key not in same)
        return Addition(
            added,
            tuple(key for key in added if self._is_there(key, before)),
            tuple(key for key in add if key in same),
        )

    def delete(self, ids: Collection[PostId]) -> None:
        """Delete posts, and the formulas of their comments with them.

        Raises:
            MissingInputError: one is missing; nothing is deleted.
            LockedError: another process is changing them.
        """
        self._delete(ids)

    def _delete(self, ids: Collection[PostId], synced: bool = False) -> Addition:
        with self._lock(), self._changes.changing() as posts:
            self._require(ids, Changes.of(posts))
            for key in ids:
                if key in self._base:
                    posts[key] = Change(None, synced)
                else:
                    del posts[key]
        return Addition(deleted=tuple(ids))

    def sync(
        self, posts: Mapping[PostId, Post], is_indexed: Callable[[Post], bool]
    ) -> Addition:
        """Make the index hold these posts, and those that were added by hand.

        Args:
            posts: all posts of a folder.
            is_indexed: whether a post was indexed as it is.

        Raises:
            LockedError: another process is changing them.
        """
        changes = self._changes.read()
        by_hand = changes.added.keys() - changes.synced
        held = {*self._base.keys(), *changes.added} - by_hand
        gone = [key for key in held - posts.keys() if self._is_there(key, changes)]
        new = [
            post
            for key, post in posts.items()
            if changes.added.get(key) != post
            and (key in changes.keys or key not in self._base or not is_indexed(post))
        ]
        deleted = self._delete(sorted(gone), synced=True) if gone else Addition()
        return deleted + self.add(new, synced=True) if new else deleted

    def status(self) -> IndexStatus:
        """Describe what there is; changes nothing."""
        changes, base = self._changes.read(), self._base
        added = AddedPosts(base).update(changes)
        posts = UpdatedPosts(base, added, changes.deleted, changes.added)
        return IndexStatus(
            base.encoder,
            len(posts),
            len(added),
            sum(key in base for key in changes.deleted),
            len(changes.added) - len(added),
            posts.count_formulas(),
        )

    def _is_there(self, key: PostId, changes: Changes) -> bool:
        is_indexed = key in self._base and key not in changes.deleted
        return key in changes.added or is_indexed

    def _require(self, ids: Iterable[PostId], changes: Changes) -> None:
        for key in ids:
            if not self._is_there(key, changes):
                known = [k for k in self._base.keys() if k not in changes.deleted]
                known = list(dict.fromkeys([*changes.added, *known]))
                raise MissingInputError(
                    f"No post {key!r} among the {len(known)} of the index"
                    f"{suggest(key, known[:_SUGGESTED])}"
                )
