"""The segments of a store, mapped into memory, and what changed between commits."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mathamr_kedro.base.types import PostId
from mathamr_kedro.vectors.post_vectors import PostVectors
from mathamr_kedro.vectors.store_state import SegmentEntry


@dataclass(frozen=True, eq=False)
class Segment:
    """One segment, mapped into memory: it stays readable when its file is removed."""

    entry: SegmentEntry
    posts: PostVectors
    dead_rows: NDArray[np.int64]
    dead_since: NDArray[np.int64]
    """Generation in which each of ``dead_rows`` died."""

    @classmethod
    def map(
        cls, folder: Path, entry: SegmentEntry, known: Segment | None = None
    ) -> Segment:
        """Map a segment; ``known`` is one of its name that is mapped already."""
        if known is not None and known.entry.seal == entry.seal:
            posts = known.posts
        else:
            posts = PostVectors.from_arrays(entry.read(folder, entry.name))
        if entry.dead is None:
            none = np.zeros(0, dtype=np.int64)
            return cls(entry, posts, none, none)
        dead = entry.read(folder, entry.dead)
        return cls(entry, posts, dead["row"], dead["generation"])

    @cached_property
    def alive(self) -> NDArray[np.int64]:
        """Rows of the posts that count."""
        keep = np.ones(len(self.posts), dtype=np.bool_)
        keep[self.dead_rows] = False
        return np.flatnonzero(keep)

    @cached_property
    def alive_posts(self) -> NDArray[np.int64]:
        """Rows of those that count and are posts, not formulas beside them."""
        return self.alive[self.posts.is_post[self.alive]]

    def living(self) -> PostVectors:
        """Return the posts that count; without a copy where none is dead."""
        return self.posts.take(self.alive) if len(self.dead_rows) else self.posts

    def bury(self, folder: Path, rows: list[int], generation: int) -> SegmentEntry:
        """Write which rows are dead from a generation on; return the new entry."""
        born = np.full(len(rows), generation, dtype=np.int64)
        arrays = {
            "row": np.concatenate([self.dead_rows, np.sort(rows)]),
            "generation": np.concatenate([self.dead_since, born]),
        }
        return self.entry.write_dead(folder, arrays, generation)


@dataclass(frozen=True, eq=False)
class Changes:
    """What happened since a generation; to apply it twice does no harm."""

    generation: int
    buried: Mapping[PostId, int]
    """Posts that were deleted or replaced, and how many formulas they had at most."""
    deleted: frozenset[PostId]
    """Those of ``buried`` that are gone."""
    segments: tuple[Segment, ...]
    """New ones."""

    @classmethod
    def since(
        cls,
        generation: int,
        segments: Sequence[Segment],
        living: Container[PostId],
        reached: int,
    ) -> Changes:
        """Collect what happened after ``generation`` up to the one ``reached``."""
        buried: dict[PostId, int] = {}
        for segment in segments:
            rows = segment.dead_rows[segment.dead_since > generation]
            formulas = np.diff(segment.posts.formula_ptr)[rows].tolist()
            keys = segment.posts.keys.take(rows)
            for key, count in zip(keys, formulas, strict=True):
                buried[key] = max(count, buried.get(key, 0))
        deleted = frozenset(key for key in buried if key not in living)
        new = tuple(s for s in segments if s.entry.added > generation)
        return cls(reached, buried, deleted, new)

    def count_points(self) -> int:
        """Return how many posts and returnable formulas are new or replaced."""
        return sum(
            int(posts.is_post.sum()) + int(posts.returnable.sum())
            for posts in self.written()
        )

    def written(self) -> Iterator[PostVectors]:
        """Yield the posts that are new or replaced."""
        for segment in self.segments:
            if len(segment.alive):
                yield segment.living()
