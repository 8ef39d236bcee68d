"""The work of the grammar stays within its limits."""

from __future__ import annotations

import pytest

from mathamr_kedro.formula.latex import trees_from_latex
from mathamr_kedro.formula.latex.grammar import Grammar, parse_row
from mathamr_kedro.formula.latex.limits import LimitError
from mathamr_kedro.formula.latex.symbols import SYMBOLS


def _row(text):
    return [SYMBOLS[char] for char in text]


def test_row_that_takes_too_many_steps_is_given_up(monkeypatch):
    monkeypatch.setattr("mathamr_kedro.formula.latex.grammar.formulas.MAX_STEPS", -200)

    with pytest.raises(LimitError, match="work_limit"):
        parse_row(_row("(a)(b)"))
    assert trees_from_latex("(a)(b)").problems == {"work_limit": 1}


def test_factor_is_read_once_at_each_place():
    """Without memory, each level of parentheses would double the work."""
    depth = 25
    grammar = Grammar(_row("(" * depth + "a=b" + ")" * depth), True, 1)

    assert grammar.anything() is not None
    assert len(grammar.factors) <= 3 * depth


def test_failed_rule_leaves_the_place_where_it_was():
    grammar = Grammar(_row("(a"), True, 1)

    assert grammar.factor() is None
    assert grammar.i == 0
