from __future__ import annotations

import pytest

from mathamr_kedro.formula.latex.nodes import (
    App,
    ScriptMark,
    attach_script,
    chain_terms,
    fence,
    multiply,
)
from mathamr_kedro.formula.latex.symbols import SYMBOLS

A, B, C, PLUS, MINUS, TIMES = (SYMBOLS[token] for token in "abc+-*")


def _mark(up=True, floats=False, level=1):
    return ScriptMark(B, up, floats, level)


@pytest.mark.parametrize(
    ("fenced", "meaning"),
    [
        ("(a,b)", "open-interval"),
        ("[a,b)", "closed-open-interval"),
        ("(a,b,c)", "vector"),
        ("[a,b,c]", "list"),
        ("(a;b)", "list"),
        ("[a]", "delimited-[]"),
        ("()", "list"),
    ],
)
def test_fences_are_named_by_what_they_hold(fenced, meaning):
    assert fence([SYMBOLS[char] for char in fenced]).content.op.meaning == meaning


def test_parentheses_around_one_item_mean_nothing():
    assert fence([SYMBOLS["("], A, SYMBOLS[")"]]).content is A


def test_terms_group_from_the_left_and_equal_signs_side_by_side():
    whole = chain_terms([A, PLUS, B, PLUS, C, MINUS, A])

    assert whole.op is MINUS
    assert whole.args[0].op is PLUS
    assert whole.args[0].args == [A, B, C]


def test_product_joins_factors_of_one_operator():
    product = multiply(TIMES, multiply(TIMES, A, B), C)

    assert product.args == [A, B, C]


def test_first_factor_is_never_changed():
    first = App(TIMES, [A, B])

    assert multiply(TIMES, first, C, first).args == [A, B, C]
    assert first.args == [A, B]


@pytest.mark.parametrize(
    ("base", "mark", "place"),
    [
        (A, _mark(), "post"),
        (SYMBOLS[r"\sum"].with_place("mid"), _mark(), "mid"),
        (A, _mark(floats=True), "pre"),
        (attach_script(A.with_place("mid"), _mark(level=1)), _mark(level=1), "mid"),
        (attach_script(A.with_place("mid"), _mark(level=2)), _mark(level=1), "post"),
    ],
)
def test_script_goes_where_base_and_level_say(base, mark, place):
    assert attach_script(base, mark).place == place
