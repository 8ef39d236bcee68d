"""Posts and formulas as points of Qdrant collections, and what was changed by hand.

::

    collection  id                       vectors            payload
    posts       1801                     doc, all           post 1801, type "answer"
    formulas    1801 * 2^20 + 3          formula            post, formula, visual

    posts       7f0c... (a UUID)         doc, all           post "note.md", type,
                                                            change "added", its text
    posts       1802                     none               post 1802, change "deleted"

Ids follow from the post and the place of the formula in it, so that writing a post a
second time replaces its points. Post ids that are no numbers become UUIDs. A post of
the collection that was deleted by hand stays as a point without vectors, which no
search finds, so that the index knows by itself how it differs from the store.

Vectors have length 1, so the spaces compare by dot product: it is the cosine, and
Qdrant's own cosine would only scale them a second time.
"""

from __future__ import annotations

import contextlib
import uuid
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from mathamr_kedro.base.checksums import checksum
from mathamr_kedro.base.errors import MalformedInputError, MissingInputError
from mathamr_kedro.base.records import FormulaMention, Post
from mathamr_kedro.base.types import PostId
from mathamr_kedro.vectors.post_vectors import (
    POST_TYPES,
    PostEntry,
    PostVectors,
    Vectors,
)
from mathamr_kedro.vectors.protocol import PostTypes, SearchMode

PointId: TypeAlias = int | str

SPACES = {"posts": ("doc", "all"), "formulas": ("formula",)}
"""The spaces of vectors of each collection; ``all`` has several vectors of a point."""

CHANGE = "change"
"""Entry of the payload of posts that were changed by hand."""
CHANGED_AT_ONCE = 1000
"""Of these posts, read by one request."""

_ADDED, _DELETED = "added", "deleted"
_SYNCED = "synced"
_CHECKSUM = "checksum"
"""Entry of the payload: of the other entries."""
_LARGEST_MULTIVECTOR = 1 << 20
"""A Qdrant server takes fewer numbers than this in the vectors of one point."""
_PLACES = 1 << 20
_NAMESPACE = uuid.UUID("6f0c6a4e-5f0b-5a39-9f44-2f3c1c7d7a10")
_POINTS_AT_ONCE, _VECTORS_AT_ONCE = 2000, 16_000
_NODES = ("kinds", "numbers", "formula_ids", "visual_ids", "returnable")
"""What the payload of an added post says about its vectors, fields of an entry."""


class Point(NamedTuple):
    """A point to write, or one that was found."""

    point_id: PointId
    payload: dict[str, Any]
    vectors: dict[str, Any]
    """Name of the space to a vector or a list of vectors, as plain lists; not read back
    from an index."""
    score: float = 0.0
    """Of a point that was found."""

    @classmethod
    def of(cls, found: Any) -> Point:
        """Read what Qdrant returns, by either of its packages."""
        score = getattr(found, "score", 0.0)
        return cls(_plain(found.id), found.payload or {}, {}, score)

    def name(self, entry: str) -> str:
        """Return an id from the payload."""
        return str(self.payload[entry])


def _plain(point_id: Any) -> PointId:
    return str(point_id) if isinstance(point_id, uuid.UUID) else point_id


class PointCollection(ABC):
    """A collection of Qdrant's, in a folder or on a server."""

    @abstractmethod
    def search(
        self,
        queries: Sequence[Vectors],
        space: str,
        limit: int,
        mode: SearchMode,
        types: PostTypes = None,
    ) -> list[list[Point]]:
        """Find the nearest points of each query."""

    def fetch(self, point_ids: Sequence[PointId], space: str) -> list[Vectors]:
        """Return the vectors of points, in the given order.

        Raises:
            MissingInputError: there is no such point.
        """
        records = self._retrieve(point_ids, space)
        found = {_plain(r.id): r.vector[space] for r in records if r.vector}
        missing = next((i for i in point_ids if i not in found), None)
        if missing is not None:
            raise MissingInputError(f"Expected point {missing!r} in the index")
        return [np.asarray(found[i], dtype=np.float32) for i in point_ids]

    def list_changed(self) -> list[Point]:
        """Return the points with a :data:`CHANGE` in their payload."""
        points, offset = self._scroll_changed(None)
        while offset is not None:
            more, offset = self._scroll_changed(offset)
            points = [*points, *more]
        return [Point.of(found) for found in points]

    @abstractmethod
    def _retrieve(self, point_ids: Sequence[PointId], space: str) -> Iterable[Any]:
        """Return points with the vectors of a space, in any order."""

    @abstractmethod
    def _scroll_changed(self, offset: Any) -> tuple[list[Any], Any]:
        """Return some points with a :data:`CHANGE`, and where the next ones start."""

    @abstractmethod
    def upsert(self, points: Sequence[Point]) -> None:
        """Write points; existing ones are replaced."""

    @abstractmethod
    def delete(self, point_ids: Sequence[PointId]) -> None:
        """Delete points; missing ones are skipped."""

    @abstractmethod
    def count(self) -> int:
        """Return the number of points."""

    @abstractmethod
    def close(self) -> None:
        """Release what it holds."""


class Collections(NamedTuple):
    """The two collections of an index."""

    posts: PointCollection
    formulas: PointCollection

    def close(self) -> None:
        """Release both, damaged ones too."""
        for collection in self:
            with contextlib.suppress(Exception):
                collection.close()


def name_point(key: PostId, place: int | None = None) -> PointId:
    """Return the id of the point of a post, or of the formula at ``place`` of it.

    >>> name_point("1801"), name_point("0042") == name_point("42")
    (1801, False)
    """
    if place is not None:
        return _number_formula(as_payload(key), place)
    number = _as_number(key)
    return str(uuid.uuid5(_NAMESPACE, f"post {key}")) if number is None else number


def _number_formula(post: int | str, place: int) -> PointId:
    if isinstance(post, str) or place >= _PLACES:
        return str(uuid.uuid5(_NAMESPACE, f"formula {place} {post}"))
    return post * _PLACES + place


def as_payload(name: str) -> int | str:
    """Return an id as Qdrant stores it: numbers as numbers, which is twice as fast.

    >>> as_payload("17"), as_payload("0017"), as_payload("q_17")
    (17, '0017', 'q_17')
    """
    number = _as_number(name)
    return name if number is None else number


def _as_number(key: str) -> int | None:
    if key.isdigit() and len(key) <= 12 and (key[0] != "0" or key == "0"):
        return int(key) if key.isascii() else None
    return None


def check_size(key: PostId, vectors: int, width: int) -> None:
    """Refuse a post with more vectors than a Qdrant server takes."""
    if vectors * width >= _LARGEST_MULTIVECTOR:
        raise MalformedInputError(
            f"Expected fewer than {_LARGEST_MULTIVECTOR // width} vectors in post "
            f"{key!r} (got {vectors}): a limit of Qdrant; remove it, split it, or "
            "use the engine 'exact'"
        )


def post_points(posts: PostVectors) -> Iterator[Point]:
    """Yield one point for each post; formulas beside the posts have none.

    Raises:
        MalformedInputError: a post has more vectors than a Qdrant server takes.
    """
    rows = posts.vectors.astype(np.float32)
    documents = posts.document_rows
    bounds = posts.ptr.tolist()
    is_post = posts.is_post.tolist()
    for place, key in enumerate(posts.keys):
        if not is_post[place]:
            continue
        vectors = rows[bounds[place] : bounds[place + 1]]
        check_size(key, *vectors.shape)
        named: dict[str, Any] = {"all": vectors.tolist()}
        if documents[place] >= 0:
            named["doc"] = rows[documents[place]].tolist()
        payload = {
            "post": as_payload(key),
            "type": POST_TYPES[posts.post_types[place]],
        }
        yield Point(name_point(key), payload, named)


def formula_points(posts: PostVectors) -> Iterator[Point]:
    """Yield one point for each formula that Task 2 may return."""
    rows = posts.vectors[posts.formula_rows].astype(np.float32).tolist()
    keys = [as_payload(key) for key in posts.keys]
    owners = posts.formula_posts
    places = np.arange(len(rows)) - posts.formula_ptr[owners]
    columns = zip(
        rows,
        posts.formula_ids,
        posts.visual_ids,
        posts.returnable.tolist(),
        owners.tolist(),
        places.tolist(),
        strict=True,
    )
    for row, formula, visual, returnable, owner, place in columns:
        if returnable:
            yield Point(
                _number_formula(keys[owner], place),
                {
                    "post": keys[owner],
                    "formula": as_payload(formula),
                    "visual": as_payload(visual),
                },
                {"formula": row},
            )


def write_points(collection: PointCollection, points: Iterable[Point]) -> None:
    """Write points batch by batch."""
    for batch in in_batches(points):
        collection.upsert(batch)


def in_batches(points: Iterable[Point]) -> Iterator[list[Point]]:
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


@dataclass(frozen=True)
class Changes:
    """What was changed by hand since indexing: posts added or replaced, and deleted."""

    added: Mapping[PostId, Post] = field(default_factory=dict)
    """With their clean texts, whether they are encoded or not."""
    deleted: frozenset[PostId] = frozenset()
    entries: Mapping[PostId, PostEntry] = field(default_factory=dict, compare=False)
    """Of those that are encoded: what their vectors are, without the vectors."""
    synced: frozenset[PostId] = frozenset()
    """Of all: those that a folder decides, until the stages read it again."""
    damaged: tuple[str, ...] = field(default=(), compare=False)
    """Ids of changes that cannot be read; they are not among the others."""

    @classmethod
    def read(cls, collection: PointCollection) -> Changes:
        """Read what the collection of posts says about itself."""
        added: dict[PostId, Post] = {}
        entries: dict[PostId, PostEntry] = {}
        deleted, synced, damaged = [], [], []
        for point in collection.list_changed():
            payload = dict(point.payload)
            key = str(payload.get("post", point.point_id))
            if payload.pop(_CHECKSUM, None) != checksum(payload):
                damaged.append(key)
                continue
            if payload.get(_SYNCED):
                synced.append(key)
            if payload[CHANGE] == _DELETED:
                deleted.append(key)
                continue
            added[key] = _read_post(payload["text"])
            if "kinds" in payload:
                about = {name: payload[name] for name in _NODES}
                none = np.zeros((0, 0), dtype=np.float32)
                entries[key] = PostEntry(key, payload["type"], none, **about)
        known = frozenset(deleted), entries, frozenset(synced), tuple(damaged)
        return cls(added, *known)

    def __bool__(self) -> bool:
        return bool(self.added or self.deleted)

    @property
    def keys(self) -> frozenset[PostId]:
        """All posts that were changed."""
        return self.deleted | frozenset(self.added)

    @property
    def waiting(self) -> list[Post]:
        """Posts that were carried over from another encoder and have no vectors yet."""
        return [post for key, post in self.added.items() if key not in self.entries]

    def without_vectors(self) -> Changes:
        """Return the same for an index of another encoder."""
        return replace(self, entries={}, damaged=())

    def by_hand(self) -> Changes:
        """Return those that no folder decides."""
        added = {k: post for k, post in self.added.items() if k not in self.synced}
        return Changes(added, self.deleted - self.synced)


def _read_post(found: Mapping[str, Any]) -> Post:
    values = dict(found)
    formulas = tuple(FormulaMention(*mention) for mention in values.pop("formula_map"))
    return Post(formula_map=formulas, tags=tuple(values.pop("tags")), **values)


def added_points(
    posts: PostVectors, texts: Mapping[PostId, Post], synced: bool = False
) -> Iterator[Point]:
    """Yield the points of posts that are added later, with all about them."""
    entries = {entry.key: entry for entry in posts.entries()}
    for point in post_points(posts):
        entry = entries[point.name("post")]
        about = {name: list(getattr(entry, name)) for name in _NODES}
        payload = point.payload | _describe(texts[entry.key], synced) | about
        yield _change_point(point.point_id, payload, point.vectors)


def waiting_point(post: Post, synced: bool = False) -> Point:
    """Return the point of an added post that has no vectors yet."""
    payload = {"post": as_payload(post.post_id)} | _describe(post, synced)
    return _change_point(name_point(post.post_id), payload)


def deleted_point(key: PostId, synced: bool = False) -> Point:
    """Return the point that says that a post of the collection was deleted."""
    payload = {"post": as_payload(key), CHANGE: _DELETED, _SYNCED: synced}
    return _change_point(name_point(key), payload)


def _change_point(
    point_id: PointId, payload: dict[str, Any], vectors: dict[str, Any] | None = None
) -> Point:
    """Return a point with a checksum: its text is kept nowhere else."""
    return Point(point_id, payload | {_CHECKSUM: checksum(payload)}, vectors or {})


def _describe(post: Post, synced: bool) -> dict[str, Any]:
    text = post._asdict() | {
        "tags": list(post.tags),
        "formula_map": [list(mention) for mention in post.formula_map],
    }
    return {CHANGE: _ADDED, _SYNCED: synced, "text": text}
