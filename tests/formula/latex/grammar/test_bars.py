"""Bars and angle brackets. The trees are those of LaTeXML 0.8.7."""

from __future__ import annotations

from mathamr_kedro.formula.latex import trees_from_latex
from mathamr_kedro.formula.latex.grammar.factors import turn_bar
from mathamr_kedro.formula.latex.symbols import SYMBOLS


def test_nested_bars_are_found_in_a_second_attempt():
    assert trees_from_latex("|a|b|c|").problems == {}


def test_bar_turns_into_a_fence_or_a_separator():
    bar = SYMBOLS["|"]

    assert turn_bar(bar, "OPEN").slt == "|"
    assert turn_bar(bar, "PUNCT").slt == "∣"
    assert turn_bar(SYMBOLS[r"\|"], "OPEN").text == "‖"
