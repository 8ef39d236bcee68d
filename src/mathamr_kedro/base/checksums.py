"""Checksums: of values, of files, and of the files of a folder.

::

    checksum("posts.xml", {"size": 3})     # of values: does a result need a rebuild?
    FileChecksum.of(path)                  # of a file: was it damaged?
    write_checksums(folder)                # of a folder, in its seals.json
    check_folder(folder, remedy, whole=True)

    model/
      weights.pt
      model.json
      seals.json     {"weights.pt": [[size, hash]], "model.json": [[size, hash]]}

A file that is replaced on its own (:func:`replace_checked_file`) has two checksums for
a moment, the old and the new one: whenever its writer is killed, the file matches one
of them. Folders of earlier versions have no checksums; they are read as they are.
"""

from __future__ import annotations

import errno
import hashlib
import json
import logging
import os
import time
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from io import FileIO
from pathlib import Path
from typing import Any, TypeAlias

from mathamr_kedro.base.errors import DamagedFileError
from mathamr_kedro.base.files import replace_file, write_text

logger = logging.getLogger(__name__)

CHECKSUMS = "seals.json"

_DIGEST_BYTES = 16
_BLOCK = 1 << 18
_ZEROS = bytes(_BLOCK)
_CACHED_SIZE = 1 << 16
"""Smaller files are read again in each process: that takes no time."""
_RACE_SECONDS = 2.0
"""A file that has changed just now may change again within the same tick of a clock."""

_FileState: TypeAlias = list[int]
"""Size, time of change, time of change of the entry, and inode."""


def checksum(*values: Any) -> str:
    """Return a short checksum of anything that JSON can write.

    >>> checksum("posts.xml", {"size": 3}) == checksum("posts.xml", {"size": 3})
    True
    >>> len(checksum("posts.xml"))
    16
    """
    text = json.dumps(values, sort_keys=True, default=str)
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


def name_version(step: str, version: int) -> str:
    """Name a transformation in a checksum.

    The first version has the bare name: what was made before there were versions
    stays valid.

    >>> name_version("fusion", 1), name_version("fusion", 2)
    ('fusion', 'fusion-2')
    """
    return step if version == 1 else f"{step}-{version}"


@dataclass(frozen=True)
class FileChecksum:
    """Size and hash of a file when it was written."""

    size: int
    """Bytes."""
    digest: str
    """BLAKE2b of the blocks that are not all zero, each with its position."""

    @classmethod
    def of(cls, path: Path) -> FileChecksum:
        """Read a file."""
        hasher = hashlib.blake2b(digest_size=_DIGEST_BYTES)
        with path.open("rb", buffering=0) as file:
            for position, block in _read_blocks(file):
                hasher.update(position.to_bytes(8, "little"))
                hasher.update(block)
            return cls(file.seek(0, os.SEEK_END), hasher.hexdigest())

    def check_size(self, path: Path, remedy: str) -> None:
        """Raise :class:`DamagedFileError` for a file that is missing or truncated.

        Args:
            path: the file.
            remedy: what to do then, e.g. ``"run `kedro run --pipelines indexing`"``;
                ends the message.
        """
        try:
            size = path.stat().st_size
        except (FileNotFoundError, NotADirectoryError) as exc:
            raise self._miss(path, remedy) from exc
        if size != self.size:
            raise DamagedFileError(
                f"Expected {self.size} bytes in {str(path)!r} (got {size}): it was "
                f"damaged; {remedy}"
            )

    def check(self, path: Path, remedy: str) -> None:
        """Raise :class:`DamagedFileError` for a file that differs in any byte."""
        self.check_size(path, remedy)
        try:
            found = FileChecksum.of(path)
        except FileNotFoundError as exc:  # removed just now
            raise self._miss(path, remedy) from exc
        if found != self:
            raise DamagedFileError(
                f"Expected the checksum {self.digest} of {str(path)!r} (got "
                f"{found.digest}): its bytes were changed; {remedy}"
            )

    def check_once(self, path: Path, remedy: str) -> None:
        """Check every byte of a file, only the first time that this process asks.

        Raises:
            DamagedFileError: it is missing, truncated or changed.
        """
        self.check_size(path, remedy)
        stat = path.stat()
        key = (str(path), stat.st_size, stat.st_mtime_ns, stat.st_ino)
        if _verified.get(key) != self:
            self.check(path, remedy)
            _verified[key] = self

    def _miss(self, path: Path, remedy: str) -> DamagedFileError:
        return DamagedFileError(
            f"Expected a file of {self.size} bytes at {str(path)!r} (got none); "
            f"{remedy}"
        )


_verified: dict[tuple[str, int, int, int], FileChecksum] = {}
"""Files that this process has checked: path, size, time and inode, and its checksum."""


class ChecksumCache:
    """Checksums of files, remembered as long as a file looks the same.

    ``touch`` and copies change no checksum; other bytes do, even of the same size and
    time.

    Args:
        cache: JSON file that remembers them beyond this process; ``None``: none does.
            If it cannot be written, they are recomputed.
    """

    def __init__(self, cache: Path | None = None) -> None:
        self._cache = cache
        self._known: dict[str, tuple[_FileState, str]] = self._read()

    def checksum(self, path: Path) -> str:
        """Return the checksum of a file, or why it cannot be read.

        A file that cannot be read now, and can later, has another checksum then.
        """
        name = str(path.absolute())
        try:
            stat = path.stat()
            state = [stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_ino]
            known = self._known.get(name)
            if known is not None and known[0] == state:
                return known[1]
            digest = FileChecksum.of(path).digest
        except OSError as exc:
            return f"unreadable: {os.strerror(exc.errno or 0)}"
        if time.time() - max(stat.st_mtime, stat.st_ctime) > _RACE_SECONDS:
            self._known[name] = state, digest
            if stat.st_size >= _CACHED_SIZE:
                self._write()
        return digest

    def _read(self) -> dict[str, tuple[_FileState, str]]:
        try:
            found = json.loads(self._cache.read_text()) if self._cache else {}
            return {name: (state, digest) for name, (state, digest) in found.items()}
        except (OSError, ValueError, TypeError, AttributeError):
            return {}

    def _write(self) -> None:
        if self._cache is None:
            return
        kept = {n: v for n, v in self._known.items() if v[0][0] >= _CACHED_SIZE}
        try:
            self._cache.parent.mkdir(parents=True, exist_ok=True)
            write_text(self._cache, json.dumps(kept))
        except OSError as exc:
            logger.debug("checksums are not cached in %s: %s", self._cache, exc)


@contextmanager
def replace_checked_file(path: Path) -> Iterator[Path]:
    """Yield a path to write to; replace ``path`` and its checksum by it."""
    with replace_file(path) as part:
        yield part
        new = FileChecksum.of(part)
        known = _read_checksums(path.parent)
        old = known.get(path.name) or (
            [FileChecksum.of(path)] if path.is_file() else []
        )
        # Both are valid until the rename: a kill before or after it damages nothing.
        _write_checksums(path.parent, {**known, path.name: [new, *old]})
    known = _read_checksums(path.parent)
    _write_checksums(path.parent, {**known, path.name: [new]})


def remove_checked_file(path: Path) -> None:
    """Remove a file and its checksum, if they exist."""
    known = _read_checksums(path.parent)
    if path.name in known:
        kept = {name: sums for name, sums in known.items() if name != path.name}
        _write_checksums(path.parent, kept)
    path.unlink(missing_ok=True)


def write_checksums(
    folder: Path, skip: Collection[str] = (), deep: bool = False
) -> None:
    """Write the checksums of the files of a folder; ``deep``: and of its subfolders."""
    files = folder.rglob("*") if deep else folder.iterdir()
    names = sorted(f.relative_to(folder).as_posix() for f in files if f.is_file())
    skipped = {CHECKSUMS, *skip}
    found = {n: [FileChecksum.of(folder / n)] for n in names if n not in skipped}
    _write_checksums(folder, found)


def checksum_files(folder: Path, suffix: str) -> str:
    """Return a checksum of the files of a folder whose names end so, as written."""
    found = _read_checksums(folder).items()
    return checksum(*sorted((n, c[0].digest) for n, c in found if n.endswith(suffix)))


def check_file(path: Path, remedy: str) -> None:
    """Check every byte of a file of a folder with checksums, once in a process.

    Args:
        path: the file; one without a checksum, of an earlier version, passes.
        remedy: what to do if it is damaged; ends the message.

    Raises:
        DamagedFileError: it matches none of its checksums.
    """
    _check(path, _read_checksums(path.parent).get(path.name, []), remedy, whole=True)


def check_folder(folder: Path, remedy: str, whole: bool) -> None:
    """Check all files of a folder that have checksums.

    Args:
        folder: one without checksums, of an earlier version, passes.
        remedy: what to do if a file is damaged; ends the message.
        whole: check every byte, once in a process; else only the sizes.

    Raises:
        DamagedFileError: a file matches none of its checksums.
    """
    for name, known in _read_checksums(folder).items():
        _check(folder / name, known, remedy, whole)


def list_damage(folder: Path, remedy: str) -> list[str]:
    """Read every file of a folder; return a line for each that is damaged."""
    try:
        listed = _read_checksums(folder)
    except DamagedFileError as exc:
        return [str(exc)]
    expected = {
        folder / name: known[-1]
        for name, known in listed.items()
        if not (folder / name).is_file() or FileChecksum.of(folder / name) not in known
    }
    return list(find_damage(expected, remedy))


def find_damage(files: Mapping[Path, FileChecksum], remedy: str) -> Iterator[str]:
    """Read files completely; yield a line for each that is damaged."""
    for path, expected in files.items():
        try:
            expected.check(path, remedy)
        except DamagedFileError as exc:
            yield str(exc)


def read_json(path: Path, remedy: str) -> Any:
    """Read a JSON file of our own.

    Raises:
        DamagedFileError: it is not JSON.
    """
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except ValueError as exc:
        raise DamagedFileError(
            f"Expected JSON in {str(path)!r} ({exc}): it was damaged; {remedy}"
        ) from exc


def _check(path: Path, known: list[FileChecksum], remedy: str, whole: bool) -> None:
    for number, expected in enumerate(known, start=1):
        try:
            (expected.check_once if whole else expected.check_size)(path, remedy)
            return
        except DamagedFileError:
            if number == len(known):
                raise


def _read_checksums(folder: Path) -> Mapping[str, list[FileChecksum]]:
    path = folder / CHECKSUMS
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        return {
            name: [FileChecksum(int(size), str(digest)) for size, digest in known]
            for name, known in found.items()
        }
    except FileNotFoundError:
        return {}
    except (ValueError, TypeError, AttributeError) as exc:
        raise DamagedFileError(
            f"Expected sizes and checksums of files in {str(path)!r} ({exc}): it was "
            "damaged; delete it if you trust the files beside it, or write them again"
        ) from exc


def _write_checksums(folder: Path, checksums: Mapping[str, list[FileChecksum]]) -> None:
    rows = (
        f" {json.dumps(name)}: {json.dumps([[c.size, c.digest] for c in found])}"
        for name, found in checksums.items()
    )
    write_text(folder / CHECKSUMS, "{\n" + ",\n".join(rows) + "\n}\n")


def _read_blocks(file: FileIO) -> Iterator[tuple[int, bytes]]:
    """Yield the blocks of a file that are not all zero.

    An index allocates files of tens of MiB and fills a few KiB of them: holes are not
    read, if the system can tell them.
    """
    position = 0
    while True:
        file.seek(_skip_hole(file, position))
        position = file.tell()
        block = file.read(_BLOCK)
        while (
            block and len(block) < _BLOCK and (more := file.read(_BLOCK - len(block)))
        ):
            block += more
        if not block:
            return
        if block != _ZEROS[: len(block)]:
            yield position, block
        position += len(block)


def _skip_hole(file: FileIO, position: int) -> int:
    """Return the start of the next block, from ``position`` on, that has data in it."""
    if not hasattr(os, "SEEK_DATA"):
        return position
    try:
        found = os.lseek(file.fileno(), position, os.SEEK_DATA)
    except OSError as exc:
        if exc.errno == errno.ENXIO:  # nothing but a hole up to the end
            return os.fstat(file.fileno()).st_size
        return position
    return max(position, found - found % _BLOCK)
