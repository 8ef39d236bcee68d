"""Labels."""

from __future__ import annotations

import pytest

from mathamr_kedro.formula.node import ARQMATH_SPELLING, clean_text, escape_label


@pytest.mark.parametrize(
    ("text", "label"),
    [
        (None, ""),
        ("", ""),
        ("\u00a0x\u00a0", "x"),
        ("a\tb\nc", "a\\tb\\nc"),
        ("?,[]", "&quest;&comma;&lsqb;&rsqb;"),
        ("!|{(&", "!|{(&"),
        ("\u2061", ""),
        (" \u2063 ", ""),
        ("\u2062\u2062", "\u2062\u2062"),
        ("𝑥", "𝑥"),
        ("Word, " * 20, ("Word&comma; " * 20).strip()),
    ],
)
def test_text_is_cleaned_as_published(text, label):
    assert clean_text(text) == label


def test_lone_comma_needs_no_escape():
    assert escape_label(",") == ","
    assert escape_label(",,") == "&comma;&comma;"


def test_compat_writes_minus_and_norm_as_arqmath():
    assert "\u2212\u2016".translate(ARQMATH_SPELLING) == "-\u2225"
