"""Formulas as the formula encoder of MaRF reads them."""

from __future__ import annotations

import re
from decimal import Decimal
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mathamr_kedro.systems.marf.latex_tokens import normalise_latex, spell_numbers

PIECES = st.sampled_from(
    r"\frac \dfrac \sqrt [ ] { } ^ _ ' x y 1 2 0 . + = ( ) \left \right \over \choose "
    r"\le \leq \bf \mathbb \text \, \; \begin{cases} \end{cases} & \\ \alpha \| | "
    r"\hat \ldots \pmod ~ \left. \right. \{ \} \sum \operatorname".split()
)
FORMULAS = st.lists(PIECES, max_size=25).map(" ".join)


@pytest.mark.parametrize(
    ("latex", "expected"),
    [
        # token normalisation
        (r"\dfrac{1}{2}", r"\frac { 1 } { 2 }"),
        (r"a \le b \ne c", r"a \leq b \neq c"),
        (r"\left( x \,\right)", "( x )"),
        (r"\left. x \right|", "x |"),
        (r"{\bf x y}_1", r"{ \mathbf { x y } } _ { 1 }"),
        (r"\begin{cases} 1 & x \\ 2 \end{cases}",
         r"\begin{cases} 1 & x \\ 2 \end{cases}"),
        # brace completion, as TeX reads it
        (r"\frac12", r"\frac { 1 } { 2 }"),
        (r"x^30", "x ^ { 3 } 0"),
        (r"x_i^{n+1}", "x _ { i } ^ { n + 1 }"),
        (r"\sqrt[3]2", r"\sqrt [ 3 ] { 2 }"),
        (r"x^\frac12", r"x ^ { \frac { 1 } { 2 } }"),
        (r"\mathbb R^n", r"\mathbb { R } ^ { n }"),
        (r"f''(x)", r"f ^ { \prime \prime } ( x )"),
        (r"{a+1 \over b}", r"{ \frac { a + 1 } { b } }"),
        (r"1 + \left({n \choose k}\right)", r"1 + ( { \binom { n } { k } } )"),
        (r"1 + \left(n \over k\right) + 2", r"1 + \frac { ( n } { k } ) + 2"),
        (r"\frac{1}{2", r"\frac { 1 } { 2 }"),
        ("}a}}b", "a b"),
        ("x^", "x ^ { }"),
        ("", ""),
    ],
)  # fmt: skip
def test_spellings_become_one(latex: str, expected: str) -> None:
    assert " ".join(normalise_latex(latex)) == expected


@given(FORMULAS)
def test_braces_have_partners(latex: str) -> None:
    depth = 0
    for token in normalise_latex(latex):
        depth += (token == "{") - (token == "}")
        assert depth >= 0
    assert depth == 0


@given(FORMULAS)
def test_what_is_normalised_stays(latex: str) -> None:
    once = normalise_latex(latex)
    assert normalise_latex(" ".join(once)) == once


@given(FORMULAS)
def test_every_script_has_its_braces(latex: str) -> None:
    tokens = [*normalise_latex(latex), ""]
    for token, follower in pairwise(tokens):
        if token in ("^", "_", r"\frac", r"\mathbb", r"\hat", r"\binom"):
            assert follower == "{"


@given(st.text(max_size=60))
def test_any_text_can_be_read(latex: str) -> None:
    spell_numbers(normalise_latex(latex))


@given(FORMULAS.filter(lambda latex: "\\text" not in latex))
def test_spaces_mean_nothing(latex: str) -> None:
    wide = re.sub(" ", "   ", latex)
    assert normalise_latex(f"  {wide} ") == normalise_latex(latex)


@pytest.mark.parametrize("opening", ["{", "^", r"\left(", r"\bf", r"\sqrt[", r"\frac"])
def test_depth_has_an_end(opening: str) -> None:
    tokens = normalise_latex(opening * 3000 + "x")
    assert tokens.count("{") == tokens.count("}")


def spell_slowly(number: str) -> list[str]:
    """Digit by digit, each with the place that it has in the number."""
    value = Decimal(number)
    if value == value.to_integral_value() and value < 10:
        return [str(int(value))]
    whole, _, rest = number.partition(".")
    found: list[str] = []
    for place, digit in enumerate(reversed(whole)):
        if digit != "0":
            found = [digit, "10e", str(place), *found]
    for place, digit in enumerate(rest, start=1):
        if digit != "0":
            found += [digit, "10e", f"-{place}"]
    return found


NUMBERS = st.from_regex(r"\A[0-9]{1,12}(\.[0-9]{1,6})?\Z")


@given(NUMBERS)
def test_numbers_as_their_slow_twin(number: str) -> None:
    assert spell_numbers(list(number)) == spell_slowly(number)


@given(NUMBERS)
def test_the_value_of_a_number_can_be_read_back(number: str) -> None:
    tokens = spell_numbers(list(number))
    if len(tokens) == 1:
        value = Decimal(tokens[0])
    else:
        places = zip(tokens[::3], tokens[1::3], tokens[2::3], strict=True)
        value = sum((Decimal(f"{d}e{p}") for d, _, p in places), Decimal(0))
    assert value == Decimal(number)


def test_numbers_among_other_tokens() -> None:
    assert spell_numbers(["x", "3", "0", "+", ".", "5", ".", "y"]) == [
        "x", "3", "10e", "1", "+", "5", "10e", "-1", ".", "y",
    ]  # fmt: skip
    assert spell_numbers(normalise_latex(r"\frac12")).count("10e") == 0
