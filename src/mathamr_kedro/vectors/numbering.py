"""Posts and formulas of all segments by one running number, and their names."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mathamr_kedro.base.errors import MissingInputError
from mathamr_kedro.base.types import PostId
from mathamr_kedro.vectors.post_vectors import PostVectors
from mathamr_kedro.vectors.store_files import Segment

Names = NDArray[np.object_]


class PostNumbers:
    """All posts of some segments, dead ones too.

    Segments with the posts ``a b`` and ``c d e`` number them 0 to 4.
    """

    def __init__(self, segments: Sequence[Segment]) -> None:
        self.segments = segments
        self._posts = [s.posts for s in segments]
        self.starts = _starts([len(p) for p in self._posts])
        self._formula_starts = _starts([len(p.formula_ids) for p in self._posts])

    @cached_property
    def alive(self) -> NDArray[np.bool_]:
        """(N,) which posts count."""
        alive = np.zeros(self.starts[-1], dtype=np.bool_)
        for segment, first in zip(self.segments, self.starts, strict=False):
            alive[first + segment.alive] = True
        return alive

    @cached_property
    def types(self) -> NDArray[np.uint8]:
        """(N,) code of the type of each post."""
        return _join([p.post_types for p in self._posts], np.uint8)

    @cached_property
    def are_posts(self) -> NDArray[np.int64]:
        """Numbers of those that are posts, not formulas beside them."""
        return np.flatnonzero(_join([p.is_post for p in self._posts], np.bool_))

    @cached_property
    def with_document(self) -> NDArray[np.int64]:
        """Numbers of the posts that have a document vector."""
        flags = [p.document_rows >= 0 for p in self._posts]
        return np.flatnonzero(_join(flags, np.bool_))

    @cached_property
    def returnable(self) -> NDArray[np.bool_]:
        """(F,) which formulas Task 2 may return."""
        flags = [
            p.returnable & self.alive[first + p.formula_posts]
            for p, first in zip(self._posts, self.starts, strict=False)
        ]
        return _join(flags, np.bool_)

    @cached_property
    def keys(self) -> Names:
        """(N,) ids of the posts."""
        names = np.empty(self.starts[-1], dtype=np.object_)
        names[:] = [key for p in self._posts for key in p.keys]
        return names

    @cached_property
    def post_keys(self) -> Names:
        """Ids of those that are posts."""
        return self.keys[self.are_posts]

    @cached_property
    def _number_of(self) -> dict[PostId, int]:
        places = np.flatnonzero(self.alive)
        return dict(zip(self.keys[places], places.tolist(), strict=True))

    def find(self, keys: Iterable[PostId]) -> NDArray[np.int64]:
        """Return the numbers of posts.

        Raises:
            MissingInputError: a post is not there.
        """
        wanted = list(keys)
        missing = next((k for k in wanted if k not in self._number_of), None)
        if missing is not None:
            raise MissingInputError(f"Expected post {missing!r} in the index")
        return np.array([self._number_of[k] for k in wanted], dtype=np.int64)

    def formula_ids(self, numbers: NDArray[np.int64]) -> Names:
        """Return the ids of formulas."""
        return self._collect(numbers, lambda p, rows: p.formula_ids.take(rows))

    def visual_ids(self, numbers: NDArray[np.int64]) -> Names:
        """Return the visual ids of formulas."""
        return self._collect(numbers, lambda p, rows: p.visual_ids.take(rows))

    def formula_posts(self, numbers: NDArray[np.int64]) -> Names:
        """Return the posts of formulas."""
        return self._collect(
            numbers, lambda p, rows: p.keys.take(p.formula_posts[rows])
        )

    def _collect(
        self,
        numbers: NDArray[np.int64],
        read: Callable[[PostVectors, NDArray[np.int64]], Iterable[str]],
    ) -> Names:
        names = np.empty(len(numbers), dtype=np.object_)
        where = np.searchsorted(self._formula_starts, numbers, side="right") - 1
        for segment in np.unique(where):
            places = np.flatnonzero(where == segment)
            local = numbers[places] - self._formula_starts[segment]
            names[places] = list(read(self._posts[segment], local))
        return names


def _starts(counts: list[int]) -> NDArray[np.int64]:
    return np.cumsum([0, *counts], dtype=np.int64)


def _join(parts: list[NDArray[Any]], dtype: Any) -> NDArray[Any]:
    return np.concatenate(parts) if parts else np.zeros(0, dtype=dtype)
