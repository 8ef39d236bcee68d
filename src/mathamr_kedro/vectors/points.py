"""Posts and formulas as points of a Qdrant collection.

::

    collection  id                       vectors            payload
    posts       1801                     doc, all           post 1801, type "answer"
    formulas    1801 * 2^20 + 3          formula            post, formula, visual

Ids follow from the post and the place of the formula in it, so that writing a post a
second time replaces its points. Post ids that are no numbers become UUIDs.

Vectors have length 1, hence the spaces compare by dot product: it is the cosine, and
Qdrant's own cosine would only scale them a second time.
"""

from __future__ import annotations

import contextlib
import uuid
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np

from mathamr_kedro.base.errors import MalformedInputError
from mathamr_kedro.base.types import PostId
from mathamr_kedro.vectors.post_vectors import POST_TYPES, PostVectors, Vectors
from mathamr_kedro.vectors.protocol import PostTypes, SearchMode

PointId: TypeAlias = int | str

SPACES = {"posts": ("doc", "all"), "formulas": ("formula",)}
"""The spaces of vectors of each collection; ``all`` has several vectors of a point."""

_LARGEST_MULTIVECTOR = 1 << 20
"""A Qdrant server takes fewer numbers than this in the vectors of one point."""

_PLACES = 1 << 20
_NAMESPACE = uuid.UUID("6f0c6a4e-5f0b-5a39-9f44-2f3c1c7d7a10")


class Point(NamedTuple):
    """A point to write, or one that was found."""

    point_id: PointId
    payload: dict[str, Any]
    vectors: dict[str, Any]
    """Name of the space to a vector or a list of vectors, as plain lists; not read back
    from an index."""
    score: float = 0.0
    """Of a point that was found."""

    def name(self, entry: str) -> str:
        """Return an id from the payload."""
        return str(self.payload[entry])


class FirstStep(NamedTuple):
    """A search for candidates; several of them find the union of theirs."""

    query: Vectors
    space: str
    limit: int


class PointCollection(Protocol):
    """What the engines ``edge`` and ``server`` have in common."""

    def search(
        self,
        query: Vectors,
        space: str,
        limit: int,
        mode: SearchMode,
        types: PostTypes = None,
        only: Sequence[PointId] | None = None,
        first: Sequence[FirstStep] = (),
    ) -> list[Point]:
        """Find points near a vector, or near a matrix by MaxSim.

        Args:
            query: one vector, or several.
            space: name of the vectors to compare with.
            limit: how many.
            mode: exact or by the graph.
            types: types of post that may be returned.
            only: ids that may be returned.
            first: find candidates, to which ``mode``, ``types`` and ``only`` apply
                then; the search itself orders them without approximation.
        """

    def fetch(self, point_ids: Sequence[PointId], space: str) -> list[Vectors]:
        """Return the vectors of points, in the given order."""

    def upsert(self, points: Sequence[Point]) -> None:
        """Write points; those that are there are replaced."""

    def delete(self, point_ids: Sequence[PointId]) -> None:
        """Delete points; those that are not there are passed over."""

    def count(self) -> int:
        """Return the number of points."""

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
        return _number_formula(_as_payload(key), place)
    number = _as_number(key)
    return str(uuid.uuid5(_NAMESPACE, f"post {key}")) if number is None else number


def _number_formula(post: int | str, place: int) -> PointId:
    if isinstance(post, str) or place >= _PLACES:
        return str(uuid.uuid5(_NAMESPACE, f"formula {place} {post}"))
    return post * _PLACES + place


def _as_payload(name: str) -> int | str:
    """Return an id as Qdrant stores it: numbers as numbers, which is twice as fast.

    >>> _as_payload("17"), _as_payload("0017"), _as_payload("q_17")
    (17, '0017', 'q_17')
    """
    number = _as_number(name)
    return name if number is None else number


def _as_number(key: str) -> int | None:
    if key.isdigit() and len(key) <= 12 and (key[0] != "0" or key == "0"):
        return int(key) if key.isascii() else None
    return None


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
        if vectors.size >= _LARGEST_MULTIVECTOR:
            raise MalformedInputError(
                f"Expected fewer than {_LARGEST_MULTIVECTOR // posts.width} vectors in "
                f"post {key!r} (got {len(vectors)}): a limit of Qdrant; leave it out, "
                "or use the engine 'exact'"
            )
        named: dict[str, Any] = {"all": vectors.tolist()}
        if documents[place] >= 0:
            named["doc"] = rows[documents[place]].tolist()
        payload = {
            "post": _as_payload(key),
            "type": POST_TYPES[posts.post_types[place]],
        }
        yield Point(name_point(key), payload, named)


def formula_points(posts: PostVectors) -> Iterator[Point]:
    """Yield one point for each formula that Task 2 may return."""
    rows = posts.vectors[posts.formula_rows].astype(np.float32).tolist()
    keys = [_as_payload(key) for key in posts.keys]
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
                    "formula": _as_payload(formula),
                    "visual": _as_payload(visual),
                },
                {"formula": row},
            )
