"""Data roots that many tests need: made once in a session, copied for each of them."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

from filelock import FileLock

FOLDER = "MATHAMR_TEST_WORLDS"
"""Variable with the folder of this session; all its processes share it."""


def build_once(name: str, build: Callable[[Path], object], data: Path) -> None:
    """Copy the data root ``name`` to ``data``; ``build`` makes it if it is the first.

    Stages name files relative to their root, so a copy is as good as the original.
    """
    folder = Path(os.environ[FOLDER])
    made = folder / name
    with FileLock(folder / f"{name}.lock"):
        if not made.exists():
            build(folder / f"{name}.part")
            (folder / f"{name}.part").rename(made)
    shutil.copytree(made, data, dirs_exist_ok=True)
