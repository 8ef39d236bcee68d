r"""Every equation and congruence between plain numbers in the sample is true.

``\binom{6}{2}=15``, ``3^4=81\equiv 13\pmod{17}`` and the like are evaluated; formulas
with letters, inequalities or inverses are left to the reader.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable
from fractions import Fraction
from math import comb, factorial

import pytest

from tools.sample.contents import formulas_of, gather_contents

# A proof by contradiction ends here.
MEANT_TO_BE_FALSE = {"0=2"}
_OPERATORS: dict[type, Callable] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul,
    ast.Div: operator.truediv, ast.Pow: operator.pow,
}  # fmt: skip
_FUNCTIONS = {"comb": comb, "factorial": factorial}


def evaluate(latex: str) -> Fraction | None:
    """Return the value of an expression in plain numbers, or None for others."""
    text = re.sub(r"\\(?:[,;!]|left|right|bigl|bigr)", "", latex).replace(r"\cdot", "*")
    text = re.sub(r"\\[dt]frac", r"\\frac", text)
    text = re.sub(r"\\(frac|binom)\s*(\d)\s*(\d)", r"\\\1{\2}{\3}", text)
    for _ in range(4):
        text = re.sub(r"\\frac\{([^{}]*)\}\{([^{}]*)\}", r"((\1)/(\2))", text)
        text = re.sub(r"\\binom\{([^{}]*)\}\{([^{}]*)\}", r"comb(\1,\2)", text)
        text = re.sub(r"\^\{([^{}]*)\}", r"**(\1)", text)
    text = re.sub(r"\^(\d)", r"**\1", text)
    text = re.sub(r"(\d+)!", r"factorial(\1)", text).strip()
    try:
        return _value(ast.parse(text, mode="eval").body)
    except (SyntaxError, ValueError, TypeError, ZeroDivisionError):
        return None


def _value(node: ast.expr) -> Fraction:
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        return Fraction(str(node.value))
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_value(node.operand)
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        left, right = _value(node.left), _value(node.right)
        if isinstance(node.op, ast.Pow) and not 0 <= right <= 60:
            raise ValueError("left to the reader")
        return Fraction(_OPERATORS[type(node.op)](left, right))
    if isinstance(node, ast.Call) and ast.unparse(node.func) in _FUNCTIONS:
        numbers = [int(_value(argument)) for argument in node.args]
        return Fraction(_FUNCTIONS[ast.unparse(node.func)](*numbers))
    raise ValueError("left to the reader")


def is_true(latex: str) -> bool | None:
    """Whether the sides of an equation or congruence agree; None if they say more."""
    latex = latex.rstrip(" .,;")
    modulus = re.search(r"\\pmod\s*(?:\{(\d+)\}|(\d))$", latex)
    other_relation = re.search(r"[<>]|\\(?:[lg]eq?|neq?|approx)\b", latex)
    if other_relation or (modulus is None and ("=" not in latex or r"\equiv" in latex)):
        return None
    body = latex[: modulus.start()] if modulus else latex
    sides = [evaluate(side) for side in re.split(r"=|\\equiv", body)]
    values = [side for side in sides if side is not None]
    if len(values) < 2:
        return None
    if modulus is None:
        return all(value == values[0] for value in values)
    m = int(modulus[1] or modulus[2])
    return all((value - values[0]) % m == 0 for value in values)


@pytest.mark.parametrize(
    ("latex", "truth"),
    [
        (r"\binom{6}{2}=15", True),
        (r"\binom 62=14", False),
        (r"3^4=81\equiv 13\equiv -4\pmod{17}", True),
        (r"3^4\equiv 12\pmod{17}.", False),
        (r"\frac12+\frac{1}{3}=\frac{5}{6}", True),
        (r"4!-3\cdot 2=18=x", True),
        (r"x=1", None),
        (r"2^{-1}=3", None),
    ],
)
def test_the_check_itself_tells_true_from_false(latex, truth):
    assert is_true(latex) is truth


def test_every_equation_between_numbers_is_true():
    formulas = [
        (thread.key, latex)
        for thread in gather_contents().threads
        for latex in formulas_of(thread)
    ]
    truths = {(key, latex): is_true(latex) for key, latex in formulas}
    wrong = {
        (key, latex)
        for (key, latex), truth in truths.items()
        if truth is False and latex.rstrip(".") not in MEANT_TO_BE_FALSE
    }
    assert wrong == set()
    assert sum(truth is True for truth in truths.values()) >= 150
