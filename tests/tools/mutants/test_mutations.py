"""Mutants of a source text."""

from __future__ import annotations

import ast

from tools.mutants.mutations import find_mutants

SOURCE = '''"""A module."""
LIMIT: int = 3
SIZE = 4096
def f(a: int = 1) -> bool:
    """Say 5."""
    logger.info("7")
    if a < LIMIT and not g(a):
        raise ValueError(f"8 {a + 9}")
    h(a)
    return a + 1
'''


def changes_of(tmp_path, source):
    path = tmp_path / "module.py"
    path.write_text(source)
    return path, find_mutants(path)


def test_each_mutant_is_one_change_of_what_runs(tmp_path):
    _, mutants = changes_of(tmp_path, SOURCE)
    assert {(m.line, m.before, m.after) for m in mutants} == {
        (2, "3", "(4)"),
        (4, "1", "(2)"),
        (7, "a < LIMIT and not g(a)", "(a < LIMIT or not g(a))"),
        (7, "a < LIMIT", "(a <= LIMIT)"),
        (7, "not g(a)", "(g(a))"),
        (9, "h(a)", "pass"),
        (10, "return a + 1", "return None"),
        (10, "a + 1", "(a - 1)"),
        (10, "1", "(2)"),
    }


def test_mutants_are_python_and_differ_from_the_source(tmp_path):
    path, mutants = changes_of(tmp_path, SOURCE + "x = 'ü' * 2 if True else 0\n")
    before = ast.dump(ast.parse(path.read_text()))
    for mutant in mutants:
        assert ast.dump(ast.parse(mutant.source)) != before
        assert len(mutant.source) >= len(path.read_text()) - len(mutant.before)


def test_what_only_asserts_or_means_the_same_stays(tmp_path):
    source = "def f(a):\n    g(a, zip(a, a, strict=True))\n    return False\n"
    _, mutants = changes_of(tmp_path, source)
    assert [(m.before, m.after) for m in mutants] == [
        ("g(a, zip(a, a, strict=True))", "pass"),
        ("False", "(True)"),
    ]
