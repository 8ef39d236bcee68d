"""Similarity matrices, matches, nodes in words."""

from __future__ import annotations

import numpy as np
import pytest

from mathamr_kedro.corpus.extraction import clean_text
from mathamr_kedro.search.explanation import caption_nodes, explain
from mathamr_kedro.search.post_vectors import PostEntry, PostVectors

from .conftest import draw_post, draw_query, slow_maxsim

QUERY = PostEntry(
    "A.301", "topic", np.eye(4, dtype="f4")[[0, 1, 3]], [0, 1, 2], [0, 0, 0], ["q_1"],
    ["9"],
)  # fmt: skip
POST = PostEntry(
    "17", "answer",
    np.array([[0.6, 0.8, 0, 0], [0, 1, 0, 0], [0, 0, 0.6, 0.8]], dtype="f4"),
    [0, 1, 2], [2, 1, 0], ["55"], ["7"],
)  # fmt: skip
CAPTIONS = {(0, 0): r"\sqrt{2} $ <b>", (1, 0): "Why?"}


def test_matches_are_the_best_partners():
    explanation = explain(QUERY, POST, CAPTIONS, {(1, 1): "x  is\neven"})
    assert explanation.query_labels == (r"F0 \sqrt{2} $ <b>", "S0 Why?", "D")
    assert explanation.post_labels == ("F2", "S1 x is even", "D")
    found = [(q[:2], p[:2], round(s, 6)) for q, p, s in explanation.matches()]
    assert found == [("S0", "S1", 1.0), ("D", "D", 0.8), ("F0", "F2", 0.6)]
    assert explanation.score == pytest.approx((0.6 + 1.0 + 0.8) / 3)
    assert explanation.document == pytest.approx(0.8)
    bare = QUERY._replace(vectors=QUERY.vectors[:2], kinds=[0, 1], numbers=[0, 0])
    assert explain(bare, POST).document is None


def test_score_is_maxsim():
    post = PostVectors.of([draw_post(np.random.default_rng(3), 5)]).entry(0)
    query = draw_query(1)
    score = explain(query, post).score
    assert score == pytest.approx(slow_maxsim(query.vectors, post.vectors), abs=1e-12)


def test_example_of_the_page_on_retrieval():
    def at(key, kinds, *degrees):
        angles = np.radians(degrees)
        vectors = np.stack([np.cos(angles), np.sin(angles)], axis=1)
        return PostEntry(key, "answer", vectors, kinds, [0] * len(kinds))

    query = at("q", [0, 1, 2], 0, 90, 45)
    first, second = at("1", [0, 1, 2], 0, 90, 180), at("2", [1, 2], 45, 45)
    assert round(explain(query, first).score, 2) == 0.90
    assert round(explain(query, second).score, 2) == 0.80
    assert round(float(query.document() @ first.document()), 2) == -0.71
    assert round(float(query.document() @ second.document()), 2) == 1.0


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
