"""Which test files call which functions: ``pytest -p tools.mutants.reach``.

A function that no test calls cannot be found wrong by any. What is written to the
folder named by the environment variable ``MATHAMR_REACH``, a file for each process::

    {"tests/test_hits.py": ["hits.py:41", "hits.py:57", ...], ...}

Functions are named by their file and the line where they begin, decorators included.
What other processes call is not seen.
"""

from __future__ import annotations

import ast
import json
import os
import sys
import threading
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import pytest

SOURCE = Path("src/mathamr_kedro")
FOLDER = "MATHAMR_REACH"
Reach = dict[str, list[str]]
"""The functions that each test file calls."""


class Tracer:
    """Notes every function of the package that is called, for one test file at a time.

    Args:
        folder: to write to.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._below = str(SOURCE.resolve()) + os.sep
        self._codes: defaultdict[str, set[CodeType]] = defaultdict(set)
        self._current: set[CodeType] = set()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[Any]:
        """Trace a test with the fixtures that it is the first to ask for."""
        self._current = self._codes[item.nodeid.partition("::")[0]]
        threading.settrace(self._note)
        sys.settrace(self._note)
        try:
            return (yield)
        finally:
            sys.settrace(None)
            threading.settrace(None)

    def _note(self, frame: FrameType, event: str, value: Any) -> None:
        self._current.add(frame.f_code)  # its lines are not followed

    def pytest_sessionfinish(self) -> None:
        """Write what was noted, of this package alone."""
        found = {
            test: sorted(
                f"{code.co_filename.removeprefix(self._below)}:{code.co_firstlineno}"
                for code in codes
                if code.co_filename.startswith(self._below)
            )
            for test, codes in self._codes.items()
        }
        self._folder.mkdir(parents=True, exist_ok=True)
        file = self._folder / f"{os.getpid()}.json"
        file.write_text(json.dumps(found), encoding="utf-8")


def pytest_configure(config: pytest.Config) -> None:
    """Trace where the tests run: in workers where there are any."""
    config.pluginmanager.register(Tracer(Path(os.environ[FOLDER]).resolve()))


def read_reach(folder: Path) -> Reach:
    """Return what the processes of a run have written."""
    reach: Reach = {}
    for file in sorted(folder.glob("*.json")):
        for test, functions in json.loads(file.read_text(encoding="utf-8")).items():
            reach.setdefault(test, []).extend(functions)
    return reach


def find_callers(reach: Reach, path: Path, line: int) -> list[Path]:
    """Return the test files that call the function around a line.

    Of what stands in no function, those that call any of the file.
    """
    name = path.relative_to(SOURCE).as_posix()
    inner = max((a for a, b in _list_functions(path) if a <= line <= b), default=None)
    return [
        Path(test)
        for test, functions in reach.items()
        if (f"{name}:{inner}" in functions if inner is not None
            else any(f.startswith(f"{name}:") for f in functions))
    ]  # fmt: skip


@cache
def _list_functions(path: Path) -> tuple[tuple[int, int], ...]:
    """First and last line of all functions of a file."""
    defined = ast.FunctionDef | ast.AsyncFunctionDef
    return tuple(
        (min([n.lineno, *(d.lineno for d in n.decorator_list)]), n.end_lineno or 0)
        for n in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(n, defined)
    )
