"""The engine ``edge``: Qdrant's engine inside the process, in a folder of its own.

::

    edge/
      edge.json         which build is in use, the generation of the store it has, and
                        the seals of its files
      build-3f0c.../    posts/  formulas/  progress.json

A build is put into use by replacing ``edge.json``. While files change, it lists no
seals; after a kill the index is compared with its store alone.
"""

from __future__ import annotations

import json
import logging
import shutil
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from mathamr_kedro.errors import DamagedFileError, DiskFullError
from mathamr_kedro.files import FolderLock, sync_folder, write_text
from mathamr_kedro.search.engines.edge_collection import EdgeCollection
from mathamr_kedro.search.engines.edge_seals import Seals, find_damage, seal_build
from mathamr_kedro.search.engines.following import Follower, Note
from mathamr_kedro.search.engines.points import SPACES, Collections
from mathamr_kedro.search.engines.protocol import HnswConfig, IndexSize
from mathamr_kedro.search.engines.qdrant import QdrantIndex
from mathamr_kedro.search.store import VectorStore

logger = logging.getLogger(__name__)

_NOTE, _PROGRESS = "edge.json", "progress.json"
_PREFIX = "build-"
_COPIES = 4
"""Of a vector while it is written: two spaces, the log of the engine, the rest."""
_SPARE = 64 << 20
"""Bytes that stay free."""


class EdgeIndex(QdrantIndex):
    """An index in a folder, made from a store and kept up to date with it.

    ::

        with EdgeIndex.open(folder, VectorStore(vectors)) as index:
            hits = index.search_maxsim([query.vectors], depth=1000)
    """

    def __init__(
        self,
        folder: Path,
        store: VectorStore,
        hnsw: HnswConfig,
        lock: FolderLock,
        verify: bool = False,
    ) -> None:
        self._folder, self._store, self._lock = folder, store, lock
        self._follower = _make_follower(folder, store, hnsw, verify)
        opened = self._follower.open()
        super().__init__(opened, store.encoder, store.state.dtype, hnsw)

    @classmethod
    def open(
        cls,
        folder: str | Path,
        store: VectorStore,
        hnsw: HnswConfig | None = None,
        verify: bool = False,
    ) -> EdgeIndex:
        """Open the index of a store; build what is missing or damaged.

        Args:
            folder: of the index.
            store: the vectors.
            hnsw: graphs to build.
            verify: read all files whole; their sizes are always looked at.

        Raises:
            LockedError: another process has it open.
        """
        folder = Path(folder)
        lock = FolderLock(
            folder, "an index of the engine 'edge' belongs to one process: wait, "
            "or use the engine 'server'",
        )  # fmt: skip
        try:
            return cls(folder, store, hnsw or HnswConfig(), lock, verify)
        except BaseException:
            lock.close()
            raise

    @staticmethod
    def verify(folder: Path) -> Iterator[DamagedFileError]:
        """Read the index in a folder whole; yield what is wrong with each file."""
        return _BuildFolder(folder, 0, HnswConfig()).verify()

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
            # Searches that have begun finish in the old build, which goes with them.
            self._collections = self._follower.open()

    def size(self) -> IndexSize:
        """Return how much it holds, and its size on disk."""
        posts, formulas = (
            sum(map(_count_bytes, self._folder.glob(f"{_PREFIX}*/{kind}")))
            for kind in SPACES
        )
        return IndexSize(*super().size()[:2], posts, formulas, "disk")

    def close(self) -> None:
        """Write everything to disk and let other processes in."""
        super().close()
        self._lock.close()


def _make_follower(
    folder: Path, store: VectorStore, hnsw: HnswConfig, verify: bool = False
) -> Follower:
    builds = _BuildFolder(folder, store.width, hnsw, verify)
    return Follower(builds, store, asdict(hnsw))


class _BuildFolder:
    """The builds of an index as folders."""

    def __init__(
        self, folder: Path, width: int, hnsw: HnswConfig, verify: bool = False
    ) -> None:
        self._folder, self._width, self._hnsw = folder, width, hnsw
        self._verify = verify

    def _of(self, note: Note) -> Path:
        return self._folder / f"{_PREFIX}{note.build}"

    def read_note(self) -> Note | None:
        found = _read_json(self._folder / _NOTE)
        if not found:
            return None
        build = found["build"].removeprefix(_PREFIX)
        return Note(found["config"], build, found["generation"])

    def _write_note(self, note: Note, files: Seals | None) -> None:
        content = asdict(note) | {"build": self._of(note).name, "files": files}
        write_text(self._folder / _NOTE, json.dumps(content))

    def announce(self, note: Note) -> None:
        self._write_note(note, None)

    def needs_note(self) -> bool:
        return _read_json(self._folder / _NOTE).get("files") is None

    def write_note(self, collections: Collections, note: Note) -> None:
        _flush(collections)
        sync_folder(self._of(note))
        self._write_note(note, seal_build(self._of(note)))

    def load(self, note: Note) -> Collections:
        folder = self._of(note)
        for error in find_damage(folder, self._read_seals(), whole=self._verify):
            raise error
        return self._open(folder)

    def verify(self) -> Iterator[DamagedFileError]:
        """Read the index in use whole and yield what is wrong with each file."""
        note = self.read_note()
        if note is not None:
            yield from find_damage(self._of(note), self._read_seals(), whole=True)

    def _read_seals(self) -> Seals:
        found: Seals = _read_json(self._folder / _NOTE).get("files") or {}
        return found

    def discard(self, note: Note) -> None:
        if self.read_note() == note:
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
        self.reserve(0)
        posts, formulas = (
            EdgeCollection.create(folder / kind, kind, self._width, self._hnsw)
            for kind in SPACES
        )
        return Collections(posts, formulas), 0

    def save_progress(self, collections: Collections, note: Note, done: int) -> None:
        _flush(collections)
        write_text(self._of(note) / _PROGRESS, json.dumps({"done": done}))

    def reserve(self, num_bytes: int) -> None:
        """Refuse to write vectors for which there is no room.

        The engine writes into files that are mapped into memory: on a full disk the
        system would end the process (SIGBUS), without a word.
        """
        free, needed = shutil.disk_usage(self._folder).free, _COPIES * num_bytes
        if free < needed + _SPARE:
            raise DiskFullError(
                f"Expected {(needed + _SPARE) >> 20} MiB of free room on the disk of "
                f"{str(self._folder)!r} (got {free >> 20}); make room and run the same "
                "command again: it goes on where it stopped"
            )

    def finish(self, collections: Collections) -> None:
        _flush(collections)
        self.reserve(_count_bytes(self._folder))  # graphs come with a copy of all
        for collection in _shards(collections):
            collection.optimize()

    def put_into_use(self, collections: Collections, note: Note) -> None:
        # Not to be taken for what a killed build left, should it be built again.
        (self._of(note) / _PROGRESS).unlink(missing_ok=True)
        self.write_note(collections, note)
        for other in self._folder.glob(f"{_PREFIX}*"):
            if other != self._of(note):
                shutil.rmtree(other)

    def _open(self, folder: Path) -> Collections:
        return Collections(*(EdgeCollection.open(folder / kind) for kind in SPACES))


def _shards(collections: Collections) -> list[EdgeCollection]:
    return [c for c in collections if isinstance(c, EdgeCollection)]


def _flush(collections: Collections) -> None:
    for collection in _shards(collections):
        collection.flush()


def _read_json(path: Path) -> dict[str, Any]:
    try:
        return dict(json.loads(path.read_text(encoding="utf-8")))
    except (FileNotFoundError, ValueError):
        return {}


def _count_bytes(folder: Path) -> int:
    """Return what a folder takes on disk: files have holes."""
    files = (f.stat() for f in folder.rglob("*") if f.is_file())
    return 512 * sum(f.st_blocks for f in files)
