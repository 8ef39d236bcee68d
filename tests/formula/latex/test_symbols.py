from __future__ import annotations

import pytest

from mathamr_kedro.formula.latex.alphabets import ROMAN
from mathamr_kedro.formula.latex.symbols import (
    ABSENT,
    COMMANDS,
    LIMITS,
    SYMBOLS,
    Symbol,
    label_meaning,
)

ROLES = (
    "ADDOP ARROW BIGOP BINOP CLOSE DIFFOP FUNCTION ID INTOP LIMITOP METARELOP MULOP"
    " MODIFIEROP NUMBER OPEN OPERATOR OPFUNCTION PERIOD POSTFIX PUNCT RELOP SUMOP SUPOP"
    " TRIGFUNCTION UNKNOWN VERTBAR"
)


def test_every_symbol_has_a_role_the_grammar_knows():
    known = set(ROLES.split())

    assert {symbol.role for symbol in SYMBOLS.values()} <= known


def test_every_command_has_a_label_in_both_trees():
    for command, symbol in COMMANDS.items():
        assert symbol.slt, command
        assert symbol.opt[1] == "!", command


def test_commands_with_limits_are_symbols():
    assert LIMITS <= set(COMMANDS)


@pytest.mark.parametrize(
    ("token", "slt", "opt"),
    [
        ("x", "V!x", "V!𝑥"),
        ("7", "N!7", "N!7"),
        ("-", "-", "O!minus"),
        (",", "&comma;", "V!&comma;"),
        ("[", "&lsqb;", "V!&lsqb;"),
        (r"\sin", "V!sin", "F!sin"),
        (r"\lim", "lim", "O!limit"),
        (r"\infty", "V!∞", "C!infinity"),
        (r"\cup", "∪", "U!union"),
        (r"\to", "→", "V!→"),
        (r"\hbar", "V!ℏ", "C!hbar"),
    ],
)
def test_symbol_has_its_labels(token, slt, opt):
    assert (SYMBOLS[token].slt, SYMBOLS[token].opt) == (slt, opt)


def test_absent_symbol_is_a_blank():
    assert (ABSENT.slt, ABSENT.opt) == ("W!", "W!")


def test_letter_as_an_operator_is_drawn_in_its_font():
    d = SYMBOLS["d"].with_meaning("DIFFOP", "differential-d")

    assert (d.slt, d.opt) == ("𝑑", "O!differential-d")


def test_number_as_an_operator_keeps_its_value():
    assert SYMBOLS["1"].with_role("OVERACCENT").opt == "N!1.0"


def test_minus_typed_as_a_character_is_a_letter_in_the_layout():
    minus = Symbol.letter("−", ROMAN)

    assert (minus.slt, minus.opt) == ("V!−", "V!-")


@pytest.mark.parametrize(
    ("meaning", "label"),
    [
        ("delimited-[]", "M!D-lsqb;&rsqb;"),
        ("delimited-⟨⟩", "M!D-⟩"),
        ("tensor-product", "U!tensor-product"),
        ("Weierstrass-p", "O!weierstrass-p"),
    ],
)
def test_meaning_has_a_label(meaning, label):
    assert label_meaning(meaning) == label


def test_invisible_operators_have_no_label():
    assert Symbol("MULOP", "\u2062", "times").slt == ""
