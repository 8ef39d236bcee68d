"""Processes that die by SIGKILL at a place in their work, however fast they are."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

PROJECT = Path(__file__).resolve().parents[1]


def die_after(pattern: str, number: int) -> None:
    """Let this process die once so many files that fit a pattern have their names."""
    replace, left = os.replace, number

    def replace_and_die(source: Any, target: Any, **options: Any) -> None:
        nonlocal left
        replace(source, target, **options)
        left -= fnmatch(str(target), pattern)
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    os.replace = replace_and_die


def kill_code(code: str, *arguments: str, after: tuple[str, int]) -> None:
    """Run code in a new process, which dies as :func:`die_after` says."""
    begin = f"from tests.kills import die_after\ndie_after(*{after!r})\n"
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", begin + code, *arguments],
        cwd=PROJECT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == -signal.SIGKILL, done.stderr[-3000:]


def kill_module(module: str, *arguments: str, after: tuple[str, int]) -> None:
    """Run a module as a command; the process dies as :func:`die_after` says."""
    run = f"import runpy\nrunpy.run_module({module!r}, None, '__main__', True)\n"
    kill_code(run, *arguments, after=after)
