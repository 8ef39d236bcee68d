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
from dataclasses import asdict
from pathlib import Path
from typing import Any

from mathamr_kedro.files import FolderLock, write_text
from mathamr_kedro.search.engines.edge_collection import EdgeCollection
from mathamr_kedro.search.engines.following import Follower, Note
from mathamr_kedro.search.engines.points import SPACES, Collections
from mathamr_kedro.search.engines.protocol import HnswConfig, IndexSize
from mathamr_kedro.search.engines.qdrant import QdrantIndex
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
        posts, formulas = (_measure(self._folder, kind) for kind in SPACES)
        return IndexSize(*super().size()[:2], posts, formulas, "disk")

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
                EdgeCollection.open(
                    folder / name,
                    EdgeCollection.make_spaces(name, self._width, self._hnsw),
                    is_new,
                )
                for name in SPACES
            )
        )


def _shards(collections: Collections) -> list[EdgeCollection]:
    return [c for c in collections if isinstance(c, EdgeCollection)]


def _flush(collections: Collections) -> None:
    for collection in _shards(collections):
        collection.flush()


def _measure(folder: Path, kind: str) -> int:
    files = (f.stat() for f in folder.glob(f"{_PREFIX}*/{kind}/**/*") if f.is_file())
    return 512 * sum(f.st_blocks for f in files)  # files have holes


def _read_json(path: Path) -> dict[str, Any]:
    try:
        return dict(json.loads(path.read_text(encoding="utf-8")))
    except (FileNotFoundError, ValueError):
        return {}
