"""The engine ``edge``: Qdrant's engine inside the process, in a folder.

::

    folder/
      posts/  formulas/      one shard each, built once

A shard has no log: a build is never resumed. The engine writes two small files of a
shard again whenever it opens one, so each reader gives it copies of these, beside links
to the others: any number of processes have an index open, and no byte of it changes.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import qdrant_edge as qe

from mathamr_kedro.base.errors import DamagedFileError, DiskFullError
from mathamr_kedro.vectors.config import REMEDY, EngineConfig, HnswConfig
from mathamr_kedro.vectors.points import (
    EF_CONSTRUCT,
    FULL_SCAN_KB,
    SPACES,
    Collections,
    FoundPoints,
    Point,
    PointCollection,
)
from mathamr_kedro.vectors.post_vectors import Vectors
from mathamr_kedro.vectors.protocol import PostTypes, SearchMode
from mathamr_kedro.vectors.store import PostParts

_COPIES = 3
"""Of a vector while it is written: two spaces, and the rest."""
_SPARE = 64 << 20
"""Bytes that stay free."""
_SHARD_FILE, _SEGMENT_FILE = "edge_config.json", "segment.json"
"""What the engine writes again."""


def build_collections(
    config: EngineConfig, name: str, posts: PostParts, folder: Path
) -> None:
    """Write the shards of some posts to a folder."""
    collections = Collections(
        *(_Shard.create(folder / kind, posts.width, config.hnsw) for kind in SPACES)
    )
    try:
        collections.fill(posts)
        for collection in collections:
            assert isinstance(collection, _Shard)
            collection.optimize()
    finally:
        collections.close()
    for kind in SPACES:  # a journal of the last writes goes when it is first opened
        qe.EdgeShard.load(str(folder / kind)).close()


def open_collections(config: EngineConfig, name: str, folder: Path) -> Collections:
    """Open the shards beside other readers.

    Raises:
        DamagedFileError: they cannot be opened.
    """
    return Collections(*(_Shard.open(folder / kind) for kind in SPACES))


class _Shard(PointCollection):
    """A shard of qdrant-edge."""

    def __init__(self, shard: Any, folder: Path) -> None:
        self._shard, self._folder = shard, folder

    @classmethod
    def open(cls, folder: Path) -> _Shard:
        """Open a shard; what it maps into memory is all that it needs then."""
        with _naming_damage(folder), TemporaryDirectory(prefix="mathamr-") as view:
            _link(folder, Path(view))
            return cls(qe.EdgeShard.load(view), folder)

    @classmethod
    def create(cls, folder: Path, width: int, hnsw: HnswConfig) -> _Shard:
        """Make a shard of ``posts`` or ``formulas``."""
        folder.mkdir(parents=True)
        _reserve(folder, 0)
        spaces = {s: _make_space(width, hnsw, s) for s in SPACES[folder.name]}
        config = qe.EdgeConfig(vectors=spaces, wal_enabled=False)
        return cls(qe.EdgeShard.create(str(folder), config), folder)

    def search(
        self,
        queries: Sequence[Vectors],
        space: str,
        limit: int,
        mode: SearchMode,
        types: PostTypes = None,
    ) -> list[FoundPoints]:
        """Find the nearest points of each query."""
        chosen = None
        if types is not None:
            match = qe.MatchAny(sorted(types))
            chosen = qe.Filter(must=[qe.FieldCondition(key="type", match=match)])
        requests = [
            qe.QueryRequest(
                query=qe.Query.Nearest(query.tolist(), using=space),
                limit=limit,
                params=qe.SearchParams(exact=mode.exact, hnsw_ef=mode.hnsw_ef),
                filter=chosen,
            )
            for query in queries
        ]
        with _naming_damage(self._folder):
            return [
                [(point.id, point.score) for point in self._shard.query(request)]
                for request in requests
            ]

    def upsert(self, points: Sequence[Point]) -> None:
        """Write points."""
        numbers = sum(np.size(v) for p in points for v in p.vectors.values())
        _reserve(self._folder, 4 * numbers)
        written = [qe.Point(p.number, p.vectors, p.payload) for p in points]
        self._shard.update(qe.UpdateOperation.upsert_points(written))

    def optimize(self) -> None:
        """Build the graphs."""
        _reserve(self._folder, self.num_bytes())  # they come with a copy of all
        self._shard.flush()
        self._shard.optimize()
        self._shard.flush()

    def count(self) -> int:
        """Return the number of points."""
        with _naming_damage(self._folder):
            return int(self._shard.count(qe.CountRequest(exact=True)))

    def num_bytes(self) -> int:
        """Return its bytes on disk: files have holes."""
        files = (f.stat() for f in self._folder.rglob("*") if f.is_file())
        return 512 * sum(f.st_blocks for f in files)

    def close(self) -> None:
        """Release the files."""
        self._shard.close()


def _link(shard: Path, view: Path) -> None:
    """Make a folder that looks like a shard, with copies of what will be written."""
    shutil.copy(shard / _SHARD_FILE, view)
    for segment in (shard / "segments").iterdir():
        (linked := view / "segments" / segment.name).mkdir(parents=True)
        for path in segment.iterdir():
            if path.name == _SEGMENT_FILE:
                shutil.copy(path, linked)
            else:
                (linked / path.name).symlink_to(path.resolve())


def _make_space(width: int, hnsw: HnswConfig, space: str) -> Any:
    several = qe.MultiVectorConfig(qe.MultiVectorComparator.MaxSim)
    graph = qe.HnswIndexConfig(
        m=hnsw.edges(space), ef_construct=EF_CONSTRUCT, full_scan_threshold=FULL_SCAN_KB
    )
    return qe.EdgeVectorParams(
        size=width,
        distance=qe.Distance.Dot,
        multivector_config=several if space == "all" else None,
        hnsw_config=graph,
    )


@contextmanager
def _naming_damage(folder: Path) -> Iterator[None]:
    """Raise :class:`DamagedFileError` for whatever the engine raises or panics at."""
    try:
        yield
    except BaseException as exc:  # a panic of Rust is no Exception
        if isinstance(exc, Exception) or type(exc).__name__ == "PanicException":
            raise DamagedFileError(
                f"Expected an index in {str(folder)!r} ({exc}); {REMEDY}"
            ) from exc
        raise


def _reserve(folder: Path, num_bytes: int) -> None:
    """Refuse to write vectors for which there is no room.

    The engine writes into files that are mapped into memory: on a full disk the system
    would end the process (SIGBUS), without a word.
    """
    free, needed = shutil.disk_usage(folder).free, _COPIES * num_bytes
    if free < needed + _SPARE:
        raise DiskFullError(
            f"Expected {(needed + _SPARE) >> 20} MiB of free room on the disk of "
            f"{str(folder)!r} (got {free >> 20}); make room and run the same command "
            "again"
        )
