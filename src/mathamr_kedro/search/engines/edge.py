"""The engine ``edge``: Qdrant's engine inside the process, in a folder of its own.

::

    edge/
      edge.json         which build is in use, and the generation of the store it has
      build-3f0c.../    posts/  formulas/  progress.json

A build grows under a name of its own and is put into use, by replacing ``edge.json``,
when it is complete. A later commit to the store is applied to the build in use, and
noted in ``edge.json`` when it is on disk; a process that is killed in between leaves an
older note, and the next one applies the same changes again, which does no harm.
"""

from __future__ import annotations

import json
import logging
import shutil
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from mathamr_kedro.files import FolderLock, fingerprint, write_text
from mathamr_kedro.search.engines.edge_collection import (
    EdgeCollection,
    formula_spaces,
    post_spaces,
)
from mathamr_kedro.search.engines.following import apply_changes, verify_collections
from mathamr_kedro.search.engines.protocol import HnswParameters, IndexSize
from mathamr_kedro.search.engines.qdrant import Collections, QdrantIndex
from mathamr_kedro.search.store import VectorStore

logger = logging.getLogger(__name__)

_NOTE, _PROGRESS = "edge.json", "progress.json"
_FLUSH_EVERY = 32
"""Batches between two notes of progress."""


@dataclass(frozen=True)
class _Note:
    """What ``edge.json`` holds."""

    config: str
    build: str
    generation: int


class EdgeIndex(QdrantIndex):
    """An index in a folder, made from a store and kept up to date with it.

    ::

        with EdgeIndex.open(folder, VectorStore(vectors)) as index:
            hits = index.search_maxsim([query.vectors], depth=1000)
    """

    def __init__(
        self, folder: Path, store: VectorStore, hnsw: HnswParameters, lock: FolderLock
    ) -> None:
        self._folder, self._store, self._lock = folder, store, lock
        self._hnsw = hnsw
        opened = self._open_build()
        super().__init__(opened, store.encoder, store.state.dtype, hnsw)

    @classmethod
    def open(
        cls, folder: str | Path, store: VectorStore, hnsw: HnswParameters | None = None
    ) -> EdgeIndex:
        """Open the index of a store; build what is missing.

        Raises:
            ConfigurationError: another process has it open.
        """
        folder = Path(folder)
        lock = FolderLock(
            folder, "an index of the engine 'edge' belongs to one process: wait, "
            "or use the engine 'server'",
        )  # fmt: skip
        try:
            return cls(folder, store, hnsw or HnswParameters(), lock)
        except BaseException:
            lock.close()
            raise

    def __enter__(self) -> EdgeIndex:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def refresh(self) -> None:
        """Catch up with what was committed to the store."""
        self._store.refresh()
        note = self._read_note()
        if note is not None and self._store.has_forgotten(note.generation):
            super().close()
            self._collections = self._open_build()
        elif note is not None:
            self._catch_up(self._collections, note)

    def size(self) -> IndexSize:
        """Return how much it holds, and its size on disk."""
        files = (f.stat() for f in self._folder.rglob("*") if f.is_file())
        used = 512 * sum(f.st_blocks for f in files)  # files have holes
        return super().size()._replace(num_bytes=used)

    def close(self) -> None:
        """Write everything to disk and let other processes in."""
        super().close()
        self._lock.close()

    def _config(self) -> str:
        """Name all that decides what is in the index, but the generation."""
        state = self._store.state
        parts = [state.identity, state.encoder, state.width, asdict(self._hnsw)]
        return fingerprint(*parts)

    def _open_build(self) -> Collections:
        note = self._read_note()
        is_usable = (
            note is not None
            and note.config == self._config()
            and note.generation <= self._store.generation
            and not self._store.has_forgotten(note.generation)
        )
        if note is not None and is_usable:
            try:
                collections = self._load(note.build)
            except Exception:
                # Whatever a killed process left: the store has everything.
                logger.warning("%s cannot be opened; it is built anew", self._folder)
            else:
                self._catch_up(collections, note)
                return collections
        return self._build()

    def _catch_up(self, collections: Collections, note: _Note) -> None:
        if note.generation == self._store.generation:
            return
        changes = self._store.changes_since(note.generation)
        for _ in apply_changes(collections, changes):
            pass
        _flush(collections)
        self._write_note(replace(note, generation=changes.generation))

    def _build(self) -> Collections:
        config = self._config()
        changes = self._store.changes_since(0)
        name = f"build-{fingerprint(config, changes.generation)}"
        folder = self._folder / name
        note = self._read_note()
        if note is not None and note.build == name:  # it cannot be opened
            (self._folder / _NOTE).unlink()
            shutil.rmtree(folder, ignore_errors=True)
        collections, done = self._resume(folder)
        for number in apply_changes(collections, changes, done):
            if number % _FLUSH_EVERY == 0:
                _flush(collections)
                _write_json(folder / _PROGRESS, {"done": number})
        _flush(collections)
        for collection in collections:
            if isinstance(collection, EdgeCollection):
                collection.optimize()
        verify_collections(collections, self._store)
        self._write_note(_Note(config, name, changes.generation))
        for other in self._folder.glob("build-*"):
            if other.name != name:
                shutil.rmtree(other)
        return collections

    def _resume(self, folder: Path) -> tuple[Collections, int]:
        """Open what a killed build left, or begin."""
        progress = _read_json(folder / _PROGRESS)
        if progress:
            try:
                return self._load(folder.name), progress["done"]
            except Exception:
                logger.warning("The rest of a killed build is built anew")
        shutil.rmtree(folder, ignore_errors=True)
        return self._load(folder.name, is_new=True), 0

    def _load(self, build: str, is_new: bool = False) -> Collections:
        folder, width = self._folder / build, self._store.width
        spaces = post_spaces(width, self._hnsw)
        posts = EdgeCollection.open(folder / "posts", spaces, is_new)
        spaces = formula_spaces(width, self._hnsw)
        return Collections(
            posts, EdgeCollection.open(folder / "formulas", spaces, is_new)
        )

    def _read_note(self) -> _Note | None:
        found = _read_json(self._folder / _NOTE)
        return _Note(**found) if found else None

    def _write_note(self, note: _Note) -> None:
        _write_json(self._folder / _NOTE, asdict(note))


def _flush(collections: Collections) -> None:
    for collection in collections:
        if isinstance(collection, EdgeCollection):
            collection.flush()


def _read_json(path: Path) -> dict[str, Any]:
    try:
        return dict(json.loads(path.read_text(encoding="utf-8")))
    except (FileNotFoundError, ValueError):
        return {}


def _write_json(path: Path, content: dict[str, Any]) -> None:
    write_text(path, json.dumps(content))
