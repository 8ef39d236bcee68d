"""The engine ``edge``: Qdrant's engine inside the process, in a folder of its own.

::

    edge/
      edge.json         which build is in use, and the generation of the store it has
      build-3f0c.../    posts/  formulas/  progress.json

A build is put into use by replacing ``edge.json``.
"""

from __future__ import annotations

import json
import logging
import shutil
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np
import qdrant_edge as qe

from mathamr_kedro.errors import MissingInputError
from mathamr_kedro.files import FolderLock, write_text
from mathamr_kedro.search.engines.following import Follower, Note
from mathamr_kedro.search.engines.points import (
    SPACES,
    Collections,
    FirstStep,
    Point,
    PointId,
)
from mathamr_kedro.search.engines.protocol import (
    HnswConfig,
    IndexSize,
    PostTypes,
    SearchMode,
)
from mathamr_kedro.search.engines.qdrant import QdrantIndex
from mathamr_kedro.search.post_vectors import Vectors
from mathamr_kedro.search.store import VectorStore

logger = logging.getLogger(__name__)

_NOTE, _PROGRESS = "edge.json", "progress.json"
_PREFIX = "build-"


class EdgeIndex(QdrantIndex):
    """An index in a folder, made from a store and kept up to date with it.

    ::

        with EdgeIndex.open(folder, VectorStore(vectors)) as index:
            hits = index.search_maxsim([query.vectors], depth=1000)
    """

    def __init__(
        self, folder: Path, store: VectorStore, hnsw: HnswConfig, lock: FolderLock
    ) -> None:
        self._folder, self._store, self._lock = folder, store, lock
        self._follower = _make_follower(folder, store, hnsw)
        opened = self._follower.open()
        super().__init__(opened, store.encoder, store.state.dtype, hnsw)

    @classmethod
    def open(
        cls, folder: str | Path, store: VectorStore, hnsw: HnswConfig | None = None
    ) -> EdgeIndex:
        """Open the index of a store; build what is missing.

        Raises:
            LockedError: another process has it open.
        """
        folder = Path(folder)
        lock = FolderLock(
            folder, "an index of the engine 'edge' belongs to one process: wait, "
            "or use the engine 'server'",
        )  # fmt: skip
        try:
            return cls(folder, store, hnsw or HnswConfig(), lock)
        except BaseException:
            lock.close()
            raise

    @staticmethod
    def reached(folder: Path, store: VectorStore, hnsw: HnswConfig) -> int | None:
        """Return the generation of an index; ``None`` if it must be built."""
        return _make_follower(folder, store, hnsw).reached()

    def __enter__(self) -> EdgeIndex:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def refresh(self) -> None:
        """Catch up with what was committed to the store."""
        self._store.refresh()
        if not self._follower.catch_up(self._collections):
            super().close()
            self._collections = self._follower.open()

    def size(self) -> IndexSize:
        """Return how much it holds, and its size on disk."""
        files = (f.stat() for f in self._folder.rglob("*") if f.is_file())
        used = 512 * sum(f.st_blocks for f in files)  # files have holes
        return super().size()._replace(num_bytes=used)

    def close(self) -> None:
        """Write everything to disk and let other processes in."""
        super().close()
        self._lock.close()


def _make_follower(folder: Path, store: VectorStore, hnsw: HnswConfig) -> Follower:
    return Follower(_BuildFolder(folder, store.width, hnsw), store, asdict(hnsw))


class _BuildFolder:
    """The builds of an index as folders."""

    def __init__(self, folder: Path, width: int, hnsw: HnswConfig) -> None:
        self._folder, self._width, self._hnsw = folder, width, hnsw

    def _of(self, note: Note) -> Path:
        return self._folder / f"{_PREFIX}{note.build}"

    def read_note(self) -> Note | None:
        found = _read_json(self._folder / _NOTE)
        if not found:
            return None
        build = found["build"].removeprefix(_PREFIX)
        return Note(found["config"], build, found["generation"])

    def write_note(self, collections: Collections, note: Note) -> None:
        _flush(collections)
        content = asdict(note) | {"build": self._of(note).name}
        write_text(self._folder / _NOTE, json.dumps(content))

    def load(self, note: Note) -> Collections:
        return self._open(self._of(note))

    def discard(self, note: Note) -> None:
        (self._folder / _NOTE).unlink()
        shutil.rmtree(self._of(note), ignore_errors=True)

    def begin(self, note: Note) -> tuple[Collections, int]:
        folder = self._of(note)
        progress = _read_json(folder / _PROGRESS)
        if progress:
            try:
                return self._open(folder), progress["done"]
            except Exception:
                logger.warning("What a killed build left is built anew")
        shutil.rmtree(folder, ignore_errors=True)
        return self._open(folder, is_new=True), 0

    def save_progress(self, collections: Collections, note: Note, done: int) -> None:
        _flush(collections)
        write_text(self._of(note) / _PROGRESS, json.dumps({"done": done}))

    def finish(self, collections: Collections) -> None:
        _flush(collections)
        for collection in _shards(collections):
            collection.optimize()

    def put_into_use(self, collections: Collections, note: Note) -> None:
        self.write_note(collections, note)
        for other in self._folder.glob(f"{_PREFIX}*"):
            if other != self._of(note):
                shutil.rmtree(other)

    def _open(self, folder: Path, is_new: bool = False) -> Collections:
        return Collections(
            *(
                _EdgeCollection.open(
                    folder / name,
                    {s: _make_space(self._width, self._hnsw, s) for s in spaces},
                    is_new,
                )
                for name, spaces in SPACES.items()
            )
        )


class _EdgeCollection:
    """A shard of qdrant-edge as a collection of points; a process has it alone."""

    def __init__(self, shard: Any) -> None:
        self._shard = shard

    @classmethod
    def open(
        cls, folder: Path, spaces: dict[str, Any], is_new: bool
    ) -> _EdgeCollection:
        if not is_new:
            return cls(qe.EdgeShard.load(str(folder)))
        folder.mkdir(parents=True)
        config = qe.EdgeConfig(vectors=spaces)
        return cls(qe.EdgeShard.create(str(folder), config))

    def search(
        self,
        query: Vectors,
        space: str,
        limit: int,
        mode: SearchMode,
        types: PostTypes = None,
        only: Sequence[PointId] | None = None,
        first: FirstStep | None = None,
    ) -> list[Point]:
        how: dict[str, Any] = {
            "params": qe.SearchParams(exact=mode.exact, hnsw_ef=mode.hnsw_ef),
            "filter": _filter(types, only),
        }
        if first is not None:
            nearest = qe.Query.Nearest(first.query.tolist(), using=first.space)
            step = qe.Prefetch(limit=first.limit, query=nearest, **how)
            how = {"prefetches": [step]}
        nearest = qe.Query.Nearest(query.tolist(), using=space)
        request = qe.QueryRequest(limit=limit, query=nearest, with_payload=True, **how)
        found = self._shard.query(request)
        return [Point(_plain(p.id), p.payload or {}, {}, p.score) for p in found]

    def fetch(self, point_ids: Sequence[PointId], space: str) -> list[Vectors]:
        records = self._shard.retrieve(list(point_ids), False, [space])
        found = {_plain(r.id): r.vector[space] for r in records}
        missing = next((i for i in point_ids if i not in found), None)
        if missing is not None:
            raise MissingInputError(f"Expected point {missing!r} in the index")
        return [np.asarray(found[i], dtype=np.float32) for i in point_ids]

    def upsert(self, points: Sequence[Point]) -> None:
        written = [qe.Point(p.point_id, p.vectors, p.payload) for p in points]
        self._shard.update(qe.UpdateOperation.upsert_points(written))

    def delete(self, point_ids: Sequence[PointId]) -> None:
        self._shard.update(qe.UpdateOperation.delete_points(list(point_ids)))

    def count(self) -> int:
        return int(self._shard.count(qe.CountRequest(exact=True)))

    def flush(self) -> None:
        self._shard.flush()

    def optimize(self) -> None:
        self._shard.optimize()

    def close(self) -> None:
        self._shard.close()


def _shards(collections: Collections) -> list[_EdgeCollection]:
    return [c for c in collections if isinstance(c, _EdgeCollection)]


def _flush(collections: Collections) -> None:
    for collection in _shards(collections):
        collection.flush()


def _make_space(width: int, hnsw: HnswConfig, space: str) -> Any:
    several = qe.MultiVectorConfig(qe.MultiVectorComparator.MaxSim)
    graph = qe.HnswIndexConfig(
        m=getattr(hnsw, f"{space}_m"),
        ef_construct=hnsw.ef_construct,
        full_scan_threshold=hnsw.full_scan_threshold,
    )
    return qe.EdgeVectorParams(
        size=width,
        distance=qe.Distance.Dot,
        multivector_config=several if space == "all" else None,
        hnsw_config=graph,
    )


def _filter(types: PostTypes, only: Sequence[PointId] | None) -> Any:
    conditions: list[Any] = []
    if types is not None:
        match = qe.MatchAny(sorted(types))
        conditions.append(qe.FieldCondition(key="type", match=match))
    if only is not None:
        conditions.append(qe.HasIdCondition(set(only)))
    return qe.Filter(must=conditions) if conditions else None


def _plain(point_id: Any) -> PointId:
    return str(point_id) if isinstance(point_id, UUID) else point_id


def _read_json(path: Path) -> dict[str, Any]:
    try:
        return dict(json.loads(path.read_text(encoding="utf-8")))
    except (FileNotFoundError, ValueError):
        return {}
