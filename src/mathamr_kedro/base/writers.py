"""One writer per data root: the error of a second run names the first one.

::

    data/
      .lock          held by the operating system while its owner lives
      .writer.json   who that is
      checksums.json of what it has written, when it has ended

Readers never ask. Processes that a writer starts (the cells of an experiment) may write
beside it: they inherit its token, and what they share has locks of its own.
"""

from __future__ import annotations

import getpass
import json
import os
import socket
import uuid
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from mathamr_kedro.base.checksums import CHECKSUMS, FileChecksum, checksum, find_damage
from mathamr_kedro.base.errors import DamagedFileError, LockedError
from mathamr_kedro.base.files import FolderLock, write_text

TOKEN = "MATHAMR_WRITER"
"""Environment variable that tells a child which writer it belongs to."""
_RECORD = ".writer.json"
_MADE_HERE: set[str] = set()
"""Tokens of this process: what it starts inherits them, it does not."""
NAME = "checksums.json"
_LAYERS = "0[2-8]_*"
"""Folders of a data root; others may be roots of their own."""
_PASSED = ("last_run.json", "edge.json")
"""Written without the lock of the root; the latter has a checksum in it."""
_PASSED_FOLDERS = ("build-", "view-")
"""Of indexes: listed in ``edge.json``."""


class RootChecksums:
    """Checksums of the files of a data root that no list beside them has.

    ::

        checksums.json     {"08_reporting/evaluation.md": [size, hash], ...}
        02_intermediate/   shards: their lists have their checksums, the lists are here

    A writer takes the list away when it begins and writes it when it ends, so a killed
    one leaves none instead of a wrong one. Files that it did not write keep their
    checksums: what was damaged before is still named after it.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._states = {name: _look_at(path) for name, path in _list_files(root)}
        try:
            self._known = _read(root)
        except DamagedFileError:
            self._known = {}
        (root / NAME).unlink(missing_ok=True)

    def write(self) -> None:
        """Write the list with what has changed since."""
        found = {
            name: self._known[name]
            if name in self._known and self._states.get(name) == _look_at(path)
            else FileChecksum.of(path)
            for name, path in _list_files(self._root)
        }
        files = {name: [known.size, known.digest] for name, known in found.items()}
        if files:
            content = {"files": files, "checksum": checksum(files)}
            write_text(self._root / NAME, json.dumps(content, indent=1))


def list_root_damage(root: Path, remedy: str) -> Iterator[str]:
    """Yield what is wrong with the files of the list, a line for each."""
    try:
        known = _read(root)
    except DamagedFileError as exc:
        yield f"{exc}; delete it, then {remedy}"
        return
    yield from find_damage({root / name: one for name, one in known.items()}, remedy)


def _read(root: Path) -> dict[str, FileChecksum]:
    path = root / NAME
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        if found["checksum"] != checksum(found["files"]):
            raise ValueError("its bytes were changed")
        return {name: FileChecksum(*known) for name, known in found["files"].items()}
    except FileNotFoundError:
        return {}
    except (ValueError, KeyError, TypeError, AttributeError) as exc:
        raise DamagedFileError(
            f"Expected checksums of files in {str(path)!r} ({exc})"
        ) from exc


def _look_at(path: Path) -> tuple[int, int, int, int]:
    stat = path.stat()
    return stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_ino


def _list_files(root: Path) -> Iterator[tuple[str, Path]]:
    """Yield the files that no list of their folder has, by their names."""
    folders = [
        folder
        for layer in sorted(root.glob(_LAYERS))
        for folder in (layer, *sorted(layer.rglob("*")))
        if folder.is_dir()
        and not any(p.startswith(_PASSED_FOLDERS) for p in folder.parts)
    ]
    for folder in folders:
        listed = _list_covered(folder)
        for path in sorted(folder.iterdir()):
            is_passing = path.name in _PASSED or path.suffix in (".lock", ".part")
            if path.is_file() and not is_passing and path.name != ".lock":
                if not path.name.endswith(listed):
                    yield path.relative_to(root).as_posix(), path


def _list_covered(folder: Path) -> tuple[str, ...]:
    """Return names, or how they end, of files whose checksums are in the folder."""
    covered: list[str] = []
    for name in (CHECKSUMS, "_shards.json"):
        try:
            found = json.loads((folder / name).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            continue
        if name == CHECKSUMS:
            covered += found
        else:
            covered.append(found.get("suffix") or name)
    return tuple(covered)


class WriterLock:
    """The right to write below a data root.

    Raises:
        LockedError: another run has it, and this process is no child of it.
    """

    def __init__(self, root: Path, command: str, seconds: float = 0) -> None:
        inherited = os.environ.get(TOKEN)
        self._lock: FolderLock | None = None
        try:
            self._lock = FolderLock(root, "", seconds)
        except LockedError as exc:
            owner = _read_owner(root)
            if inherited and owner.get("token") == inherited:
                return
            raise LockedError(_describe(root, owner)) from exc
        self._token = uuid.uuid4().hex
        if inherited and inherited not in _MADE_HERE:
            self._token = inherited
        else:
            _MADE_HERE.add(self._token)
        try:
            write_text(root / _RECORD, json.dumps(_make_record(self._token, command)))
            self._checksums = RootChecksums(root)
        except OSError:
            self._lock.close()
            raise
        os.environ[TOKEN] = self._token

    def close(self) -> None:
        """Release the lock."""
        if self._lock is None:
            return
        try:
            self._checksums.write()
        finally:
            self._lock.close()
            self._lock = None
        if self._token in _MADE_HERE and os.environ.get(TOKEN) == self._token:
            del os.environ[TOKEN]

    def __enter__(self) -> WriterLock:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


def _make_record(token: str, command: str) -> dict[str, Any]:
    try:
        user = getpass.getuser()
    except (KeyError, OSError):  # a container without an entry for its user
        user = str(os.getuid())
    return {
        "token": token,
        "user": user,
        "host": socket.gethostname(),
        "process": os.getpid(),
        "since": datetime.now().astimezone().isoformat(timespec="seconds"),
        "command": command,
    }


def _read_owner(root: Path) -> dict[str, Any]:
    try:
        found = json.loads((root / _RECORD).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _describe(root: Path, owner: dict[str, Any]) -> str:
    who = "another process"
    if owner:
        who = (
            f"{owner.get('user')} on {owner.get('host')} (process "
            f"{owner.get('process')}: {owner.get('command')}) since "
            f"{owner.get('since')}"
        )
    return (
        f"{str(root)!r} is being written by {who}; wait for it to end, or give this "
        "run a data root of its own (--params data_root=FOLDER)"
    )
