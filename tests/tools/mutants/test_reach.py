"""What tests run, and which of them are tried on a mutant."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.mutants.__main__ import order_tests, split_rounds
from tools.mutants.mutations import Mutant
from tools.mutants.reach import Reach, name_test

ERRORS = Path("src/mathamr_kedro/base/errors.py")
TESTS = "tests/base/test_errors.py"


def find_line(text: str, path: Path = ERRORS) -> int:
    lines = path.read_text().splitlines()
    (place,) = [n for n, line in enumerate(lines, start=1) if text in line]
    return place


@pytest.fixture(scope="module")
def reach(tmp_path_factory) -> Reach:
    folder = tmp_path_factory.mktemp("reach") / "reach"
    Reach.trace(folder, 1, [TESTS])
    return Reach.read(folder)


def test_tests_are_noted_with_the_lines_that_they_run(reach):
    found = reach.find_tests(ERRORS, find_line("what = os.strerror"))
    assert found
    assert {test.partition("::")[0] for test in found} == {TESTS}
    assert all(0 <= seconds < 100 for seconds in found.values())
    assert reach.find_tests(ERRORS, find_line("nearest = difflib")) == {}
    everything = reach.find_tests(ERRORS, find_line("import difflib"))
    assert found.keys() < everything.keys()


@pytest.mark.parametrize(
    ("place", "name"),
    [
        ("tests.test_errors", "tests/test_errors.py::test_a"),
        ("tests.cli.test_a", "tests/cli/test_a.py::test_a"),
        ("tests.cli.test_a.TestB.TestC", "tests/cli/test_a.py::TestB::TestC::test_a"),
    ],
)
def test_times_belong_to_tests_as_pytest_calls_them(place, name):
    assert name_test(place, "test_a") == name


SOURCE = """LIMIT = 3
def f(a, b=1):
    if (a
            or b):
        return g(
            2,
            a)
    return b
"""


@pytest.mark.parametrize(
    ("line", "tests"),
    [(1, "abcd"), (2, "abc"), (4, "ab"), (6, "b"), (8, "c")],
)
def test_a_line_stands_for_its_statement(tmp_path, line, tests):
    path = tmp_path / "m.py"
    path.write_text(SOURCE)
    runs = {3: ["", "t.py::a|run"], 4: ["t.py::b|run"], 5: ["t.py::b|run"]}
    runs |= {8: ["t.py::c|run"], 20: ["t.py::d|run"]}
    reach = Reach({path.as_posix(): runs}, {"t.py::a": 2.0})
    found = reach.find_tests(path, line)
    assert sorted(found) == [f"t.py::{name}" for name in tests]
    assert found.get("t.py::a", 2.0) == 2.0


def test_what_is_made_before_a_test_belongs_to_all_of_its_file(tmp_path):
    path = tmp_path / "m.py"
    path.write_text(SOURCE)
    seconds = {"t.py::a": 1.0, "t.py::b": 2.0, "u.py::c": 3.0}
    reach = Reach({path.as_posix(): {8: ["t.py::a|setup"]}}, seconds)
    assert reach.find_tests(path, 8) == {"t.py::a": 1.0, "t.py::b": 2.0}


def test_what_stands_in_no_function_is_looked_at_by_the_tests_of_its_module(tmp_path):
    path = tmp_path / "m.py"
    path.write_text(SOURCE)
    seconds = {"tests/x/test_m.py::a": 1.0, "tests/x/test_n.py::b": 2.0}
    reach = Reach({path.as_posix(): {8: ["tests/test_o.py::c|run"]}}, seconds)
    assert [*reach.find_tests(path, 8)] == ["tests/test_o.py::c"]
    assert {*reach.find_tests(path, 1)} == {
        "tests/test_o.py::c",
        "tests/x/test_m.py::a",
    }


def test_what_runs_a_line_is_tried_on_its_mutants_the_soonest_first():
    line = find_line("what = os.strerror")
    ran = {
        "tests/base/test_stemming.py::a": 0.1,
        f"{TESTS}::b": 1.0,
        f"{TESTS}::c": 0.2,
    }
    ran |= {"src/mathamr_kedro/base/hits.py::d": 0.1}
    reach = Reach({ERRORS.as_posix(): {line: [f"{test}|run" for test in ran]}}, ran)
    tried = order_tests(Mutant(ERRORS, line, "", "", ""), reach)
    assert list(tried) == [
        f"{TESTS}::c",
        f"{TESTS}::b",
        "tests/base/test_stemming.py::a",
    ]


def test_what_names_the_module_is_tried_where_no_test_runs_the_line():
    nothing = Reach({}, {})
    path = Path("src/mathamr_kedro/evaluation/metrics/bpref.py")
    ordered = [*order_tests(Mutant(path, 1, "", "", ""), nothing)]
    assert ordered[0] == "tests/evaluation/metrics/test_bpref.py"
    path = Path("src/mathamr_kedro/base/hits.py")
    ordered = [*order_tests(Mutant(path, 1, "", "", ""), nothing)]
    assert ordered[0] == "tests/base/test_hits.py"
    assert "tests/base/test_stemming.py" not in ordered


def test_the_nearest_and_the_short_have_rounds_of_their_own():
    own = "tests/x/test_hits.py"
    seconds = {"a": 3.0, f"{own}::b": 90.0, "c": 7.0, "d": 50.0, "e": 1.0}
    rounds = [[f"{own}::b"], ["a", "c"], ["d", "e"]]
    assert split_rounds(seconds, "hits") == rounds
    assert split_rounds({}, "hits") == [[], [], []]
