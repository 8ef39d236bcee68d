"""Records by keys in one file: atomic changes, and no record is lost without a word.

::

    file = RecordFile(folder / "posts.sqlite", "add the posts again")
    with file.changing() as records:       # others wait; all is written, or nothing
        records["a"] = b"..."
        del records["b"]
    file.read()                            # {"a": b"..."}
    file.read_version()                    # another one after each change

A file of SQLite: who is killed leaves the records as they were before the change. Each
record has a checksum, and all of them together have one, the version of the file: what
was damaged is told.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from mathamr_kedro.base.checksums import checksum
from mathamr_kedro.base.errors import (
    DamagedFileError,
    DiskFullError,
    LockedError,
    StorageError,
)

_ERRORS = {
    sqlite3.SQLITE_BUSY: (LockedError, "another process writes it; wait for it"),
    sqlite3.SQLITE_LOCKED: (LockedError, "another process writes it; wait for it"),
    sqlite3.SQLITE_FULL: (DiskFullError, "make room and run the same command again"),
    sqlite3.SQLITE_IOERR: (StorageError, "make room and run the same command again"),
    sqlite3.SQLITE_READONLY: (StorageError, "it cannot be written to"),
    sqlite3.SQLITE_CANTOPEN: (StorageError, "it cannot be opened"),
}
"""Whatever else SQLite says, the file is damaged."""


class RecordFile:
    """Records by keys.

    Args:
        path: the file; :meth:`create` makes it.
        remedy: what to do if it is damaged; ends the message.
        seconds: how long to wait for others.
    """

    def __init__(self, path: Path, remedy: str, seconds: float = 60.0) -> None:
        self.path, self._remedy, self._seconds = path, remedy, seconds

    def create(self) -> None:
        """Make the file, without records."""
        self.path.touch()
        with self._open() as connection:
            connection.execute("BEGIN IMMEDIATE")
            connection.execute(
                "CREATE TABLE records (key TEXT PRIMARY KEY, content BLOB, digest TEXT)"
            )
            connection.execute("CREATE TABLE state (version TEXT)")
            connection.execute("INSERT INTO state VALUES (?)", (_sum([]),))
            connection.commit()

    def read(self) -> dict[str, bytes]:
        """Return all records.

        Raises:
            DamagedFileError: the file is missing, or a record was damaged.
        """
        with self._open() as connection:
            return self._read(connection)

    def find(self, keys: Iterable[str]) -> dict[str, bytes]:
        """Return the records of some keys that are whole."""
        find = "SELECT content, digest FROM records WHERE key = ?"
        found = {}
        with self._open() as connection:
            for key in keys:
                row = connection.execute(find, (key,)).fetchone()
                if row is not None and _is_whole(key, *row):
                    found[key] = row[0]
        return found

    def read_version(self) -> str:
        """Return the checksum of all records."""
        with self._open() as connection:
            return self._read_version(connection)

    @contextmanager
    def changing(self) -> Iterator[dict[str, bytes]]:
        """Give all records to be changed; on an error nothing is.

        Raises:
            LockedError: another process changes them for longer than is waited.
            DamagedFileError: as :meth:`read`.
        """
        with self._open() as connection:
            connection.execute("BEGIN IMMEDIATE")
            before = self._read(connection)
            records = dict(before)
            yield records
            new = {k: c for k, c in records.items() if before.get(k) is not c}
            gone = before.keys() - records.keys()
            if new or gone:
                _write(connection, new, gone)

    def put(self, records: Mapping[str, bytes]) -> None:
        """Write some records, whatever the others are."""
        with self._open() as connection:
            connection.execute("BEGIN IMMEDIATE")
            _write(connection, records, ())

    def _read(self, connection: sqlite3.Connection) -> dict[str, bytes]:
        rows = connection.execute("SELECT key, content, digest FROM records").fetchall()
        wrong = [row[0] for row in rows if not _is_whole(*row)]
        if wrong:
            raise self._miss(", ".join(map(repr, wrong[:10])))
        if self._read_version(connection) != _sum((k, digest) for k, _, digest in rows):
            raise self._miss("all records")
        return {key: content for key, content, _ in rows}

    def _read_version(self, connection: sqlite3.Connection) -> str:
        row = connection.execute("SELECT version FROM state").fetchone()
        if row is None:
            raise self._miss("a version")
        return str(row[0])

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        if not self.path.is_file():
            raise DamagedFileError(
                f"Expected a file at {str(self.path)!r} (got none); {self._remedy}"
            )
        # For writing: a reader takes back what a killed writer left unfinished.
        address = f"{self.path.absolute().as_uri()}?mode=rw"
        try:
            connection = sqlite3.connect(
                address, self._seconds, isolation_level=None, uri=True
            )
            with closing(connection):
                yield connection
        except sqlite3.Error as exc:
            code = getattr(exc, "sqlite_errorcode", 0) & 0xFF  # the basic one
            kind, remedy = _ERRORS.get(code, (DamagedFileError, self._remedy))
            raise kind(f"Cannot use {str(self.path)!r} ({exc}); {remedy}") from exc

    def _miss(self, what: str) -> DamagedFileError:
        return DamagedFileError(
            f"Expected {what} in {str(self.path)!r} (got changed bytes); {self._remedy}"
        )


def _write(
    connection: sqlite3.Connection, put: Mapping[str, bytes], drop: Iterable[str]
) -> None:
    connection.executemany("DELETE FROM records WHERE key = ?", ([k] for k in drop))
    rows = ((key, content, _digest(key, content)) for key, content in put.items())
    connection.executemany("REPLACE INTO records VALUES (?, ?, ?)", rows)
    listed = connection.execute("SELECT key, digest FROM records")
    connection.execute("UPDATE state SET version = ?", (_sum(listed),))
    connection.commit()


def _is_whole(key: Any, content: Any, digest: Any) -> bool:
    """Tell whether a record is as it was written: types may be damaged, too."""
    is_record = isinstance(key, str) and isinstance(content, bytes)
    return is_record and digest == _digest(key, content)


def _digest(key: str, content: bytes) -> str:
    found = hashlib.blake2b(key.encode(), digest_size=16)
    found.update(b"\0" + content)
    return found.hexdigest()


def _sum(rows: Iterable[tuple[str, str]]) -> str:
    return checksum(sorted(map(list, rows)))
