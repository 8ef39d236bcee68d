"""What is known of words without any learning."""

import pytest

from mathamr_kedro.amr.builtin.words import (
    Lexicon,
    find_adjective,
    is_frame,
    is_variable,
    read_number,
    read_ordinal,
)


@pytest.mark.parametrize(
    ("adverb", "adjective"),
    [
        ("only", "only"), ("fly", "fly"), ("clear", "clear"), ("soon", "soon"),
        ("badly", "bad"), ("happily", "happy"), ("suitably", "suitable"),
        ("cyclically", "cyclic"),
    ],
)  # fmt: skip
def test_adverbs_lead_to_their_adjectives_and_short_words_to_themselves(
    adverb, adjective
):
    assert find_adjective(adverb) == adjective


@pytest.mark.parametrize(
    ("word", "number"),
    [
        ("zero", "0"), ("nineteen", "19"), ("Twenty", "20"), ("ninety", "90"),
        ("dozen", "12"), ("thousand", "1000"), ("million", "1000000"),
        ("billion", "1000000000"), ("+3", "3"), ("-3", "-3"), ("1,234.50", "1234.50"),
        ("3rd", None), ("x", None),
    ],
)  # fmt: skip
def test_words_and_digits_are_numbers(word, number):
    assert read_number(word) == number


@pytest.mark.parametrize(
    ("word", "number"),
    [
        ("zeroth", "0"),
        ("First", "1"),
        ("twentieth", "20"),
        ("102ND", "102"),
        ("2", None),
    ],
)
def test_ordinals_have_a_number(word, number):
    assert read_ordinal(word) == number


def test_frames_end_in_their_number():
    names = ("prove-01", "have-degree-91", "be-located-at-91", "twenty-1", "set")
    assert [is_frame(name) for name in names] == [True, True, True, False, False]


def test_signs_and_digits_are_no_variables():
    assert not any(map(is_variable, ("", "+", "2", "A", "i")))
    assert is_variable("ε")


def test_a_verb_has_its_frames_in_order_and_others_with_a_particle():
    frames = dict.fromkeys(["set-02", "set-up-03", "set-01", "come-across-21"], "01")
    lexicon = Lexicon(frames, {}, {})
    assert lexicon.find_frames("set") == ("set-01", "set-02")
    assert lexicon.find_frames("set", "up") == ("set-up-03",)
    assert lexicon.find_frames("come") == ()
