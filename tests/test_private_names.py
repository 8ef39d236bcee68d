"""Tests rely on public names; a comment gives the reason for each exception."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

TESTS = Path(__file__).parent
OWN = ("mathamr_kedro", "tools", "benchmarks")
PRIVATE = re.compile(r"(?:^|\.)_[a-zA-Z]")


def find_private(tree: ast.AST) -> Iterator[tuple[ast.stmt | ast.expr, str]]:
    """Yield imports and patches of names with a leading underscore."""
    for item in ast.walk(tree):
        if isinstance(item, ast.ImportFrom) and (item.module or "").startswith(OWN):
            names = [alias.name for alias in item.names]
        elif isinstance(item, ast.Call) and ast.unparse(item.func).endswith(".setattr"):
            values = [a.value for a in item.args[:2] if isinstance(a, ast.Constant)]
            names = [value for value in values if isinstance(value, str)]
        else:
            continue
        yield from ((item, name) for name in names if PRIVATE.search(name))


def test_private_names_are_used_for_a_reason():
    unexplained = []
    for file in sorted(TESTS.rglob("*.py")):
        text = file.read_text(encoding="utf-8")
        lines = text.splitlines()
        for item, name in find_private(ast.parse(text)):
            around = lines[max(item.lineno - 2, 0) : item.end_lineno]
            if not any("#" in line for line in around):
                unexplained.append(f"{file.relative_to(TESTS)}:{item.lineno} {name}")
    assert unexplained == []
