"""Atomic writes of files and folders.

::

    with replace_file(folder / "state.json") as part:      # .state.json.HOST.PID.part
        part.write_text("{}")
    # synced, renamed to state.json; on an error nothing has changed

All files of the project are written through this module. Each file is synced to the
disk before it gets its name, and the folder of that name after it: after a power cut no
name belongs to an empty file. A part names the host and the process that writes
it: two writers never mix, and the next write removes what killed processes left.
"""

from __future__ import annotations

import errno
import os
import shutil
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mathamr_kedro.base.errors import DiskFullError, LockedError, StorageError


@contextmanager
def replace_file(path: Path) -> Iterator[Path]:
    """Yield a path to write to; rename it to ``path`` at the end."""
    part = _name_part(path)
    try:
        yield part
        _sync(part)
        os.replace(part, path)
        _sync(path.parent)
    except OSError as exc:
        _explain(exc, path)
        if isinstance(exc, FileNotFoundError) and str(exc.filename) == str(part):
            raise StorageError(
                f"Cannot write {str(path)!r} ({exc.strerror}); name a file in a folder "
                "that can be written to"
            ) from exc
        raise
    finally:
        part.unlink(missing_ok=True)


@contextmanager
def replace_folder(folder: Path) -> Iterator[Path]:
    """Yield an empty folder to fill; rename it to ``folder`` at the end.

    An existing folder is moved aside first: a kill between the two steps leaves no
    folder, never half of one.
    """
    part = _name_part(folder)
    make_folder(part, folder)
    try:
        yield part
        sync_folder(part)
        # No system call swaps two folders: a kill between the renames leaves none.
        old = part.with_suffix(".old.part")
        if folder.exists():
            os.replace(folder, old)
        os.replace(part, folder)
        _sync(folder.parent)
        shutil.rmtree(old, ignore_errors=True)
    except OSError as exc:
        _explain(exc, folder)
        raise
    finally:
        shutil.rmtree(part, ignore_errors=True)


def make_folder(folder: Path, shown: Path | None = None) -> None:
    """Create a folder and those above it, unless they exist.

    Raises:
        StorageError: a file is in its place, or nothing can be created there.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (FileNotFoundError, NotADirectoryError, FileExistsError) as exc:
        raise StorageError(
            f"Cannot create the folder {str(shown or folder)!r} ({exc.strerror}); "
            "name one that can be written to"
        ) from exc


def sync_folder(folder: Path) -> None:
    """Sync everything below a folder to the disk, names included."""
    for path in folder.rglob("*"):
        _sync(path)
    _sync(folder)


def reserve_file(path: Path) -> None:
    """Reserve disk space for a file that will be written through a memory map.

    A disk that is full when a mapped page is written kills the process.
    """
    if not hasattr(os, "posix_fallocate"):
        return
    try:
        with path.open("r+b") as file:
            os.posix_fallocate(file.fileno(), 0, path.stat().st_size)
    except OSError as exc:
        _explain(exc, path)
        raise


@contextmanager
def explain_full_disk(path: Path) -> Iterator[None]:
    """Raise :class:`DiskFullError` if there was no room for what is appended."""
    try:
        yield
    except OSError as exc:
        _explain(exc, path)
        raise


def write_text(path: Path, text: str) -> None:
    """Replace a file by a text in UTF-8."""
    with replace_file(path) as part:
        part.write_text(text, encoding="utf-8")


class FolderLock:
    """A folder that one process at a time may change; the lock ends with its process.

    Args:
        folder: created if missing.
        remedy: ends the message when another process holds the lock.
        seconds: how long to wait for it.

    Raises:
        LockedError: another process, or another object of this one, holds it.
    """

    def __init__(self, folder: Path, remedy: str, seconds: float = 0) -> None:
        # Bare machines for training never lock and need not have the package.
        from filelock import FileLock, Timeout  # noqa: PLC0415

        make_folder(folder)
        # any thread of the process may release it, whichever acquired it
        lock = folder / ".lock"
        self._lock = FileLock(lock, timeout=seconds, thread_local=False)
        try:
            self._lock.acquire()
        except (Timeout, RuntimeError) as exc:  # the latter for this very process
            raise LockedError(
                f"Another process has {str(folder)!r} open; {remedy}"
            ) from exc

    def close(self) -> None:
        """Release the lock."""
        self._lock.release()

    def __enter__(self) -> FolderLock:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


def _name_part(path: Path) -> Path:
    """Name a part of this process, and remove those of processes that are gone."""
    host = socket.gethostname()
    for left in path.parent.glob(f".{path.name}.{host}.*.part"):
        owner = left.name.removeprefix(f".{path.name}.{host}.").partition(".")[0]
        if owner.isdigit() and not _is_running(int(owner)):
            shutil.rmtree(left) if left.is_dir() else left.unlink(missing_ok=True)
    part = path.with_name(f".{path.name}.{host}.{os.getpid()}.part")
    shutil.rmtree(part, ignore_errors=True)
    return part


def _explain(error: OSError, path: Path) -> None:
    """Raise :class:`DiskFullError` if there was no room for a file."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        raise DiskFullError(
            f"No room for {str(path)!r} ({error.strerror}); make room and run the same "
            "command again: it resumes"
        ) from error


def _is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # of another user
        return True
    return True


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
