"""Nodes in words."""

from __future__ import annotations

from mathamr_kedro.corpus import clean_text
from mathamr_kedro.search.captions import caption_nodes

CLEAN, _ = clean_text(
    "", "Why is $a$ odd? Since $b = 2a + 1$.", "7", lambda f: None, "text"
)


def test_formulas_and_sentences_have_their_words():
    assert caption_nodes(*CLEAN, kinds=[0, 0, 1, 1, 2]) == {
        (0, 0): "$a$",
        (0, 1): "$b = 2a + 1$",
        (1, 0): "Why is $a$ odd?",
        (1, 1): "Since $b = 2a + 1$.",
    }


def test_sentences_of_another_parser_stay_without_words():
    assert caption_nodes(*CLEAN, kinds=[0, 0, 1, 2]).keys() == {(0, 0), (0, 1)}
