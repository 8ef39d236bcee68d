from __future__ import annotations

import pytest

from mathamr_kedro.formula.latex.layout_tree import attach, join, link
from mathamr_kedro.formula.node import Node
from mathamr_kedro.formula.slt_groups import link_row, make_group
from mathamr_kedro.formula.tree import FormulaTree


def _parts(text):
    """Make one baseline per word of ``text``, of one node per character."""
    return [[Node(char) for char in word] for word in text.split(" ")]


def _write(baseline):
    return FormulaTree("slt", link(baseline)).to_string()


@pytest.mark.parametrize(
    ("row", "drawn"),
    [
        ("a b", "[a[b]]"),
        ("ab c", "[a[b[c]]]"),
        ("( a )", "[M!()1x1,w[a]]"),
        ("( ab )", "[M!()1x1,w[a[b]]]"),
        ("( a,b )", "[M!()1x2,w[a[,],e[b]]]"),
        ("( a , b )", "[M!()1x2,w[a[,],e[b]]]"),
        ("( , b )", "[M!()1x2,w[W![,],e[b]]]"),
        ("( ,b )", "[M!()1x2,w[W![,],e[b]]]"),
        ("( a,, )", "[M!()1x2,w[a[,],e[,]]]"),
        ("| a )", "[M!|)1x1,w[a]]"),
        ("( )", "[([)]]"),
        ("< a >", "[<[a[>]]]"),
    ],
)
def test_row_is_a_baseline_or_a_group(row, drawn):
    assert _write(join(_parts(row))) == drawn


@pytest.mark.parametrize(
    "row", ["( a )", "( ab )", "( a,b )", "( a , b )", "( a,b,c )"]
)
def test_groups_are_those_of_the_reader_of_mathml(row):
    heads = [link(part) for part in _parts(row)]
    twin = make_group("(", heads[1:-1], ")")

    assert _write(join(_parts(row))) == FormulaTree("slt", twin).to_string()


def test_tables_side_by_side_merge_as_in_mathml():
    def tables():
        found = []
        for text in "ab":
            table = Node("M!1x1")
            table.edges["w"] = Node(text)
            found.append(table)
        return found

    twin = link_row(tables())

    joined = join([[table] for table in tables()])

    assert _write(joined) == FormulaTree("slt", twin).to_string() == "[M!1x2,w[a,e[b]]]"


def test_blanks_vanish_from_rows():
    assert _write(join([[Node("a")], [Node("W!")], [], [Node("")], [Node("b")]])) == (
        "[a[b]]"
    )
    assert join([[Node("W!")]]) == []


def test_scripts_of_operators_are_limits():
    assert _write(attach([Node("+")], [Node("a")], None, limits=False)) == "[+,u[a]]"
    assert (
        _write(attach([Node("V!x")], [Node("a")], None, limits=False)) == "[V!x,b[a]]"
    )


def test_base_that_cannot_carry_a_script_is_boxed():
    base = [Node("V!x"), Node("V!y")]

    assert _write(attach(base, None, [Node("N!2")], limits=False)) == (
        "[M!1x1,a[N!2],w[V!x[V!y]]]"
    )
