from __future__ import annotations

import pytest

from mathamr_kedro.formula.latex import trees_from_latex
from mathamr_kedro.formula.latex.boxes import MAX_WORD


@pytest.mark.parametrize(
    ("latex", "slt"),
    [
        ("1 2 3", "[N!123]"),
        ("1.5", "[N!1.5]"),
        ("x.5", "[V!x[N!.5]]"),
        ("{1}{2}", "[N!12]"),
        (r"1\,2", "[N!1\u20092]"),
        (r"x\,2", "[V!x[N!2]]"),
        ("x^12", "[V!x[N!2],a[N!1]]"),
        ("a...b", "[V!a[V!…[V!b]]]"),
        (r"\cdot\cdot\cdot", "[V!⋯]"),
        ("n!!", "[V!n[!!]]"),
        ("x:=1", "[V!x[:=[N!1]]]"),
        (r"x\coloneqq1", "[V!x[:=[N!1]]]"),
        (r"\empty x", "[V!x]"),
        (r"\mathrm{d}x", "[V!d[V!x]]"),
        (r"\mathrm{d2}", "[V!d2]"),
        (r"\mathrm{d}2", "[V!d2]"),
        (r"2\mathrm{dx}", "[N!2[V!d[V!x]]]"),
        (r"\mathit{ab}", "[V!𝑎𝑏]"),
        (r"\mathcal{AB}", "[V!𝒜[V!ℬ]]"),
    ],
)
def test_neighbours_are_one_symbol(latex, slt):
    assert trees_from_latex(latex).slt.to_string() == slt


def test_number_is_worth_its_digits():
    assert trees_from_latex(r"1\,000.5").opt.to_string() == "[N!1000.5]"


def test_endless_number_stays_in_pieces():
    nodes = trees_from_latex(r"1\," * 1000).slt.nodes

    assert len(nodes) > 1
    assert max(map(len, nodes)) <= 2 * MAX_WORD


@pytest.mark.parametrize(("length", "pieces"), [(MAX_WORD, 1), (MAX_WORD + 1, 2)])
def test_a_number_has_room_for_as_many_characters_as_a_word(length, pieces):
    latex = "1" * 100 + r"\," + "1" * (length - 101)  # the space is one as well
    assert len(trees_from_latex(latex).slt.nodes) == pieces
