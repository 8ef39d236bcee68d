"""MathAMR: AMR text, depth-first strings."""

from __future__ import annotations

from collections import Counter

import penman
import pytest

from mathamr_kedro.base.errors import FormulaError
from mathamr_kedro.formula import FormulaTree, opt_from_mathml
from mathamr_kedro.formula.graphs.linearisation import (
    format_amr,
    linearise,
    prepare_content,
    read_concept,
)

# 2x - 3
EXAMPLE = FormulaTree.from_string("[O!minus,0[U!times,0[N!2],1[V!x]],1[N!3]]")


def test_amr_text_of_the_example():
    assert format_amr(EXAMPLE) == (
        "(O1 / minus :op0(U1 / times :op0(N1 / 2) :op0(V1 / x)) :op1(N2 / 3))"
    )


def test_variables_go_on_counting_through_a_document():
    counts = Counter()
    format_amr(EXAMPLE, counts)
    assert format_amr(FormulaTree.from_string("[V!y]", "opt"), counts) == "(V2 / y)"


def test_amr_text_is_read_by_penman():
    text = format_amr(FormulaTree.from_string("[E!,0[O!SUP,0[V!x],1[N!2]],1[W!]]"))
    graph = penman.decode(text)
    assert graph.top == "E1"
    assert ("O1", ":op1", "N1") in graph.triples


def test_nested_operators_of_one_label_stay_apart():
    tree = FormulaTree.from_string(
        "[U!plus,0[V!a],1[U!plus,0[V!b],1[V!c]],2[V!d]]"
    )  # a + (b + c) + d
    assert format_amr(tree) == (
        "(U1 / plus :op0(V1 / a) :op0(U2 / plus :op0(V2 / b) :op0(V3 / c))"
        " :op0(V4 / d))"
    )


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


def test_content_is_prepared_as_published():
    markup = (
        '<apply><times/><csymbol cd="latexml">differential-d</csymbol><ci>x</ci>'
        '<csymbol cd="mws" name="qvar">qvar_$</csymbol>'
        '<csymbol cd="latexml">conditional</csymbol></apply>'
    )
    tree = opt_from_mathml(prepare_content(markup), mode="strict")
    assert tree.to_string() == "[U!times,0[V!d],1[V!x],2[V!c]]"
