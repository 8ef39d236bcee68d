from __future__ import annotations

from mathamr_kedro.formula.latex.token_stream import TokenStream
from mathamr_kedro.formula.latex.tokens import END, split_tokens


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
