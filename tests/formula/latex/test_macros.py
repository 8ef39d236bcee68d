from __future__ import annotations

import pytest

from mathamr_kedro.formula.latex import trees_from_latex
from mathamr_kedro.formula.latex.limits import LimitError
from mathamr_kedro.formula.latex.macros import expand_macros
from mathamr_kedro.formula.latex.tokens import split_tokens


def _expand(latex: str) -> str:
    return "".join(expand_macros(split_tokens(latex), {}))


@pytest.mark.parametrize(
    ("written", "expanded"),
    [
        (r"\newcommand{\R}{\mathbb{R}}x\in\R", r"x\in\mathbb{R}"),
        (r"\newcommand\R{Q}\R", "Q"),
        (r"\newcommand*{\R}{Q}\R", "Q"),
        (r"\newcommand{\f}[2]{f(#1,#2)}\f{a}b", "f(a,b)"),
        (r"\newcommand{\f}[2][x]{f(#1,#2)}\f{a}\f[y]b", "f(x,a)f(y,b)"),
        (r"\def\f#1{f(#1)}\f{\f x}", "f(f(x))"),
        (r"\let\a=\alpha\a", r"\alpha"),
        (r"\renewcommand{\phi}{\varphi}\phi", r"\varphi"),
        (r"\DeclareMathOperator{\lcm}{lcm}\lcm", r"\operatorname{lcm}"),
        (r"\DeclareMathOperator*{\am}{am}\am", r"\operatorname*{am}"),
        (r"\def\a{x}\def\b{\a\a}\b", "xx"),
    ],
)
def test_macro_is_expanded(written, expanded):
    assert _expand(written) == expanded


def test_tokens_without_definitions_are_left_as_they_are():
    tokens = split_tokens(r"\R x")

    assert expand_macros(tokens, {}) is tokens


@pytest.mark.parametrize(
    "latex",
    [r"\newcommand", r"\newcommand{\a}", r"\def", r"\def\a", r"\let", r"\let\a"],
)
def test_unfinished_definition_is_harmless(latex):
    assert "internal_error" not in trees_from_latex(latex).problems


def test_definition_of_no_command_is_a_problem():
    assert trees_from_latex(r"\def{x}y").problems == {"bad_definition": 1}


def test_growing_expansion_is_stopped():
    with pytest.raises(LimitError, match="expansion_limit"):
        _expand(r"\def\a{x\a}\a")
