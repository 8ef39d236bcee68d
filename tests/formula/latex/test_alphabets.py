from __future__ import annotations

import unicodedata

import pytest

from mathamr_kedro.formula.latex.alphabets import FONTS, MATH, ROMAN, Font


@pytest.mark.parametrize(
    "font",
    [
        *(FONTS[name] for name in "bf it sf tt cal frak bb".split()),
        Font("serif", bold=True, italic=True),
    ],
)
def test_letters_fold_back_to_plain_ones(font):
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

    styled = font.restyle(letters)

    assert styled != letters
    assert unicodedata.normalize("NFKC", styled) == letters


def test_text_with_a_letter_that_lacks_is_not_restyled():
    assert FONTS["bf"].restyle("a+b") is None
    assert ROMAN.restyle("a") is None


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
        ("α", MATH.embolden(), "bold-italic"),
        ("+", MATH.embolden(), "bold"),
    ],
)
def test_symbol_shows_the_font_its_kind_allows(char, font, variant):
    assert font.choose(char).variant == variant


def test_only_boldsymbol_outlives_another_font():
    assert FONTS["bf"].select(FONTS["rm"]) == FONTS["rm"]
    assert MATH.embolden().select(FONTS["rm"]).variant == "bold"
