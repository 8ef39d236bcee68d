r"""Limits: no input makes the reader crash, hang or eat the memory."""

from __future__ import annotations

import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mathamr_kedro.formula.latex import trees_from_latex
from mathamr_kedro.formula.latex.limits import MAX_CHARACTERS
from mathamr_kedro.formula.tree import FormulaTree

_PIECES = (
    r"{ } ^ _ & \\ $ ( ) [ ] | < > = , . ! ' ~ # + - x d 1 2.5 \left \right \frac \sqrt"
    r" \sum \int \sin \log \lim \over \choose \limits \not \text{ \mathrm{ \hat"
    r" \overset"
    r" \operatorname \mathop \boxed \left( \right) \left| \right| \langle \rangle \|"
    r" \begin{matrix} \end{matrix} \begin{cases} \end{cases} \begin{aligned} \hline"
    r" \end{aligned} \begin{array}{cc} \end{array} \begin{gathered} \substack{ \pmod"
    r" \newcommand{\a}[1]{#1#1} \a \def\b{ \b \quad \, \dots \to \iff \color \foo"
    r" \middle"
    r" \xymatrix{ \ar[r]^ \ar@{-> \begin{tikzcd} \arrow[r,f \end{tikzcd} @<"
    r" \mathbf \boldsymbol \genfrac \binom \sideset \stackrel \xrightarrow[ \cases{"
).split(" ")


def _check(latex: str) -> None:
    for mode in ("strict", "total"):
        trees = trees_from_latex(latex, mode=mode)
        assert "internal_error" not in trees.problems
        if trees.slt is None:
            assert trees.problems
            return
        for tree in (trees.slt, trees.opt):
            assert FormulaTree.from_string(tree.to_string(), tree.kind) == tree


@settings(max_examples=400, deadline=None)
@given(st.lists(st.sampled_from(_PIECES), max_size=40).map(" ".join))
def test_any_row_of_commands_is_read(latex):
    _check(latex)


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=60))
def test_any_text_is_read(latex):
    _check(latex)


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=80).map(lambda raw: raw.decode("latin-1")))
def test_any_bytes_are_read(latex):
    _check(latex)


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_any_cut_of_a_formula_is_read(data):
    latex = (
        r"\left\{\sum_{i=1}^{n}\frac{\partial f_{i}}{\partial x}\,\middle|\,"
        r"\begin{pmatrix}a&b\\c&d\end{pmatrix}\text{ if $x$}\right\}"
    )
    start = data.draw(st.integers(0, len(latex)))
    end = data.draw(st.integers(start, len(latex)))

    _check(latex[start:end])
    _check(latex[:start] + latex[end:])


@pytest.mark.parametrize(
    ("opening", "closing"),
    [
        ("{", "}"),
        ("(", ")"),
        (r"\left(", r"\right)"),
        ("a^{", "}"),
        (r"\frac{1}{", "}"),
        (r"\sqrt{", "}"),
        (r"\text{$", "$}"),
        (r"\begin{matrix}", r"\end{matrix}"),
        (r"\sin(", ")"),
        ("|(", ")|"),
        (r"\{x|", r"\}"),
    ],
)
@pytest.mark.parametrize("depth", [3, 30, 1000, 10_000])
def test_deep_nesting_is_read_or_refused(opening, closing, depth):
    trees = trees_from_latex(opening * depth + "a" + closing * depth)

    if depth == 3:
        assert trees.slt is not None
    if depth == 10_000:
        assert trees.slt is None
        assert set(trees.problems) & {"too_deep", "too_long"}


def test_deep_caller_gets_an_answer():
    def call(frames: int) -> object:
        return trees_from_latex("((((a+b))))") if not frames else call(frames - 1)

    room = sys.getrecursionlimit()
    answers = [call(frames) for frames in (0, room // 2)]

    assert answers[0] == answers[1]


def test_long_formula_is_refused():
    trees = trees_from_latex("x+" * 500_000)

    assert trees == (None, None, {"too_long": 1})


@pytest.mark.slow
@pytest.mark.parametrize(
    "piece",
    [
        "a",
        "a+",
        "a-b+",
        "(a)",
        "|a|",
        "<a|",
        "1\\,",
        "a=b,",
        r"\sin ",
        "a^b_c",
        "'",
        "&",
    ],
)
def test_formula_of_the_longest_length_is_answered(piece):
    latex = (piece * MAX_CHARACTERS)[:MAX_CHARACTERS]

    trees = trees_from_latex(latex)

    assert trees.slt is not None or trees.problems


def test_table_that_would_explode_by_filling_up_is_refused():
    """Ten thousand characters would become four million nodes."""
    wide = r"\begin{matrix}" + "a&" * 2000 + r"\\a" * 2000 + r"\end{matrix}"

    assert trees_from_latex(wide) == (None, None, {"too_large": 1})


def test_macros_that_multiply_are_stopped():
    doubling = "".join(
        rf"\def\{chr(98 + i)}{{\{chr(97 + i)}\{chr(97 + i)}}}" for i in range(20)
    )
    trees = trees_from_latex(r"\def\a{xxxxxxxxxx}" + doubling + r"\u")

    assert trees == (None, None, {"expansion_limit": 1})


def test_macro_that_calls_itself_is_stopped():
    assert trees_from_latex(r"\def\a{\a}\a").problems == {"expansion_limit": 1}


def test_defect_is_counted_not_raised(monkeypatch, caplog):
    def fail(item: object) -> None:
        raise KeyError("defect")

    monkeypatch.setattr("mathamr_kedro.formula.latex.build_slt", fail)

    assert trees_from_latex("a") == (None, None, {"internal_error": 1})
    assert "Failed to read the formula 'a'" in caplog.text


def test_a_formula_that_no_stack_holds_is_too_deep(monkeypatch):
    def fail(item: object) -> None:
        raise RecursionError

    monkeypatch.setattr("mathamr_kedro.formula.latex.build_slt", fail)

    assert trees_from_latex("a") == (None, None, {"too_deep": 1})
