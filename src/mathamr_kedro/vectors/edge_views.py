"""Readers of an index of the engine ``edge``: each has a folder of its own.

::

    build-3f0c.../posts/segments/.../chunk_0.mmap        one file with two names
    view-3f0c...-77/posts/segments/.../chunk_0.mmap   ──┘
    view-3f0c...-77/.lock                                held while the reader lives

The engine lets one process open a folder, and rewrites some small files whenever it
does. A view has hard links to what is only read and copies of the rest, so that any
number of processes read one build. A writer never changes a build that has a view: it
changes a copy, and what readers have open stays on the disk until they close it.
"""

from __future__ import annotations

import errno
import os
import shutil
from pathlib import Path
from uuid import uuid4

from mathamr_kedro.base.errors import LockedError, MissingInputError
from mathamr_kedro.base.files import FolderLock
from mathamr_kedro.vectors.edge_seals import Seals

_LOG = "wal"
"""Of writes; a reader makes none and gets an empty one."""
_REMEDY = "run the same command again"


class EdgeView:
    """What one reader sees of a build.

    Args:
        build: the folder.
        seals: checksums of its files; the engine leaves those alone that have one.

    Raises:
        MissingInputError: a writer replaced the build meanwhile.
    """

    def __init__(self, build: Path, seals: Seals) -> None:
        self.folder = build.with_name(f"{_prefix(build)}{uuid4().hex}")
        try:
            self._lock = FolderLock(self.folder, _REMEDY)
        except LockedError as exc:  # taken for the view of a killed reader
            raise MissingInputError(f"{str(build)!r} is being replaced") from exc
        try:
            _link(build, self.folder, seals)
        except FileNotFoundError as exc:
            self.close()
            raise MissingInputError(f"{str(build)!r} was replaced") from exc
        except BaseException:
            self.close()
            raise

    @classmethod
    def are_open(cls, build: Path) -> bool:
        """Tell whether somebody reads a build; views of killed readers are removed."""
        return any([_is_open(f) for f in build.parent.glob(f"{_prefix(build)}*")])

    @staticmethod
    def remove_dead(folder: Path) -> None:
        """Remove what killed readers of any build left in the folder of an index."""
        for view in folder.glob("view-*"):
            _is_open(view)

    @staticmethod
    def copy_build(build: Path, target: Path) -> None:
        """Copy a build, with the holes in its files."""
        shutil.copytree(build, target, copy_function=_copy)

    def close(self) -> None:
        """Let writers change the build again."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self._lock.close()


def _prefix(build: Path) -> str:
    return f"view-{build.name.partition('-')[2]}-"


def _is_open(view: Path) -> bool:
    try:
        lock = FolderLock(view, _REMEDY)
    except LockedError:
        return True
    shutil.rmtree(view, ignore_errors=True)
    lock.close()
    return False


def _link(build: Path, view: Path, seals: Seals) -> None:
    for path in build.rglob("*"):
        name = path.relative_to(build)
        if path.is_dir():
            (view / name).mkdir(parents=True, exist_ok=True)
        elif _LOG not in name.parts[:-1]:
            (view / name).parent.mkdir(parents=True, exist_ok=True)
            is_steady = seals.get(name.as_posix()) is not None
            (_link_file if is_steady else _copy)(path, view / name)


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
