"""The builds of an index of the engine ``edge`` as folders."""

from __future__ import annotations

import json
import logging
import shutil
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from mathamr_kedro.base.checksums import checksum
from mathamr_kedro.base.errors import DamagedFileError, DiskFullError, MissingInputError
from mathamr_kedro.base.files import sync_folder, write_text
from mathamr_kedro.vectors.edge_collection import EdgeCollection
from mathamr_kedro.vectors.edge_seals import Seals, find_damage, seal_build
from mathamr_kedro.vectors.edge_views import EdgeView
from mathamr_kedro.vectors.following import Follower, Note
from mathamr_kedro.vectors.points import SPACES, Collections
from mathamr_kedro.vectors.protocol import HnswConfig
from mathamr_kedro.vectors.store import VectorStore
from mathamr_kedro.vectors.verification import verify_collections

logger = logging.getLogger(__name__)

_NOTE, _PROGRESS = "edge.json", "progress.json"
_PREFIX = "build-"
_COPIES = 4
"""Of a vector while it is written: two spaces, the log of the engine, the rest."""
_SPARE = 64 << 20
"""Bytes that stay free."""


class EdgeBuilds:
    """The builds of one index; the one in use is named by its note.

    Args:
        folder: of the index.
        width: of the vectors.
        hnsw: graphs to build.
        verify: read all files whole before they are used.
    """

    def __init__(
        self, folder: Path, width: int, hnsw: HnswConfig, verify: bool = False
    ) -> None:
        self._folder, self._width, self._hnsw = folder, width, hnsw
        self._verify = verify

    def _of(self, note: Note) -> Path:
        return self._folder / f"{_PREFIX}{note.build}"

    def read_note(self) -> Note | None:
        """Return the note of the build in use; ``None`` where there is none."""
        found = _read_json(self._folder / _NOTE)
        if not found:
            return None
        build = found["build"].removeprefix(_PREFIX)
        return Note(found["config"], build, found["generation"])

    def _write_note(self, note: Note, files: Seals | None) -> None:
        content = asdict(note) | {"build": self._of(note).name, "files": files}
        write_text(self._folder / _NOTE, json.dumps(content))

    def view(
        self, store: VectorStore, follower: Follower
    ) -> tuple[Note, EdgeView, Collections]:
        """Open the build in use beside other readers.

        A writer announces a change before it looks for views, a reader makes its view
        before it looks for announcements: one of them sees the other.

        Raises:
            InputError: it lacks something that the store has, or is being changed.
        """
        note = self.read_note()
        if note is not None and note.generation > store.generation:
            store.refresh()
        if note is None or follower.reached() != store.generation:
            raise MissingInputError(f"{str(self._folder)!r} is not up to date")
        self._check(note)
        view = EdgeView(self._of(note), self._read_seals())
        try:
            if self.read_note() != note or self.needs_note():
                raise MissingInputError(f"{str(self._folder)!r} is being changed")
            opened = self._open(view.folder)
            verify_collections(opened, store)
        except BaseException:
            view.close()
            raise
        return note, view, opened

    def claim(self, note: Note) -> Note:
        """Announce a change; change a copy where somebody reads the build."""
        self._check(note)
        self.announce(note)
        if not EdgeView.are_open(self._of(note)):
            return note
        copy = replace(note, build=checksum(note.build, note.generation))
        self.reserve(_count_bytes(self._of(note)) // _COPIES)
        shutil.rmtree(self._of(copy), ignore_errors=True)
        EdgeView.copy_build(self._of(note), self._of(copy))
        return copy

    def announce(self, note: Note) -> None:
        """Note that files are about to change."""
        self._write_note(note, None)

    def count_bytes(self, kind: str = "") -> int:
        """Return what the builds, or their ``posts`` or ``formulas``, take on disk."""
        found = self._folder.glob(f"{_PREFIX}*/{kind}")
        return sum(map(_count_bytes, found))

    def needs_note(self) -> bool:
        """Tell whether a change was announced that no note followed."""
        return _read_json(self._folder / _NOTE).get("files") is None

    def write_note(self, collections: Collections, note: Note) -> None:
        """Seal a build, put it into use and remove the others."""
        _flush(collections)
        sync_folder(self._of(note))
        self._write_note(note, seal_build(self._of(note)))
        for other in self._folder.glob(f"{_PREFIX}*"):
            if other != self._of(note):
                shutil.rmtree(other)
        EdgeView.remove_dead(self._folder)

    def load(self, note: Note) -> Collections:
        """Open a build for writing."""
        self._check(note)
        return self._open(self._of(note))

    def _check(self, note: Note) -> None:
        """Refuse a build whose files are not what was sealed."""
        seals = self._read_seals()
        for error in find_damage(self._of(note), seals, whole=self._verify):
            raise error

    def verify(self) -> Iterator[DamagedFileError]:
        """Read the index in use whole and yield what is wrong with each file."""
        note = self.read_note()
        if note is not None:
            yield from find_damage(self._of(note), self._read_seals(), whole=True)

    def _read_seals(self) -> Seals:
        found: Seals = _read_json(self._folder / _NOTE).get("files") or {}
        return found

    def discard(self, note: Note) -> None:
        """Remove a damaged build and its note."""
        if self.read_note() == note:
            (self._folder / _NOTE).unlink()
        shutil.rmtree(self._of(note), ignore_errors=True)

    def begin(self, note: Note) -> tuple[Collections, int]:
        """Make a build, or open what a killed one left, with its progress."""
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
        """Make safe what was written, then note how many batches that is."""
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
        """Build the graphs."""
        _flush(collections)
        self.reserve(self.count_bytes())  # graphs come with a copy of all
        for collection in _shards(collections):
            collection.optimize()

    def put_into_use(self, collections: Collections, note: Note) -> None:
        """Switch to a complete build in one step."""
        # Not to be taken for what a killed build left, should it be built again.
        (self._of(note) / _PROGRESS).unlink(missing_ok=True)
        self.write_note(collections, note)

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
