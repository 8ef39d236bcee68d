from __future__ import annotations

import unicodedata

import pytest

from mathamr_kedro.formula.latex.alphabets import (
    FONTS,
    MATH,
    choose_font,
    embolden,
    find_variant,
    merge_fonts,
    restyle,
)


@pytest.mark.parametrize(
    "variant",
    "bold italic bold-italic sans-serif monospace script fraktur double-struck".split(),
)
def test_letters_fold_back_to_plain_ones(variant):
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

    styled = restyle(letters, variant)

    assert styled != letters
    assert unicodedata.normalize("NFKC", styled) == letters


def test_text_with_a_letter_that_lacks_is_not_restyled():
    assert restyle("a+b", "bold") is None
    assert restyle("a", "") is None


@pytest.mark.parametrize(
    ("char", "font", "variant"),
    [
        ("x", MATH, "italic"),
        ("1", MATH, ""),
        ("α", MATH, "italic"),
        ("Γ", MATH, ""),
        ("∞", MATH, ""),
        ("x", FONTS["bf"], "bold"),
        ("α", FONTS["bf"], "italic"),
        ("Γ", FONTS["bf"], "bold"),
        ("1", FONTS["bb"], "double-struck"),
        ("sin", FONTS["bf"], ""),
        ("α", embolden(MATH), "bold-italic"),
        ("+", embolden(MATH), "bold"),
    ],
)
def test_symbol_shows_the_font_its_kind_allows(char, font, variant):
    assert find_variant(choose_font(char, font)) == variant


def test_only_boldsymbol_outlives_another_font():
    assert merge_fonts(FONTS["bf"], FONTS["rm"]) == FONTS["rm"]
    assert find_variant(merge_fonts(embolden(MATH), FONTS["rm"])) == "bold"
