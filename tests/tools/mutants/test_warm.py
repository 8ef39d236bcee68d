"""Runs of tests in processes that need not import the libraries."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from tools.mutants.__main__ import run_tests
from tools.mutants.warm import WarmPython

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def python():
    with WarmPython() as python:
        yield python


def test_what_a_test_leaves_running_is_ended(tmp_path, python):
    left = tmp_path / "left.txt"
    (tmp_path / "test_it.py").write_text(
        "import os, pathlib\n"
        "def test_it():\n"
        "    left = os.posix_spawn('/bin/sleep', ['sleep', '600'], os.environ)\n"
        f"    pathlib.Path({str(left)!r}).write_text(str(left))\n"
    )
    assert (
        run_tests([str(tmp_path / "test_it.py")], Path("src"), 300, python)
        == "survived"
    )
    status = Path("/proc") / left.read_text() / "status"
    deadline = time.monotonic() + 60
    while status.exists() and "zombie" not in status.read_text():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_a_test_that_fails_kills_and_one_that_takes_too_long_decides_nothing(
    tmp_path, python
):
    test = tmp_path / "test_it.py"
    test.write_text("def test_it():\n    assert 1 == 2\n")
    assert run_tests([str(test)], Path("src"), 300, python) == "killed"
    test.write_text("import time\ntime.sleep(60)\n")
    assert run_tests([str(test)], Path("src"), 6, python) == "undecided"


def test_a_test_that_kills_its_parent_stops_no_others(tmp_path, python):
    test = tmp_path / "test_it.py"
    test.write_text("import os\ndef test_it():\n    os.kill(os.getppid(), 9)\n")
    assert run_tests([str(test)], Path("src"), 300, python) == "killed"
    test.write_text("def test_it():\n    pass\n")
    assert run_tests([str(test)], Path("src"), 300, python) == "survived"


def test_a_test_that_lost_its_name_is_found_by_its_file(tmp_path, python):
    test = tmp_path / "test_it.py"
    test.write_text("def test_it():\n    pass\n")
    assert run_tests([f"{test}::test_other"], Path("src"), 300, python) == "survived"
    test.write_text("def test_it():\n    assert 1 == 2\n")
    assert run_tests([f"{test}::test_other"], Path("src"), 300, python) == "killed"
