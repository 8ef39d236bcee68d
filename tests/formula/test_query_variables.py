"""Query variables: unification against all substitutions tried one by one."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mathamr_kedro.base.errors import FormulaError
from mathamr_kedro.formula import FormulaTree, trees_from_latex
from mathamr_kedro.formula import matching as module
from mathamr_kedro.formula.matching import QueryPattern

OPERATORS = ("U!plus", "U!times", "O!SUP", "O!divide")


def canon(term):
    """Equal for trees that differ only in the order of unordered operands."""
    label, children = term
    inner = [canon(child) for child in children]
    return (label, *(sorted(inner, key=repr) if label.startswith("U!") else inner))


def parts_of(term):
    return [term, *(p for child in term[1] for p in parts_of(child))]


def substitute(term, values):
    label, children = term
    if label in values:
        return values[label]
    return (label, [substitute(child, values) for child in children])


def match_by_trying(pattern, variables, term):
    """Whether some substitution makes the pattern the term, or a part of it."""
    parts = parts_of(term)
    whole = part = False
    for values in product(parts, repeat=len(variables)):
        made = canon(substitute(pattern, dict(zip(variables, values, strict=True))))
        whole |= made == canon(term)
        part |= any(made == canon(p) for p in parts)
    return "whole" if whole else "part" if part else None


def write(term):
    label, children = term
    inner = "".join(f",{i}{write(child)}" for i, child in enumerate(children))
    return f"[{label}{inner}]"


def draw_terms(leaves, max_leaves):
    leaf = st.sampled_from(leaves).map(lambda label: (label, []))
    return st.recursive(
        leaf,
        lambda inner: st.tuples(
            st.sampled_from(OPERATORS), st.lists(inner, min_size=2, max_size=3)
        ),
        max_leaves=max_leaves,
    )


@settings(max_examples=300)
@given(
    draw_terms(["V!x", "N!2", "?a", "?b"], 4),
    draw_terms(["V!x", "V!y", "N!2"], 5),
    st.data(),
)
def test_a_match_is_found_where_a_substitution_is(pattern, term, data):
    names = [n for n in ("?a", "?b") if n in write(pattern)]
    if data.draw(st.booleans()) and names:  # else hardly anything would match
        pick = st.sampled_from(parts_of(term))
        term = substitute(pattern, {n: data.draw(pick) for n in names})
    query = QueryPattern("", "", {n: n for n in names})
    monkey = pytest.MonkeyPatch()
    trees = type("T", (), {"opt": FormulaTree.from_string(write(pattern), "opt")})
    with monkey.context() as patch:
        patch.setattr(module, "trees_from_latex", lambda latex: trees)
        found = query.match(FormulaTree.from_string(write(term), "opt"))
    expected = match_by_trying(pattern, names, term)
    assert (found and ("whole" if found.is_whole else "part")) == expected
    if found is not None:
        assert set(found.bindings) == set(names)


@pytest.mark.parametrize(
    ("pattern", "formula", "bindings"),
    [
        ("?a^2 + ?b^2 = ?c^2", "x^2+y^2=z^2", {"?a": "x", "?b": "y", "?c": "z"}),
        (
            "?a^2 + ?b^2 = ?c^2",
            "z^2=(x-1)^2+1^2",
            {"?a": "x-1", "?b": "1", "?c": "z"},
        ),
        ("?a + ?a", "x + x", {"?a": "x"}),
        (r"\frac{?{num}}{2}", r"\frac{x+y}{2}", {"?num": "x + y"}),
        (r"\sin ?x", r"\sin t", {"?x": "t"}),
        (r"?n x + x", "3x + x", {"?n": "3"}),
        (r"\xi + ?a", r"\xi + 1", {"?a": "1"}),
    ],
)
def test_formulas_are_matched_with_their_bindings(pattern, formula, bindings):
    found = QueryPattern.read(pattern).match(trees_from_latex(formula).opt)
    assert found is not None
    assert found.is_whole
    assert found.bindings == bindings


@pytest.mark.parametrize(
    ("pattern", "formula"),
    [
        ("?a + ?a", "x + y"),
        ("?a^2", "x^3"),
        ("?a - ?a", "x - y"),
        ("?a + a", "x + y"),
        ("?a + ?b", "x + y + z"),  # a variable stands for one operand
    ],
)
def test_other_formulas_are_not(pattern, formula):
    assert QueryPattern.read(pattern).match(trees_from_latex(formula).opt) is None


def test_parts_of_formulas_match_too():
    found = QueryPattern.read("?a^2 + 1").match(trees_from_latex(r"\sqrt{t^2+1}").opt)
    assert (found.bindings, found.is_whole) == ({"?a": "t"}, False)


def test_variables_never_meet_letters_of_the_formula():
    pattern = QueryPattern.read(r"\xi\chi + ?a ?{a} + ?b")
    assert r"\xi" in pattern.stand_in and pattern.stand_in.count(r"\zeta ") == 2
    assert set(pattern.variables.values()) == {"?a", "?b"}


@pytest.mark.parametrize(
    "latex", ["x = ?", r"a \stackrel{?}{=} b", "x", r"P(x)\?", "? a", r"\?a"]
)
def test_other_question_marks_are_no_variables(latex):
    assert QueryPattern.read(latex) is None


@pytest.mark.parametrize("latex", ["?a", "$?a$", " ?a ?b "])
def test_a_variable_alone_is_refused(latex):
    with pytest.raises(FormulaError, match="around the query variables"):
        QueryPattern.read(latex)


def test_too_many_variables_are_refused():
    latex = "+".join(f"?{letter}" for letter in "abcdefghijklmnop")
    with pytest.raises(FormulaError, match="at most 13 different"):
        QueryPattern.read(latex)


def test_a_comparison_that_takes_too_long_is_given_up(monkeypatch):
    monkeypatch.setattr(module, "MAX_STEPS", 50)  # the real limit takes seconds
    many = "+".join(f"x_{{{n}}} y" for n in range(10))
    pattern = QueryPattern.read("+".join(f"?{v} ?{v}" for v in "abcdefghij"))
    assert pattern.match(trees_from_latex(many).opt) is None
