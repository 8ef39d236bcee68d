"""A folder that one process at a time may change; a kill releases it."""

from __future__ import annotations

import fcntl
from pathlib import Path
from typing import IO

from mathamr_kedro.errors import ConfigurationError


def lock_folder(folder: Path, what_to_do: str) -> IO[str]:
    """Make a folder where there is none and lock it until the file is closed.

    Raises:
        ConfigurationError: another process has locked it; ``what_to_do`` ends the
            message.
    """
    folder.mkdir(parents=True, exist_ok=True)
    lock = (folder / ".lock").open("w")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as exc:
        lock.close()
        raise ConfigurationError(
            f"Another process has {str(folder)!r} open; {what_to_do}"
        ) from exc
    return lock
