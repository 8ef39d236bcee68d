"""The engine ``edge``: Qdrant's engine inside the process, in a folder of its own.

::

    indexes/<encoder>/
      edge.json         which build is in use, what it was made from, the checksums of
                        its files, and which posts were changed by hand
      build-3f0c.../    posts/  formulas/; never changed once it is in use
      view-9a71.../     the same as one reader sees it

A build is put into use by replacing ``edge.json``. Posts are added to a copy, which is
put into use in its place: a process that is killed at any moment leaves the build
before. Any number of processes read beside one that writes.

The engine lets one process open a folder, and rewrites some small files whenever it
does. So each reader has a view: hard links to what is only read, and copies of the
rest. What readers have open stays on the disk until they close it.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import shutil
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any
from uuid import uuid4
from weakref import finalize

import numpy as np
import qdrant_edge as qe

from mathamr_kedro.base.checksums import FileChecksum, checksum
from mathamr_kedro.base.errors import (
    DamagedFileError,
    DiskFullError,
    InputError,
    LockedError,
    MissingInputError,
)
from mathamr_kedro.base.files import FolderLock, sync_folder, write_text
from mathamr_kedro.base.types import PostId
from mathamr_kedro.vectors.points import (
    CHANGE,
    CHANGED_AT_ONCE,
    SPACES,
    Changes,
    Collections,
    Point,
    PointCollection,
    PointId,
)
from mathamr_kedro.vectors.post_vectors import Vectors
from mathamr_kedro.vectors.protocol import HnswConfig, PostTypes, SearchMode
from mathamr_kedro.vectors.qdrant import (
    EF_CONSTRUCT,
    FULL_SCAN_KB,
    Connection,
    Opened,
)

_NOTE = "edge.json"
_COPIES = 4
"""Of a vector while it is written: two spaces, the log of the engine, the rest."""
_SPARE = 64 << 20
"""Bytes that stay free."""
_PASSING = ("tracker_journal.dat", "wal/tmp-*")
"""Files that come and go: a journal, and logs that the engine still prepares."""
_REWRITTEN = ("*.json", "*.versions", "wal/*")
"""Files that the engine writes again whenever it opens them; a view has copies."""
_LOG = "wal"
"""Of writes; a reader makes none and gets an empty one."""
_REMEDY = (
    "run `kedro run --pipelines indexing` with the --env of your run: it builds the "
    "index again from the vectors"
)


class EdgeConnection(Connection):
    """The index in a folder.

    Args:
        folder: of the index.
        hnsw: graphs to build.
        verify: read all files whole before they are used; their sizes are always
            looked at.
    """

    def __init__(
        self, folder: Path, hnsw: HnswConfig | None = None, verify: bool = False
    ) -> None:
        super().__init__(folder, hnsw)
        self._verify = verify

    def open(self, content: str | None) -> Opened:
        """Open the build in use beside other readers."""
        read = self._find_note if content is None else self._read_note
        while True:
            note = read()
            known = note.get("content")
            if known is None or content not in (None, known):
                raise MissingInputError(f"no index of these vectors in {self.folder}")
            verify = self._verify and content is not None  # texts may be whole still
            try:
                return Opened(self._open_view(note, verify), note["build"])
            except InputError:
                if read() == note:  # else a writer replaced it meanwhile
                    raise

    def read_version(self) -> Any:
        """Return the name of the build in use."""
        return self._read_note().get("build")

    def list_changed(self) -> Collection[PostId] | None:
        """Return the posts that were changed by hand as the note names them."""
        with contextlib.suppress(DamagedFileError):
            return self._read_note().get("changed")
        return None

    def verify(self) -> Iterator[DamagedFileError]:
        """Read the build in use whole and yield what is wrong with each file."""
        try:
            note = self._read_note()
        except DamagedFileError as error:
            yield error
            return
        if not note and any(self.folder.glob("build-*")):
            yield DamagedFileError(
                f"Expected a file at {str(self.folder / _NOTE)!r} (got none); {_REMEDY}"
            )
        if note.get("content"):
            yield from _find_damage(self.folder / note["build"], note["files"], True)

    def measure(self) -> tuple[int, int]:
        """Return the bytes of posts and formulas on disk."""
        build = self.folder / str(self.read_version())
        posts, formulas = (_count_bytes(build / kind) for kind in SPACES)
        return posts, formulas

    @contextmanager
    def building(self, content: str, width: int) -> Iterator[Collections]:
        """Make a build and put it into use."""
        with self._new_build(content) as (build, note):
            _reserve(self.folder, 0)
            posts, formulas = (
                EdgeCollection.create(build / kind, kind, width, self.hnsw)
                for kind in SPACES
            )
            collections = Collections(posts, formulas)
            try:
                yield collections
                note["changed"] = sorted(Changes.read(posts).keys)
                _reserve(build, _count_bytes(build))  # graphs come with a copy of all
                for collection in (posts, formulas):
                    collection.optimize()
            finally:
                collections.close()

    @contextmanager
    def changing(
        self, content: str, unfinished: Mapping[PostId, int]
    ) -> Iterator[Collections]:
        """Copy the build in use, and put the changed copy into use."""
        old = self.folder / str(self.read_version())
        with self._new_build(content) as (build, note):
            _reserve(self.folder, _count_bytes(old) // _COPIES)
            shutil.copytree(old, build, copy_function=_copy)
            collections = _open_collections(build)
            try:
                yield collections
                note["changed"] = sorted(Changes.read(collections.posts).keys)
            finally:
                collections.close()

    @contextmanager
    def _new_build(self, content: str) -> Iterator[tuple[Path, dict[str, Any]]]:
        """Give a folder to fill; put it into use in one step, with its checksums."""
        self._remove_unused()
        build = self.folder / f"build-{uuid4().hex}"
        note: dict[str, Any] = {"build": build.name, "content": content}
        try:
            yield build, note
        except BaseException:
            shutil.rmtree(build, ignore_errors=True)
            raise
        sync_folder(build)
        note |= {"files": _sum_files(build)}
        note |= {"checksum": checksum(note)}
        write_text(self.folder / _NOTE, json.dumps(note))
        self._remove_unused()

    def _remove_unused(self) -> None:
        """Remove builds that are not in use, and what killed readers left."""
        with contextlib.suppress(DamagedFileError):  # until another one is in use
            used = self.read_version()
            for build in self.folder.glob("build-*"):
                if build.name != used:
                    shutil.rmtree(build, ignore_errors=True)
        for view in self.folder.glob("view-*"):
            try:
                lock = FolderLock(view, _REMEDY)
            except LockedError:  # a reader lives
                continue
            shutil.rmtree(view, ignore_errors=True)
            lock.close()

    def _read_note(self) -> dict[str, Any]:
        path = self.folder / _NOTE
        try:
            note = dict(json.loads(path.read_text(encoding="utf-8")))
        except FileNotFoundError:
            return {}
        except ValueError as exc:
            raise DamagedFileError(
                f"Expected JSON in {str(path)!r} ({exc}); {_REMEDY}"
            ) from exc
        if note.pop("checksum", None) != checksum(note):
            raise DamagedFileError(
                f"Expected the checksum of {str(path)!r} in it: its bytes were "
                f"changed; {_REMEDY}"
            )
        return note

    def _find_note(self) -> dict[str, Any]:
        """Return the build in use, or the one that is left if nothing names it."""
        with contextlib.suppress(DamagedFileError):
            if note := self._read_note():
                return note | {"files": {}}  # what can be read of it is read
        builds = [build.name for build in self.folder.glob("build-*")]
        return {"build": builds[0], "content": "", "files": {}} if builds else {}

    def _open_view(self, note: Mapping[str, Any], verify: bool) -> Collections:
        """Open a build beside others; closing or forgetting it removes the view."""
        build, files = self.folder / note["build"], note["files"]
        for error in _find_damage(build, files, verify):
            raise error
        view = self.folder / f"view-{uuid4().hex}"
        try:
            lock = FolderLock(view, _REMEDY)
        except LockedError as exc:  # taken for the view of a killed reader
            raise MissingInputError(f"{str(build)!r} is being replaced") from exc
        try:
            _link(build, view)
            for error in _find_damage(view, files, whole=False):
                raise error
            opened = _open_collections(view)
        except FileNotFoundError as exc:
            _remove_view(view, lock)
            raise MissingInputError(f"{str(build)!r} was replaced") from exc
        except BaseException:
            _remove_view(view, lock)
            raise
        posts = opened.posts
        if isinstance(posts, EdgeCollection):
            posts.release = finalize(posts, _remove_view, view, lock)
        return opened


def _open_collections(folder: Path) -> Collections:
    return Collections(*(EdgeCollection.open(folder / kind) for kind in SPACES))


def _remove_view(view: Path, lock: FolderLock) -> None:
    shutil.rmtree(view, ignore_errors=True)
    lock.close()


def _sum_files(build: Path) -> dict[str, Any]:
    """Return the checksum of each file of a build."""
    found = (f for f in build.rglob("*") if not any(map(f.match, _PASSING)))
    files = sorted(file for file in found if file.is_file())
    return {f.relative_to(build).as_posix(): asdict(FileChecksum.of(f)) for f in files}


def _find_damage(
    folder: Path, files: Mapping[str, Any], whole: bool
) -> Iterator[DamagedFileError]:
    """Yield what is wrong with each file; ``whole`` reads all bytes of them."""
    for name, found in files.items():
        if not whole and _LOG in Path(name).parts:  # readers have none
            continue
        expected = FileChecksum(**found)
        try:
            (expected.check if whole else expected.check_size)(folder / name, _REMEDY)
        except DamagedFileError as error:
            yield error


def _reserve(folder: Path, num_bytes: int) -> None:
    """Refuse to write vectors for which there is no room.

    The engine writes into files that are mapped into memory: on a full disk the system
    would end the process (SIGBUS), without a word.
    """
    folder.mkdir(parents=True, exist_ok=True)
    free, needed = shutil.disk_usage(folder).free, _COPIES * num_bytes
    if free < needed + _SPARE:
        raise DiskFullError(
            f"Expected {(needed + _SPARE) >> 20} MiB of free room on the disk of "
            f"{str(folder)!r} (got {free >> 20}); make room and run the same command "
            "again"
        )


def _count_bytes(folder: Path) -> int:
    """Return what a folder takes on disk: files have holes."""
    files = (f.stat() for f in folder.rglob("*") if f.is_file())
    return 512 * sum(f.st_blocks for f in files)


def _link(build: Path, view: Path) -> None:
    for path in build.rglob("*"):
        name = path.relative_to(build)
        if path.is_dir():
            (view / name).mkdir(parents=True, exist_ok=True)
        elif _LOG not in name.parts[:-1]:
            (view / name).parent.mkdir(parents=True, exist_ok=True)
            is_rewritten = any(map(name.match, (*_REWRITTEN, *_PASSING)))
            (_copy if is_rewritten else _link_file)(path, view / name)


def _link_file(source: Path, target: Path) -> None:
    try:
        os.link(source, target)
    except FileNotFoundError:
        raise
    except OSError:  # this file system, or this user, has no hard links
        _copy(source, target)


def _copy(source: str | Path, target: str | Path) -> None:
    """Copy a file but for its holes: most of a young index is holes."""
    with Path(source).open("rb") as old, Path(target).open("wb") as new:
        size = os.fstat(old.fileno()).st_size
        new.truncate(size)
        start = 0
        while start < size:
            try:
                start = os.lseek(old.fileno(), start, os.SEEK_DATA)
            except OSError as exc:
                if exc.errno == errno.ENXIO:  # holes up to the end
                    return
                raise
            end = os.lseek(old.fileno(), start, os.SEEK_HOLE)
            old.seek(start)
            new.seek(start)
            while start < end:
                part = old.read(min(end - start, 1 << 20))
                if not part:
                    return
                new.write(part)
                start += len(part)


class EdgeCollection(PointCollection):
    """A shard of qdrant-edge as a collection; no other process has its folder open."""

    def __init__(self, shard: Any, folder: Path) -> None:
        self._shard, self._folder = shard, folder
        self.release = lambda: None
        """Called when it is closed."""

    @classmethod
    def open(cls, folder: Path) -> EdgeCollection:
        """Open a collection."""
        with _naming_damage(folder):
            return cls(qe.EdgeShard.load(str(folder)), folder)

    @classmethod
    def create(
        cls, folder: Path, kind: str, width: int, hnsw: HnswConfig
    ) -> EdgeCollection:
        """Make a collection of ``posts`` or ``formulas``."""
        folder.mkdir(parents=True)
        spaces = {s: _make_space(width, hnsw, s) for s in SPACES[kind]}
        config = qe.EdgeConfig(vectors=spaces)
        shard = qe.EdgeShard.create(str(folder), config)
        if kind == "posts":
            keyword = qe.PayloadSchemaType.Keyword
            shard.update(qe.UpdateOperation.create_field_index(CHANGE, keyword))
        return cls(shard, folder)

    def search(
        self,
        queries: Sequence[Vectors],
        space: str,
        limit: int,
        mode: SearchMode,
        types: PostTypes = None,
    ) -> list[list[Point]]:
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
                with_payload=True,
            )
            for query in queries
        ]
        with _naming_damage(self._folder):
            return [[Point.of(p) for p in self._shard.query(r)] for r in requests]

    def _retrieve(self, point_ids: Sequence[PointId], space: str) -> Any:
        with _naming_damage(self._folder):
            return self._shard.retrieve(list(point_ids), False, [space])

    def _scroll_changed(self, offset: Any) -> tuple[list[Any], Any]:
        chosen = qe.Filter(must_not=[qe.IsEmptyCondition(CHANGE)])
        request = qe.ScrollRequest(
            offset=offset, limit=CHANGED_AT_ONCE, filter=chosen, with_payload=True
        )
        with _naming_damage(self._folder):
            points, following = self._shard.scroll(request)
        return points, following

    def upsert(self, points: Sequence[Point]) -> None:
        """Write points; existing ones are replaced."""
        numbers = sum(np.size(v) for p in points for v in p.vectors.values())
        _reserve(self._folder, 4 * numbers)
        written = [qe.Point(p.point_id, p.vectors, p.payload) for p in points]
        self._shard.update(qe.UpdateOperation.upsert_points(written))

    def delete(self, point_ids: Sequence[PointId]) -> None:
        """Delete points; missing ones are skipped."""
        self._shard.update(qe.UpdateOperation.delete_points(list(point_ids)))

    def count(self) -> int:
        """Return the number of points."""
        return int(self._shard.count(qe.CountRequest(exact=True)))

    def optimize(self) -> None:
        """Build the graphs."""
        self._shard.flush()
        self._shard.optimize()

    def close(self) -> None:
        """Write everything to disk and release the folder."""
        try:
            self._shard.flush()
            self._shard.close()
        finally:
            self.release()


@contextmanager
def _naming_damage(folder: Path) -> Iterator[None]:
    """Raise :class:`DamagedFileError` for whatever the engine raises or panics at."""
    try:
        yield
    except BaseException as exc:  # a panic of Rust is no Exception
        if isinstance(exc, Exception) or type(exc).__name__ == "PanicException":
            raise DamagedFileError(
                f"Expected an index in {str(folder)!r} ({exc}); {_REMEDY}"
            ) from exc
        raise


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
