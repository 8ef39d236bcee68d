"""What is in a file: a digest of its bytes, computed once while it does not change.

``touch`` and copies change no digest; other bytes do, even of the same size and time.
"""

from __future__ import annotations

import json
import logging
import os
import time
from pathlib import Path
from typing import TypeAlias

from mathamr_kedro.base.checksums import FileSeal
from mathamr_kedro.base.files import write_text

logger = logging.getLogger(__name__)

_State: TypeAlias = list[int]
"""Size, time of change, time of change of the entry, and inode."""

_KEPT_SIZE = 1 << 16
"""Smaller files are read again in each process: that takes no time."""
_RACE_SECONDS = 2.0
"""A file that has changed just now may change again within the same tick of a clock."""


class ContentDigests:
    """Digests of files, remembered as long as a file looks the same.

    Args:
        cache: JSON file that remembers them beyond this process; ``None``: none does.
            Where it cannot be written, they are computed again.
    """

    def __init__(self, cache: Path | None = None) -> None:
        self._cache = cache
        self._known: dict[str, tuple[_State, str]] = self._read()

    def digest(self, path: Path) -> str:
        """Return the digest of a file, or why it cannot be read.

        A file that cannot be read now, and can later, has another digest then.
        """
        name = str(path.absolute())
        try:
            stat = path.stat()
            state = [stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_ino]
            known = self._known.get(name)
            if known is not None and known[0] == state:
                return known[1]
            digest = FileSeal.of(path).digest
        except OSError as exc:
            return f"unreadable: {os.strerror(exc.errno or 0)}"
        if time.time() - max(stat.st_mtime, stat.st_ctime) > _RACE_SECONDS:
            self._known[name] = state, digest
            if stat.st_size >= _KEPT_SIZE:
                self._write()
        return digest

    def _read(self) -> dict[str, tuple[_State, str]]:
        try:
            found = json.loads(self._cache.read_text()) if self._cache else {}
            return {name: (state, digest) for name, (state, digest) in found.items()}
        except (OSError, ValueError, TypeError, AttributeError):
            return {}

    def _write(self) -> None:
        if self._cache is None:
            return
        kept = {n: v for n, v in self._known.items() if v[0][0] >= _KEPT_SIZE}
        try:
            self._cache.parent.mkdir(parents=True, exist_ok=True)
            write_text(self._cache, json.dumps(kept))
        except OSError as exc:
            logger.debug("digests are not kept in %s: %s", self._cache, exc)
