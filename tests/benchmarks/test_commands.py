"""Benchmarks start in one way, from the top of the project."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[2]
BENCHMARKS = {file.stem: file for file in (PROJECT / "benchmarks").glob("*.py")}
PAGES = [
    *PROJECT.glob("*.md"), *(PROJECT / "docs").rglob("*.md"), *BENCHMARKS.values()
]  # fmt: skip


def test_every_command_names_a_benchmark_that_can_be_started():
    named = {
        name
        for page in PAGES
        for name in re.findall(r"python -m benchmarks\.([a-z]\w+)", page.read_text())
    }
    assert len(named) > 20
    for name in named:
        assert 'if __name__ == "__main__":' in BENCHMARKS[name].read_text(), name


def test_no_command_starts_a_file():
    """Neither ``tests`` nor other benchmarks would be found from there."""
    found = [page for page in PAGES if "python benchmarks/" in page.read_text()]
    assert found == []


@pytest.mark.parametrize("name", BENCHMARKS)
def test_benchmarks_find_one_another_by_their_package(name):
    for node in ast.walk(ast.parse(BENCHMARKS[name].read_text())):
        modules = []
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            modules = [node.module or ""]
        assert not BENCHMARKS.keys() & set(modules), ast.unparse(node)
