"""Which tests run which lines, and how long they take.

A line that no test runs cannot be found wrong by any. All tests run once under
coverage, which keeps the lines of each test apart; those that other processes run are
not seen.
"""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from xml.etree import ElementTree

from coverage import CoverageData

_LINES, _TIMES = "lines.sqlite", "times.xml"
_UNKNOWN = 1.0  # seconds of a test whose time was not noted


class Reach:
    """What the tests run.

    Args:
        tests: file to line to the tests that run it; ``file::test|setup`` is what a
            test needs before it begins, and may share with others of its file.
        seconds: of each test.
    """

    def __init__(
        self, tests: dict[str, dict[int, list[str]]], seconds: dict[str, float]
    ) -> None:
        self._tests, self._seconds = tests, seconds

    @classmethod
    def trace(cls, folder: Path, workers: int, tests: Iterable[str] = ()) -> None:
        """Run tests (all by default) and keep what they run, unless one fails."""
        part = folder.with_suffix(".part")
        shutil.rmtree(part, ignore_errors=True)
        part.mkdir(parents=True)
        command = [sys.executable, "-m", "pytest", "-q", "-m", "not shared", *tests]
        command += ["-p", "no:cacheprovider", "-n", str(workers), "--dist", "loadfile"]
        command += ["--cov=src", "--cov-context=test", "--cov-report="]
        command += [f"--junitxml={part / _TIMES}"]
        lines = os.environ | {"COVERAGE_FILE": str(part / _LINES)}
        subprocess.run(command, env=lines, check=True)
        part.rename(folder)

    @classmethod
    def read(cls, folder: Path) -> Reach:
        """Read what `trace` has kept."""
        data = CoverageData(str(folder / _LINES))
        data.read()
        tests = {file: data.contexts_by_lineno(file) for file in data.measured_files()}
        cases = ElementTree.parse(folder / _TIMES).iter("testcase")
        seconds = {
            name_test(case.attrib["classname"], case.attrib["name"]):
            float(case.attrib["time"])
            for case in cases
        }  # fmt: skip
        return cls(tests, seconds)

    def find_tests(self, path: Path, line: int) -> dict[str, float]:
        """Return the tests that run a line, or need what runs it, with their seconds.

        Of what stands in no function, all that run any line of the file, and those of
        the module's own file of tests: some only look at what it holds.
        """
        tests = self._tests.get(path.as_posix(), {})
        around = _find_statement(path, line)
        contexts = {
            context
            for number, found in tests.items()
            if around is None or number in around
            for context in found
        }
        run = {c.removesuffix("|run") for c in contexts if c.endswith("|run")}
        prepared = {c.partition("::")[0] for c in contexts if c.endswith("|setup")}
        if around is None:
            files = {test.partition("::")[0] for test in self._seconds}
            prepared |= {file for file in files if is_own(file, path.stem)}
        run |= {test for test in self._seconds if test.partition("::")[0] in prepared}
        return {test: self._seconds.get(test, _UNKNOWN) for test in run}


def is_own(test: str, module: str) -> bool:
    """Tell whether a test stands in the file of tests of a module."""
    return f"/test_{module}.py" in test


def name_test(place: str, name: str) -> str:
    """Return a test as pytest calls it.

    >>> name_test("tests.cli.test_search.TestTerminal", "test_width[80]")
    'tests/cli/test_search.py::TestTerminal::test_width[80]'
    """
    file, *classes = re.split(r"\.(?=Test)", place)
    return "::".join([file.replace(".", "/") + ".py", *classes, name])


@cache
def _find_statement(path: Path, line: int) -> range | None:
    """Return the lines of the statement at a line; ``None`` outside of functions.

    Of a loop or condition these are the lines before its body, of what begins a
    function (its defaults) all lines of the function.
    """
    functions = ast.FunctionDef | ast.AsyncFunctionDef
    tree = ast.parse(path.read_text(encoding="utf-8"))
    around = [
        node for node in ast.walk(tree)
        if isinstance(node, ast.stmt) and line in _list_lines(node)
    ]  # fmt: skip
    if not any(isinstance(node, functions) for node in around):
        return None
    inner = max(around, key=lambda node: (node.lineno, -len(_list_lines(node))))
    body = getattr(inner, "body", None)
    if body is None or isinstance(inner, functions | ast.ClassDef):
        return _list_lines(inner)
    return range(inner.lineno, max(inner.lineno + 1, body[0].lineno))


def _list_lines(node: ast.stmt) -> range:
    first = [node, *getattr(node, "decorator_list", [])]
    return range(min(n.lineno for n in first), (node.end_lineno or node.lineno) + 1)
