"""Mutants of a source text: one small change each."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

_COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
_OPERATORS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
}
_SIZE = 10  # larger numbers are sizes and limits; the next one is as good
# What these hold is said to people, or never run.
_SPARED_CALLS = ("logger", "click", "console", "warnings", "TypeVar", "overload")


class Mutant(NamedTuple):
    """One change of one file."""

    path: Path
    line: int
    before: str
    after: str
    source: str
    """The whole file with the change."""


def find_mutants(path: Path) -> list[Mutant]:
    """Return all mutants of a Python file, in the order of their places."""
    data = path.read_bytes()
    lines = [0]
    for line in data.splitlines(keepends=True):
        lines.append(lines[-1] + len(line))
    found = []
    for node, after in _find_changes(ast.parse(data)):
        start = lines[node.lineno - 1] + node.col_offset
        end = lines[(node.end_lineno or 0) - 1] + (node.end_col_offset or 0)
        before = data[start:end].decode()
        changed = (data[:start] + after.encode() + data[end:]).decode()
        found.append(Mutant(path, node.lineno, before, after, changed))
    return found


def _find_changes(node: ast.AST) -> Iterator[tuple[ast.expr | ast.stmt, str]]:
    """Yield what to replace, and by what, in a tree."""
    if _is_spared(node):
        return
    if isinstance(node, ast.expr | ast.stmt):
        for changed in _change(node):
            # Brackets keep the meaning of what stands around an expression.
            text = ast.unparse(changed)
            if text == ast.unparse(node):
                continue
            yield node, f"({text})" if isinstance(changed, ast.expr) else text
    for child in _children_to_change(node):
        yield from _find_changes(child)


def _is_spared(node: ast.AST) -> bool:
    if isinstance(node, ast.Raise | ast.Assert | ast.JoinedStr | ast.Import):
        return True
    if isinstance(node, ast.keyword):  # of zip: asserts equal lengths
        return node.arg == "strict"
    if isinstance(node, ast.If):
        return ast.unparse(node.test) == "TYPE_CHECKING"
    if isinstance(node, ast.Call):
        return ast.unparse(node.func).split(".")[0] in _SPARED_CALLS
    return False


def _children_to_change(node: ast.AST) -> Iterator[ast.AST]:
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list", "bases"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield child


def _change(node: ast.expr | ast.stmt) -> Iterator[ast.expr | ast.stmt]:
    yield from _change_operator(node)
    match node:
        case ast.Constant(value=bool(value)):
            yield ast.Constant(not value)
        case ast.Constant(value=int(value) | float(value)) if value < _SIZE:
            yield ast.Constant(value + 1)
        case ast.Return(value=ast.Constant(value=bool() | None)):
            return  # nothing is as good as False, and True becomes that as well
        case ast.Return(value=ast.expr()):
            yield ast.Return(ast.Constant(None))
        case ast.Continue():
            yield ast.Break()
        case ast.Expr(value=ast.Call() as call) if not _is_spared(call):
            yield ast.Pass()
        case ast.IfExp(test=test, body=body, orelse=orelse):
            yield ast.IfExp(ast.UnaryOp(ast.Not(), test), body, orelse)


def _change_operator(node: ast.expr | ast.stmt) -> Iterator[ast.expr]:
    match node:
        case ast.Compare(left=left, ops=[op], comparators=right):
            yield ast.Compare(left, [_COMPARISONS[type(op)]()], right)
        case ast.BinOp(left=a, op=op, right=b) if type(op) in _OPERATORS:
            if not isinstance(b, ast.Constant) or not isinstance(b.value, str):
                yield ast.BinOp(a, _OPERATORS[type(op)](), b)
        case ast.BoolOp(op=ast.And(), values=values):
            yield ast.BoolOp(ast.Or(), values)
        case ast.BoolOp(op=ast.Or(), values=values):
            yield ast.BoolOp(ast.And(), values)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield operand
