"""Bracket strings."""

from __future__ import annotations

import pytest

from mathamr_kedro.base.errors import FormulaError
from mathamr_kedro.formula.node import (
    Node,
    format_bracket_string,
    parse_bracket_string,
)


def test_next_symbol_stands_first_and_unmarked():
    node = Node("V!x")
    node.edges = {"a": Node("N!2"), "n": Node("+")}
    assert format_bracket_string(node, "slt") == "[V!x[+],a[N!2]]"


def test_layout_edges_have_a_fixed_order():
    node = Node("V!x")
    node.edges = {edge: Node(edge) for edge in reversed("nabouc" + "dwe")}
    assert format_bracket_string(node, "slt") == (
        "[V!x[n],a[a],b[b],o[o],u[u],c[c],d[d],w[w],e[e]]"
    )


def test_operands_keep_their_index_below_unordered_operators():
    node = Node.operator("U!plus", [Node("V!a"), Node("V!b")])
    assert format_bracket_string(node, "opt") == "[U!plus,0[V!a],1[V!b]]"


def test_comma_may_begin_a_label():
    root = parse_bracket_string("[V!x[,[V!y]]]")
    assert root.edges["n"].label == ","
    assert root.edges["n"].edges["n"].label == "V!y"


def test_label_may_be_empty():
    assert parse_bracket_string("[]").label == ""


@pytest.mark.parametrize(
    "text",
    ["", "V!x", "[V!x", "[V!x]]", "[V!x][V!y]", "[V!x,a]", "[V!x,a[N!2],a[N!3]]", "]"],
)
def test_what_does_not_balance_is_refused(text):
    with pytest.raises(FormulaError, match="bracket string"):
        parse_bracket_string(text)


def test_error_names_the_place():
    with pytest.raises(FormulaError, match="at character 11"):
        parse_bracket_string("[V!x,a[N!2]")


@pytest.mark.parametrize("text", ["[,e[V!x]]", "[,[V!y]]", "[V!a,e[,e[V!R]]]", "[]"])
def test_empty_labels_and_commas_are_told_apart(text):
    assert format_bracket_string(parse_bracket_string(text), "slt") == text
    assert parse_bracket_string("[,e[V!x]]").label == ""
    assert parse_bracket_string("[,[V!y]]").label == ","
