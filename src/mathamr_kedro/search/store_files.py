"""What a store of vectors consists of: its state, its segments, the changes.

``store.json`` is the state; a segment is one file of posts, and perhaps one that lists
which of them are dead.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mathamr_kedro.arrays import read_arrays
from mathamr_kedro.errors import MalformedInputError, MissingInputError
from mathamr_kedro.files import write_text
from mathamr_kedro.search.post_vectors import PostVectors
from mathamr_kedro.types import PostId

Dtype: TypeAlias = Literal["float32", "float16"]
LIST_NAME = "store.json"
VERSION = 1
SUFFIX = ".safetensors"


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
    version: int = VERSION


@dataclass(frozen=True, eq=False)
class Segment:
    """One segment, mapped into memory."""

    entry: SegmentEntry
    posts: PostVectors
    dead_rows: NDArray[np.int64]
    dead_since: NDArray[np.int64]
    """Generation in which each of ``dead_rows`` died."""

    @cached_property
    def alive(self) -> NDArray[np.int64]:
        """Rows of the posts that count."""
        keep = np.ones(len(self.posts), dtype=np.bool_)
        keep[self.dead_rows] = False
        return np.flatnonzero(keep)


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

    def written(self) -> Iterator[PostVectors]:
        """Yield the posts that are new or replaced."""
        for segment in self.segments:
            if len(segment.alive):
                yield segment.posts.take(segment.alive)


def map_segment(
    folder: Path, entry: SegmentEntry, posts: PostVectors | None = None
) -> Segment:
    """Map a segment into memory; ``posts`` are given where they are mapped already."""
    if posts is None:
        path = folder / f"{entry.name}{SUFFIX}"
        size = path.stat().st_size if path.exists() else 0
        if size != entry.size:
            raise MalformedInputError(
                f"Expected {entry.size} bytes in {str(path)!r} (got {size}); the "
                "file was changed: delete the folder and encode anew"
            )
        posts = PostVectors.from_arrays(read_arrays(path))
    if entry.dead is None:
        none = np.zeros(0, dtype=np.int64)
        return Segment(entry, posts, none, none)
    dead = read_arrays(folder / f"{entry.dead}{SUFFIX}")
    return Segment(entry, posts, dead["row"], dead["generation"])


def read_state(folder: Path) -> StoreState:
    """Read ``store.json``; refuse a folder without one."""
    path = folder / LIST_NAME
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        if found["version"] != VERSION:
            raise ValueError(f"version {found['version']!r} instead of {VERSION}")
        entries = tuple(SegmentEntry(**e) for e in found.pop("segments"))
        shards = tuple(found.pop("shards"))
        return StoreState(segments=entries, shards=shards, **found)
    except FileNotFoundError as exc:
        raise MissingInputError(
            f"Expected a store of vectors in {str(folder)!r}; encode the posts first"
        ) from exc
    except (ValueError, KeyError, TypeError) as exc:
        raise MalformedInputError(
            f"Expected the state of a store in {str(path)!r} ({exc})"
        ) from exc


def write_state(folder: Path, state: StoreState) -> None:
    """Replace ``store.json``: the moment in which a commit happens."""
    text = json.dumps(asdict(state), indent=1)
    write_text(folder / LIST_NAME, text)
