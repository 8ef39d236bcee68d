from __future__ import annotations

import pytest

from mathamr_kedro.formula.latex import trees_from_latex
from mathamr_kedro.formula.latex.boxes import settle_row
from mathamr_kedro.formula.latex.nodes import Hint
from mathamr_kedro.formula.latex.symbols import SYMBOLS

A, B, COMMA, OPEN = (SYMBOLS[token] for token in "ab,(")


def _draw(items):
    return ["_" if item.__class__ is Hint else item.text for item in items]


@pytest.mark.parametrize(
    ("items", "settled"),
    [
        ([A, Hint(9.0), B], "a b"),
        ([A, Hint(10.0), B], "a _ b"),
        ([A, Hint(5.0), Hint(5.0), B], "a _ b"),
        ([A, Hint(12.0), Hint(-5.0), B], "a b"),
        ([A, COMMA, Hint(20.0), B], "a , b"),
        ([OPEN, Hint(20.0), B], "( b"),
        ([Hint(20.0), B], "b"),
        ([A, Hint(20.0)], "a _"),
        ([A, Hint(20.0, phantom=True), B], "a b"),
    ],
)
def test_only_wide_spaces_separate(items, settled):
    assert " ".join(_draw(settle_row(items))) == settled


@pytest.mark.parametrize("space", [r"\quad", r"\qquad", r"\ \ ", r"\hspace{1cm}"])
def test_wide_space_makes_a_list(space):
    assert trees_from_latex(f"a{space} b").opt.to_string() == "[M!L-2,0[V!𝑎],1[V!𝑏]]"


@pytest.mark.parametrize(
    "space", [r"\,", r"\;", "~", r"\!", r"\enspace", r"\hspace{1mm}", r"\kern 1em", " "]
)
def test_narrow_space_makes_a_product(space):
    product = "[U!times,0[V!𝑎],1[V!𝑏]]"

    assert trees_from_latex(f"a{space} b").opt.to_string() == product


def test_quad_in_a_script_is_narrow():
    opt = trees_from_latex(r"x_{a\quad b}").opt.to_string()

    assert opt == "[O!SUB,0[V!𝑥],1[U!times,0[V!𝑎],1[V!𝑏]]]"


def test_six_thin_spaces_are_wide_five_are_not():
    assert trees_from_latex(r"a\,\,\,\,\,\,b").opt.to_string().startswith("[M!L-2")
    assert trees_from_latex(r"a\,\,\,\,\,b").opt.to_string().startswith("[U!times")


@pytest.mark.parametrize(
    ("wide", "narrow"),
    [
        ("10pt", "9pt"), ("1em", "0.9em"), ("2.4ex", "2.3ex"), ("18mu", "17mu"),
        ("0.36cm", "0.34cm"), ("3.6mm", "3.4mm"), ("0.14in", "0.13in"),
        ("0.9pc", "0.8pc"), ("10bp", "9bp"), ("14px", "13px"), (" 10 pt ", "10 yd"),
        ("1em", "wide"),
    ],
)  # fmt: skip
def test_lengths_have_their_units(wide, narrow):
    for command in (r"\hspace", r"\hspace*"):
        spaced = [f"a{command}{{{length}}} b" for length in (wide, narrow)]
        found = [trees_from_latex(latex).opt.to_string() for latex in spaced]
        assert found[0].startswith("[M!L-2")
        assert found[1].startswith("[U!times")


def test_a_kern_is_a_space_if_it_counts_in_mu():
    assert trees_from_latex(r"a\mkern18mu b").opt.to_string().startswith("[M!L-2")
    assert trees_from_latex(r"a\mkern17mu b").opt.to_string().startswith("[U!times")


@pytest.mark.parametrize("style", [r"\displaystyle", r"\textstyle"])
def test_spaces_are_as_wide_in_a_line_as_above_it(style):
    found = [
        trees_from_latex(f"{style} a{space} b").opt.to_string()[:8]
        for space in (r"\quad", r"\enspace", "~~~")
    ]
    assert found == ["[M!L-2,0", "[U!times", "[U!times"]


def test_quad_in_a_script_of_a_script_is_half_as_wide():
    opt = trees_from_latex(r"x_{y_{a\quad b}}").opt.to_string()
    assert "U!times" in opt and "M!L" not in opt
    assert "M!L-2" in trees_from_latex(r"x_{y_{a\qquad b}}").opt.to_string()


def test_thick_spaces_are_as_wide_in_a_script():
    assert "M!L-2" in trees_from_latex(r"x_{a\;\;\;\;b}").opt.to_string()
    assert "M!L" not in trees_from_latex(r"x_{a\;\;\;b}").opt.to_string()


def test_negative_spaces_take_away():
    for narrow in (r"\quad\!", r"\quad\negmedspace", r"\quad\negthickspace"):
        assert "M!L" not in trees_from_latex(rf"a{narrow} b").opt.to_string()
    assert "M!L-2" in trees_from_latex(r"a\quad\!\: b").opt.to_string()
