"""Posts and formulas as points of Qdrant collections.

::

    collection  id                                  vectors      payload
    posts       number of the post in its store     doc, all     type "answer"
    formulas    number of the formula               formula

An index belongs to one store, so the number of a point says what it is
(:class:`~mathamr_kedro.vectors.columns.Columns`).

Vectors have length 1, so the spaces compare by dot product: it is the cosine, and
Qdrant's own cosine would only scale them a second time.
"""

from __future__ import annotations

import contextlib
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from itertools import count
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from mathamr_kedro.base.errors import MalformedInputError
from mathamr_kedro.base.progress import report_progress
from mathamr_kedro.base.types import PostId
from mathamr_kedro.vectors.post_vectors import POST_TYPES, PostVectors, Vectors
from mathamr_kedro.vectors.protocol import PostTypes, SearchMode
from mathamr_kedro.vectors.store import PostParts

SPACES = {"posts": ("doc", "all"), "formulas": ("formula",)}
"""The spaces of vectors of each collection; ``all`` has several vectors of a point."""
EF_CONSTRUCT = 100
"""Breadth of the search for neighbours while a graph is built: Qdrant's default."""
FULL_SCAN_KB = 10_000
"""Vectors below which a filtered search scans: lower values lose recall."""

_LARGEST_MULTIVECTOR = 1 << 20
"""A Qdrant server takes fewer numbers than this in the vectors of one point."""
_POINTS_AT_ONCE, _VECTORS_AT_ONCE = 2000, 16_000


class Point(NamedTuple):
    """A point to write."""

    number: int
    vectors: dict[str, Any]
    """Name of the space to a vector or a list of vectors, as plain lists."""
    payload: dict[str, Any]


FoundPoints: TypeAlias = list[tuple[int, float]]
"""Numbers and scores, best first."""


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
    ) -> list[FoundPoints]:
        """Find the nearest points of each query."""

    @abstractmethod
    def upsert(self, points: Sequence[Point]) -> None:
        """Write points; a second time they replace themselves."""

    @abstractmethod
    def count(self) -> int:
        """Return the number of points."""

    def num_bytes(self) -> int | None:
        """Return its bytes on disk, if they are known."""
        return None

    @abstractmethod
    def close(self) -> None:
        """Release what it holds."""


class Collections(NamedTuple):
    """The two collections of an index."""

    posts: PointCollection
    formulas: PointCollection

    def fill(self, posts: PostParts) -> None:
        """Write all posts and formulas."""
        batches = (
            (collection, batch)
            for collection, points in (
                (self.posts, post_points(posts.parts)),
                (self.formulas, formula_points(posts.parts)),
            )
            for batch in _in_batches(points)
        )
        total = len(posts) + posts.num_formulas()
        for collection, batch in report_progress(
            batches, "points indexed", lambda written: len(written[1]), total=total
        ):
            collection.upsert(batch)

    def close(self) -> None:
        """Release both, damaged ones too."""
        for collection in self:
            with contextlib.suppress(Exception):
                collection.close()


def check_size(key: PostId, vectors: int, width: int) -> None:
    """Refuse a post with more vectors than a Qdrant server takes."""
    if vectors * width >= _LARGEST_MULTIVECTOR:
        raise MalformedInputError(
            f"Expected fewer than {_LARGEST_MULTIVECTOR // width} vectors in post "
            f"{key!r} (got {vectors}): a limit of Qdrant; remove it, split it, or "
            "use the engine 'exact'"
        )


def post_points(parts: Sequence[PostVectors]) -> Iterator[Point]:
    """Yield one point for each post; formulas beside the posts have none.

    Raises:
        MalformedInputError: a post has more vectors than a Qdrant server takes.
    """
    numbers = count()
    for posts in parts:
        rows = posts.vectors.astype(np.float32)
        documents, bounds = posts.document_rows, posts.ptr.tolist()
        for place in np.flatnonzero(posts.is_post).tolist():
            vectors = rows[bounds[place] : bounds[place + 1]]
            check_size(posts.keys[place], *vectors.shape)
            named: dict[str, Any] = {"all": vectors.tolist()}
            if documents[place] >= 0:
                named["doc"] = rows[documents[place]].tolist()
            kind = POST_TYPES[posts.post_types[place]]
            yield Point(next(numbers), named, {"type": kind})


def formula_points(parts: Sequence[PostVectors]) -> Iterator[Point]:
    """Yield one point for each formula that Task 2 may return; all have numbers."""
    numbers = count()
    for posts in parts:
        rows = posts.vectors[posts.formula_rows].astype(np.float32).tolist()
        flags = posts.returnable.tolist()
        # numbers come last: what is asked first is asked once too often
        for row, returnable, number in zip(rows, flags, numbers, strict=False):
            if returnable:
                yield Point(number, {"formula": row}, {})


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
