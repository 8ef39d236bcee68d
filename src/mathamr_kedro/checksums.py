"""Seals: the size and digest of a file, noted when it is whole, checked before use.

::

    seal = FileSeal.of(part)                  # of what was written, before its name
    entry = {"name": ..., **asdict(seal)}     # in the list that makes the file count

    seal.check_size(path, remedy)             # on every opening: one system call
    seal.check(path, remedy)                  # reads it whole: a flipped byte is found

A list of files holds a seal for each, is synced after them
(:mod:`mathamr_kedro.files`), and says by it what is missing, cut short or changed.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from mathamr_kedro.errors import DamagedFileError

_DIGEST_BYTES = 16


@dataclass(frozen=True)
class FileSeal:
    """What a file was when it was written."""

    size: int
    """Bytes."""
    digest: str
    """BLAKE2b of 16 bytes, as hexadecimal digits."""

    @classmethod
    def of(cls, path: Path) -> FileSeal:
        """Read a file and seal it."""
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, _make_digest).hexdigest()
            return cls(file.tell(), digest)

    def check_size(self, path: Path, remedy: str) -> None:
        """Raise :class:`DamagedFileError` for a file that is missing or cut short.

        Args:
            path: the file.
            remedy: what to do then, e.g. ``"run `kedro run --pipeline indexing`"``;
                ends the message.
        """
        try:
            size = path.stat().st_size
        except (FileNotFoundError, NotADirectoryError) as exc:
            raise DamagedFileError(
                f"Expected a file of {self.size} bytes at {str(path)!r} (got none); "
                f"{remedy}"
            ) from exc
        if size != self.size:
            raise DamagedFileError(
                f"Expected {self.size} bytes in {str(path)!r} (got {size}): it was "
                f"damaged; {remedy}"
            )

    def check(self, path: Path, remedy: str) -> None:
        """Raise :class:`DamagedFileError` for a file that differs in any byte."""
        self.check_size(path, remedy)
        found = FileSeal.of(path)
        if found != self:
            raise DamagedFileError(
                f"Expected the digest {self.digest} of {str(path)!r} (got "
                f"{found.digest}): its bytes were changed; {remedy}"
            )


def _make_digest() -> hashlib.blake2b:
    return hashlib.blake2b(digest_size=_DIGEST_BYTES)
