"""Tokens of their own kind, and what they mean in each font."""

from __future__ import annotations

import pytest

from mathamr_kedro.formula.latex import trees_from_latex
from mathamr_kedro.formula.latex.alphabets import FONTS, MATH
from mathamr_kedro.formula.latex.commands import list_entries
from mathamr_kedro.formula.latex.symbols import Symbol


@pytest.mark.parametrize("font", [MATH, *FONTS.values(), MATH.embolden()])
def test_every_token_means_something_in_every_font(font):
    entries = list_entries(font)

    assert entries.keys() == list_entries(MATH).keys()
    assert all(
        entry.__class__ is Symbol or callable(entry) for entry in entries.values()
    )


@pytest.mark.parametrize(
    ("latex", "problems"),
    [
        ("{a", {"missing_brace": 1}),
        ("a}", {"stray_brace": 1}),
        ("a^", {"missing_script": 1}),
        ("a^1^2", {"double_script": 1, "unparsed": 1}),
        (r"\frac{a}", {"missing_argument": 1}),
        (r"\lt\gt\color", {"undefined:lt": 1, "undefined:gt": 1, "undefined:color": 1}),
        (r"\1", {"undefined": 1}),
        ("a$b", {"stray_dollar": 1}),
    ],
)
def test_what_is_wrong_is_counted(latex, problems):
    assert trees_from_latex(latex).problems == problems


def test_undefined_command_is_an_error_and_a_blank():
    trees = trees_from_latex(r"\foo{x}")

    assert trees.slt.to_string() == "[E![V!x]]"
    assert trees.opt.to_string() == "[U!times,0[W!],1[V!𝑥]]"


@pytest.mark.parametrize(
    ("latex", "dots"),
    [
        (r"a+\dots+b", "⋯"),
        (r"a\cdot\dots\cdot b", "⋯"),
        (r"a=\dots=b", "⋯"),
        (r"a,\dots,b", "…"),
        (r"a\dots b", "…"),
        (r"a+\ldots+b", "…"),
    ],
)
def test_dots_are_centred_before_an_operator(latex, dots):
    assert f"V!{dots}" in trees_from_latex(latex).slt.nodes


@pytest.mark.parametrize("style", [r"\displaystyle", r"\scriptstyle", r"\large", r"\,"])
def test_style_leaves_no_mark(style):
    assert trees_from_latex(f"{style} a")[:2] == trees_from_latex("a")[:2]


def test_scripts_of_functions_move_with_the_style():
    assert trees_from_latex(r"\max_x").slt.to_string() == "[V!max,u[V!x]]"
    assert trees_from_latex(r"\textstyle\max_x").slt.to_string() == "[V!max,b[V!x]]"


@pytest.mark.parametrize(
    ("latex", "problem"),
    [
        (r"\left(a", "missing_right"),
        (r"a\right)", "missing_left"),
        (r"{\left(a}\right)", "missing_right"),
        (r"\left", "missing_delimiter"),
        (r"\left(\right", "missing_delimiter"),
    ],
)
def test_unbalanced_fences_are_counted(latex, problem):
    assert problem in trees_from_latex(latex).problems


def test_text_without_end_is_counted():
    trees = trees_from_latex(r"x\text{a $b")

    assert trees.slt.to_string() == "[V!x[T!a[V!b]]]"
    assert trees.problems == {"missing_dollar": 1, "missing_brace": 1}
