from __future__ import annotations

import pytest

from mathamr_kedro.formula.latex.tokens import END, clean_source, split_tokens


def test_command_is_one_token_and_other_characters_are_single():
    assert split_tokens(r"\frac{a}2\,") == [
        r"\frac",
        "{",
        "a",
        "}",
        "2",
        r"\,",
        END,
    ]


def test_spaces_are_tokens_only_beside_text():
    assert split_tokens("a b") == ["a", "b", END]
    assert split_tokens(r"\text{a b}") == [r"\text", "{", "a", " ", "b", "}", END]


def test_line_breaks_are_spaces():
    assert split_tokens("a\r\n\tb") == ["a", "b", END]
    assert split_tokens("\\mbox{a\n b}") == ["\\mbox", "{", "a", " ", "b", "}", END]


def test_backslash_at_the_end_is_a_token():
    assert split_tokens("a\\") == ["a", "\\", END]


@pytest.mark.parametrize(
    ("written", "clean"),
    [
        ("a &amp; b &gt; c", "a & b > c"),
        ("a % b\nc", "a \nc"),
        (r"50\% % half", r"50\%"),
        (r"a \\% b", r"a \\"),
        ("$a$", "a"),
        ("$$a$$", "a"),
        ("$a$ b", "$a$ b"),
        (r"\[ a \]", "a"),
        ("a\\ ", "a\\ "),
        ("a\xa0b", "a\xa0b"),
    ],
)
def test_source_is_cleaned(written, clean):
    assert clean_source(written) == clean
