"""What tests call, and which of them are tried on a mutant."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

from tools.mutants.__main__ import order_tests, run_tests
from tools.mutants.mutations import Mutant
from tools.mutants.reach import FOLDER, find_callers, read_reach

ERRORS = Path("src/mathamr_kedro/errors.py")


def find_line(path: Path, text: str) -> int:
    lines = path.read_text().splitlines()
    (place,) = [n for n, line in enumerate(lines, start=1) if text in line]
    return place


def test_files_are_noted_with_the_functions_that_they_call(tmp_path):
    """In a process of its own: two tracers of one process would disturb each other."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    command += ["-p", "tools.mutants.reach", "tests/test_errors.py"]
    subprocess.run(command, env=os.environ | {FOLDER: str(tmp_path)}, check=True)
    reach = read_reach(tmp_path)
    assert list(reach) == ["tests/test_errors.py"]
    inside = find_line(ERRORS, "what = os.strerror")
    assert find_callers(reach, ERRORS, inside) == [Path("tests/test_errors.py")]
    uncalled = find_line(ERRORS, "nearest = difflib")
    assert find_callers(reach, ERRORS, uncalled) == []
    outside = find_line(ERRORS, "import difflib")
    assert find_callers(reach, ERRORS, outside) == [Path("tests/test_errors.py")]


def test_what_calls_a_function_is_tried_on_its_mutants():
    begin = find_line(ERRORS, "def suggest(")
    reach = {"tests/test_stemming.py": [f"errors.py:{begin}"]}
    other = find_line(ERRORS, "what = os.strerror")
    for line, is_tried in ((begin + 3, True), (other, False)):
        tried = order_tests(Mutant(ERRORS, line, "", "", ""), reach)
        assert (Path("tests/test_stemming.py") in tried) == is_tried
        assert tried[0] == Path("tests/test_errors.py")


def test_what_a_test_leaves_running_is_ended(tmp_path):
    left = tmp_path / "left.txt"
    (tmp_path / "test_it.py").write_text(
        "import os, pathlib\n"
        "def test_it():\n"
        "    left = os.posix_spawn('/bin/sleep', ['sleep', '600'], os.environ)\n"
        f"    pathlib.Path({str(left)!r}).write_text(str(left))\n"
    )
    assert run_tests([tmp_path / "test_it.py"], Path("src"), 300) == "survived"
    status = Path("/proc") / left.read_text() / "status"
    deadline = time.monotonic() + 60
    while status.exists() and "zombie" not in status.read_text():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_a_test_that_fails_kills_and_one_that_takes_too_long_decides_nothing(tmp_path):
    test = tmp_path / "test_it.py"
    test.write_text("def test_it():\n    assert 1 == 2\n")
    assert run_tests([test], Path("src"), 300) == "killed"
    test.write_text("import time\ntime.sleep(60)\n")
    assert run_tests([test], Path("src"), 6) == "undecided"
