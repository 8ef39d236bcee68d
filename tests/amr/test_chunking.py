from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mathamr_kedro.amr.chunking import (
    count_tokens,
    cut_long,
    split_chunks,
    split_sentences,
)
from tests.amr import slow_chunking

# Sentences between bars.
CASES = [
    "Let FORMULA_0 be a group.|Then FORMULA_1 holds.",
    "We have FORMULA_0, i.e. FORMULA_1 is even.|So we are done!",
    "Take a field, e.g. FORMULA_0. |Is it closed?",
    "By Thm. 3 and Eq. (5) it holds w.r.t. FORMULA_0 a.e. on FORMULA_1.",
    "The book of G. H. Hardy helps.|Read it.",
    "This holds over the field K.|Then we are done.",
    "It is about 3.14 or 2. |The rest is clear.",
    "is it true?|i think it is.|thanks in advance",
    "Find FORMULA_0 |How do I start",
    "Consider FORMULA_0 |Then compute FORMULA_1.",
    "I know that FORMULA_0 I mean.",
    "Hm... let me think.",
    'He asked "why?" and left.',
    "(This is true.)|Now go on.",
    "i think so.|is it?",
    "Sets, maps, etc. are fine.|Sets, maps, etc.|We go on.",
    "Prof. Weil and Dr. Artin agreed.",
    "So far so good. :)",
]


@pytest.mark.parametrize("marked", CASES)
def test_sentences_of_mathematical_prose(marked):
    expected = [part.strip() for part in marked.split("|")]
    assert split_sentences(marked.replace("|", " ")) == expected


def test_a_forgotten_blank_still_ends_a_sentence():
    assert split_sentences("It converges.Then stop.") == [
        "It converges.",
        "Then stop.",
    ]


def test_lists_and_paragraphs_end_sentences():
    text = "We need:\n1. a ring\n2. an ideal\n- a map\n\nThat is\nall of it"
    assert split_sentences(text) == [
        "We need:",
        "1. a ring",
        "2. an ideal",
        "- a map",
        "That is all of it",
    ]


@pytest.mark.slow
@given(st.text())
def test_nothing_but_blanks_is_lost(text):
    sentences = split_sentences(text)
    kept = "".join("".join(sentences).split())
    visible = "".join(c for c in text if c in set(kept))
    assert kept == "".join(visible.split())
    assert all(s == s.strip() and s for s in sentences)


@given(
    st.lists(st.sampled_from(["FORMULA_0", "a", "b,", "c.", "D", "e?"]), max_size=60),
    st.integers(1, 9),
)
def test_chunks_keep_all_words_and_the_limit(words, limit):
    chunks = split_chunks(" ".join(words), limit)
    assert "".join("".join(c.text.split()) for c in chunks) == "".join(words)
    assert all(count_tokens(chunk.text) <= limit for chunk in chunks)


def test_a_sentence_above_the_limit_is_cut_at_a_comma():
    chunks = split_chunks("a b c d e f, g h i", 8)
    assert [c.text for c in chunks] == ["a b c d e f,", "g h i"]


PIECES = (
    ". .. ... ? ! … 。 ( ) \" ” 1. a) (1) - ; : , word Word x 中 _ * don't i.e. e.g. "
    "etc. a.e. K. A.B. Hardy Then so FORMULA_1 FORMULA_22 FORMULA_3."
).split()


@given(st.lists(st.sampled_from([*PIECES, " ", " ", " ", "\n", "\n\n"]), max_size=40))
@example(["K.", "。", "。", " ", "Hardy"])
def test_sentences_and_pieces_equal_those_of_the_slow_twin(pieces):
    text = "".join(pieces)
    sentences = split_sentences(text)
    assert sentences == slow_chunking.split_sentences(text)
    for sentence in sentences:
        assert cut_long(sentence, 3) == slow_chunking.cut_long(sentence, 3)
