"""Bars and angle brackets. The trees are those of LaTeXML 0.8.7."""

from __future__ import annotations

import pytest

from mathamr_kedro.formula.latex import trees_from_latex
from mathamr_kedro.formula.latex.grammar.factors import turn_bar
from mathamr_kedro.formula.latex.symbols import SYMBOLS


@pytest.mark.parametrize(
    ("latex", "opt"),
    [
        ("|a|b|", "[E!,0[O!fragments],1[V!|],2[-!a],3[V!|],4[-!b],5[V!|]]"),
        ("|a|+|b|", "[U!plus,0[F!abs,0[V!𝑎]],1[F!abs,0[V!𝑏]]]"),
        ("||a|-|b||", "[F!abs,0[O!minus,0[F!abs,0[V!𝑎]],1[F!abs,0[V!𝑏]]]]"),
        (r"\left|a\right|", "[F!abs,0[V!𝑎]]"),
        ("|a|^2", "[O!SUP,0[F!abs,0[V!𝑎]],1[N!2]]"),
        (r"\langle a|b\rangle", "[U!inner-product,0[V!𝑎],1[V!𝑏]]"),
        (r"\langle a|H|b\rangle", "[O!quantum-operator-product,0[V!𝑎],1[V!𝐻],2[V!𝑏]]"),
        (r"|a\rangle", "[O!ket,0[V!𝑎]]"),
        (r"\langle a|", "[O!bra,0[V!𝑎]]"),
        ("<a,b>", "[E!,0[O!fragments],1[O!lt],2[-!a],3[V!&comma;],4[-!b],5[O!gt]]"),
        ("<a|b>", "[U!inner-product,0[V!𝑎],1[V!𝑏]]"),
    ],
)
def test_bars_mean_what_they_enclose(latex, opt):
    assert trees_from_latex(latex).opt.to_string() == opt


def test_nested_bars_are_found_in_a_second_attempt():
    assert trees_from_latex("|a|b|c|").problems == {}
    assert trees_from_latex("|1-|x||").opt.to_string() == (
        "[F!abs,0[O!minus,0[N!1],1[F!abs,0[V!𝑥]]]]"
    )


def test_bar_turns_into_a_fence_or_a_separator():
    bar = SYMBOLS["|"]

    assert turn_bar(bar, "OPEN").slt == "|"
    assert turn_bar(bar, "PUNCT").slt == "∣"
    assert turn_bar(SYMBOLS[r"\|"], "OPEN").text == "‖"
