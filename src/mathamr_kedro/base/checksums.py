"""Seals: the size and digest of a file, noted when it is whole, checked before use.

::

    seal = FileSeal.of(part)                  # of what was written, before its name
    entry = {"name": ..., **asdict(seal)}     # in the list that makes the file count

    seal.check_size(path, remedy)             # on every opening: one system call
    seal.check(path, remedy)                  # reads it whole: a flipped byte is found

A list of files holds a seal for each, is synced after them
(:mod:`mathamr_kedro.base.files`), and says by it what is missing, cut short or changed.
"""

from __future__ import annotations

import errno
import hashlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from io import FileIO
from pathlib import Path

from mathamr_kedro.base.errors import DamagedFileError

_DIGEST_BYTES = 16
_BLOCK = 1 << 18
_ZEROS = bytes(_BLOCK)


@dataclass(frozen=True)
class FileSeal:
    """What a file was when it was written."""

    size: int
    """Bytes."""
    digest: str
    """BLAKE2b of the blocks that are not all zero, each with its place."""

    @classmethod
    def of(cls, path: Path) -> FileSeal:
        """Read a file and seal it."""
        digest = hashlib.blake2b(digest_size=_DIGEST_BYTES)
        with path.open("rb", buffering=0) as file:
            for place, block in _read_blocks(file):
                digest.update(place.to_bytes(8, "little"))
                digest.update(block)
            return cls(file.seek(0, os.SEEK_END), digest.hexdigest())

    def check_size(self, path: Path, remedy: str) -> None:
        """Raise :class:`DamagedFileError` for a file that is missing or cut short.

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
            found = FileSeal.of(path)
        except FileNotFoundError as exc:  # removed just now
            raise self._miss(path, remedy) from exc
        if found != self:
            raise DamagedFileError(
                f"Expected the digest {self.digest} of {str(path)!r} (got "
                f"{found.digest}): its bytes were changed; {remedy}"
            )

    def _miss(self, path: Path, remedy: str) -> DamagedFileError:
        return DamagedFileError(
            f"Expected a file of {self.size} bytes at {str(path)!r} (got none); "
            f"{remedy}"
        )


def _read_blocks(file: FileIO) -> Iterator[tuple[int, bytes]]:
    """Yield the blocks of a file that are not all zero.

    An index allots files of tens of MiB and fills a few KiB of them: holes are not
    read, where the system can tell them.
    """
    place = 0
    while True:
        file.seek(_skip_hole(file, place))
        place = file.tell()
        block = file.read(_BLOCK)
        while (
            block and len(block) < _BLOCK and (more := file.read(_BLOCK - len(block)))
        ):
            block += more
        if not block:
            return
        if block != _ZEROS[: len(block)]:
            yield place, block
        place += len(block)


def _skip_hole(file: FileIO, place: int) -> int:
    """Return the start of the next block, from ``place`` on, that has data in it."""
    if not hasattr(os, "SEEK_DATA"):
        return place
    try:
        found = os.lseek(file.fileno(), place, os.SEEK_DATA)
    except OSError as exc:
        if exc.errno == errno.ENXIO:  # nothing but a hole up to the end
            return os.fstat(file.fileno()).st_size
        return place
    return max(place, found - found % _BLOCK)
