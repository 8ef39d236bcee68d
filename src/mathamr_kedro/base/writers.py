"""One writer per data root: the error of a second run names the first one.

::

    data/
      .lock          held by the operating system while its owner lives
      .writer.json   who that is

Readers need no lock. Processes that a writer starts (the cells of an experiment) may
write as well: they inherit its token, and shared files have locks of their own.
"""

from __future__ import annotations

import getpass
import json
import os
import socket
import uuid
from datetime import datetime
from pathlib import Path
from typing import Any

from mathamr_kedro.base.errors import LockedError
from mathamr_kedro.base.files import FolderLock, write_text

TOKEN = "MATHAMR_WRITER"
"""Environment variable that tells a child which writer it belongs to."""
_RECORD = ".writer.json"
_MADE_HERE: set[str] = set()
"""Tokens that this process made; a token in the environment may be inherited."""


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
        except OSError:
            self._lock.close()
            raise
        os.environ[TOKEN] = self._token

    def close(self) -> None:
        """Release the lock."""
        if self._lock is None:
            return
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
