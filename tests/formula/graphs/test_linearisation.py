"""MathAMR: depth-first strings."""

from __future__ import annotations

import pytest

from mathamr_kedro.base.errors import FormulaError
from mathamr_kedro.formula import FormulaTree
from mathamr_kedro.formula.graphs import linearise, read_concept

# 2x - 3
EXAMPLE = FormulaTree.from_string("[O!minus,0[U!times,0[N!2],1[V!x]],1[N!3]]")


def test_unordered_operands_are_read_last_first():
    assert linearise(EXAMPLE) == "minus times x 2 3"


def test_string_of_the_paper():
    def power(base):
        return f"[O!SUP,0[V!{base}],1[V!n]]"

    tree = FormulaTree.from_string(
        f"[U!plus,0{power('x')},1{power('y')},2{power('z')}]"
    )
    assert linearise(tree) == "plus SUP z n SUP y n SUP x n"


def test_parts_without_a_value_are_passed_over():
    assert linearise(FormulaTree.from_string("[E!,0[W!],1[V!x]]")) == "x"


@pytest.mark.parametrize(
    ("label", "concept"),
    [
        ("V!x", ("V", "x")),
        ("-!r", ("V", "r")),
        ("+!O!SUB", ("O", "SUB")),
        ("+!", ("O", "")),
        ("M!R!", ("M", "R")),
        ("V!a:b", ("V", "a$##$b")),
        ("?q", ("V", "?q")),
    ],
)
def test_labels_become_concepts(label, concept):
    assert read_concept(label) == concept


def test_layout_trees_have_no_amr():
    with pytest.raises(FormulaError, match="Operator Tree"):
        linearise(FormulaTree.from_string("[V!x,a[N!2]]"))
