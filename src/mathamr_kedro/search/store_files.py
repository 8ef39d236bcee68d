"""What a store of vectors consists of: its state, its segments, the changes.

``store.json`` is the state; a segment is one file of posts, and perhaps one that lists
which of them are dead.
"""

from __future__ import annotations

import json
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mathamr_kedro.arrays import read_arrays, write_arrays
from mathamr_kedro.errors import (
    ConfigurationError,
    MalformedInputError,
    MissingInputError,
)
from mathamr_kedro.files import write_text
from mathamr_kedro.search.post_vectors import PostVectors
from mathamr_kedro.types import PostId

Dtype: TypeAlias = Literal["float32", "float16"]
_LIST_NAME = "store.json"
_VERSION = 1
_SUFFIX = ".safetensors"


@dataclass(frozen=True)
class SegmentEntry:
    """What ``store.json`` says about one segment."""

    name: str
    posts: int
    vectors: int
    formulas: int
    size: int
    """Bytes of its file; another size means that the file was changed."""
    added: int
    """Generation that added it."""
    dead: str | None = None
    """File that lists its replaced and deleted posts."""

    @classmethod
    def write(cls, folder: Path, posts: PostVectors, generation: int) -> SegmentEntry:
        """Write posts as a segment; it counts once ``store.json`` lists the entry."""
        name = f"seg-{generation:06d}"
        size = write_arrays(folder / f"{name}{_SUFFIX}", posts.to_arrays())
        vectors, formulas = len(posts.vectors), len(posts.formula_ids)
        return cls(name, len(posts), vectors, formulas, size, generation)


@dataclass(frozen=True)
class StoreState:
    """What ``store.json`` holds."""

    encoder: str
    width: int
    identity: str
    """Tells stores apart that were made one after another in one folder."""
    dtype: Dtype = "float32"
    generation: int = 0
    compacted: int = 0
    """Deletions up to this generation are forgotten."""
    complete: bool = False
    shards: tuple[str, ...] = ()
    """Names of the batches that are in, to go on after a kill."""
    segments: tuple[SegmentEntry, ...] = ()
    version: int = _VERSION

    @staticmethod
    def is_in(folder: Path) -> bool:
        """Tell whether there is a store in a folder."""
        return (folder / _LIST_NAME).exists()

    @classmethod
    def read(cls, folder: Path) -> StoreState:
        """Read ``store.json``; refuse a folder without one."""
        path = folder / _LIST_NAME
        try:
            found = json.loads(path.read_text(encoding="utf-8"))
            if found["version"] != _VERSION:
                raise ValueError(f"version {found['version']!r} instead of {_VERSION}")
            entries = tuple(SegmentEntry(**e) for e in found.pop("segments"))
            shards = tuple(found.pop("shards"))
            return cls(segments=entries, shards=shards, **found)
        except FileNotFoundError as exc:
            raise MissingInputError(
                f"Expected a store of vectors in {str(folder)!r}; encode the posts "
                "first"
            ) from exc
        except (ValueError, KeyError, TypeError) as exc:
            raise MalformedInputError(
                f"Expected the state of a store in {str(path)!r} ({exc})"
            ) from exc

    def check_vectors(self, folder: Path, width: int, dtype: Dtype) -> None:
        """Raise :class:`ConfigurationError` where vectors would not fit."""
        if (self.width, self.dtype) != (width, dtype):
            raise ConfigurationError(
                f"Expected {width} numbers of {dtype} in a vector of {str(folder)!r} "
                f"(got {self.width} of {self.dtype}); delete the folder to encode anew"
            )

    def write(self, folder: Path) -> None:
        """Replace ``store.json``: the moment in which a commit happens."""
        write_text(folder / _LIST_NAME, json.dumps(asdict(self), indent=1))

    def remove_leftovers(self, folder: Path) -> None:
        """Remove the files that killed writers left."""
        listed = {e.name for e in self.segments}
        listed |= {e.dead for e in self.segments if e.dead is not None}
        for file in folder.glob(f"*{_SUFFIX}"):
            if file.name.removesuffix(_SUFFIX) not in listed:
                file.unlink()
        for part in folder.glob(".*.part"):
            part.unlink()


@dataclass(frozen=True, eq=False)
class Segment:
    """One segment, mapped into memory."""

    entry: SegmentEntry
    posts: PostVectors
    dead_rows: NDArray[np.int64]
    dead_since: NDArray[np.int64]
    """Generation in which each of ``dead_rows`` died."""

    @classmethod
    def map(
        cls, folder: Path, entry: SegmentEntry, posts: PostVectors | None = None
    ) -> Segment:
        """Map a segment; ``posts`` are given where they are mapped already."""
        if posts is None:
            path = folder / f"{entry.name}{_SUFFIX}"
            size = path.stat().st_size if path.exists() else 0
            if size != entry.size:
                raise MalformedInputError(
                    f"Expected {entry.size} bytes in {str(path)!r} (got {size}); the "
                    "file was changed: delete the folder and encode anew"
                )
            posts = PostVectors.from_arrays(read_arrays(path))
        if entry.dead is None:
            none = np.zeros(0, dtype=np.int64)
            return cls(entry, posts, none, none)
        dead = read_arrays(folder / f"{entry.dead}{_SUFFIX}")
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
        name = f"dead-{generation:06d}-{self.entry.name.removeprefix('seg-')}"
        write_arrays(folder / f"{name}{_SUFFIX}", arrays)
        return replace(self.entry, dead=name)


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

    def written(self) -> Iterator[PostVectors]:
        """Yield the posts that are new or replaced."""
        for segment in self.segments:
            if len(segment.alive):
                yield segment.living()
