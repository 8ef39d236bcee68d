from __future__ import annotations

import pytest

from mathamr_kedro.formula.latex.tokens import END, TokenStream, split_tokens


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


def test_backslash_at_the_end_is_a_space():
    assert split_tokens("a\\") == ["a", "\\ ", END]


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("a &amp; b &gt; c", "a&b>c"),
        ("a % b\nc", "ac"),
        (r"50\% % half", r"50\%"),
        (r"a \\% b", r"a\\"),
        ("$a$", "a"),
        ("$$a$$", "a"),
        ("$a$ b", "$a$b"),
        (r"\[ a \]", "a"),
        ("a\\ ", "a\\ "),
        ("a\xa0b", "a\xa0b"),
    ],
)
def test_entities_comments_and_outer_dollars_are_no_tokens(written, read):
    assert "".join(split_tokens(written)) == read


def _stream(latex: str) -> TokenStream:
    return TokenStream(split_tokens(latex))


def test_end_is_never_taken():
    stream = _stream("a")

    assert [stream.take(), stream.take(), stream.take()] == ["a", END, END]


def test_raw_argument_is_a_group_or_one_token():
    stream = _stream("{a{b}}c")

    assert [stream.take_raw_argument(), stream.take_raw_argument()] == ["a{b}", "c"]


def test_group_without_end_reaches_to_the_end():
    stream = _stream("{a{b}")

    assert stream.take_tokens() == ["{", "a", "{", "b", "}", "}"]
    assert stream.take() == END


def test_option_ends_at_its_own_bracket():
    stream = _stream("[a{]}b]c")

    assert stream.take_raw_option() == "a{]}b"
    assert stream.take() == "c"


def test_no_bracket_is_no_option():
    assert _stream("a]").take_raw_option() is None


def test_option_stops_where_the_group_does():
    stream = _stream("[a}b]")

    assert stream.take_raw_option() == "a"
    assert stream.take() == "}"


def test_length_needs_a_unit():
    assert _stream("-3pt x").take_length() == "-3pt"
    assert _stream("3 apples").take_length() == ""
