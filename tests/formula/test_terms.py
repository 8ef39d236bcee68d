"""Subtrees as values: compared without an order, written with the brackets needed."""

from __future__ import annotations

import pytest

from mathamr_kedro.formula import trees_from_latex
from mathamr_kedro.formula.matching import Term


def read(latex, **variables):
    return Term.list_subtrees(trees_from_latex(latex).opt, variables)[0]


@pytest.mark.parametrize(
    ("latex", "written"),
    [
        ("a+b", "a + b"),
        ("a-b", "a-b"),
        ("a+bc", "a + b c"),
        ("(a+b)c", "(a + b) c"),
        ("(a-b)c", "(a-b) c"),
        ("a-(b-c)", "a-(b-c)"),
        ("(a-b)-c", "a-b-c"),
        ("a-(b+c)", "a-(b + c)"),
        ("-(a+b)", "-(a + b)"),
        ("-ab", "-a b"),
        ("c(-a)", "c (-a)"),
        ("a=b", "a = b"),
        ("(ab)^2", "(a b)^2"),
        ("x_{12}", "x_{12}"),
        ("(x^2)^3", "(x^2)^3"),
        (r"\frac{a+b}{2}", r"\frac{a + b}{2}"),
        (r"2\frac ab", r"2 \frac{a}{b}"),
        (r"a\le b", r"a \le b"),
        ("a<b", "a < b"),
        (r"\sin x", "sin(x)"),
    ],
)
def test_brackets_stand_where_the_order_needs_them(latex, written):
    assert read(latex).latex == written


@pytest.mark.parametrize("sign", ["=", "<", ">", r"\le", r"\ge"])
def test_relations_among_operands_have_brackets(sign):
    assert read(f"(a {sign} b)+c").latex == f"(a {sign} b) + c"


def test_the_order_of_unordered_operands_does_not_count():
    assert read("a+b").key == read("b+a").key
    assert read("a-b").key != read("b-a").key
    assert read("a+b").is_unordered and not read("a-b").is_unordered


def test_sizes_and_variables_are_those_of_all_below():
    term = read("2x+y", **{"V!x": "?1"})
    assert (term.size, term.variable, term.has_variables) == (5, None, True)
    times, y = term.children
    assert [child.variable for child in times.children] == [None, "?1"]
    assert (times.has_variables, y.has_variables) == (True, False)
