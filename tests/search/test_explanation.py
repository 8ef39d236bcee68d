"""Similarity matrices, matches, nodes in words."""

from __future__ import annotations

import math

import numpy as np
import pytest

from mathamr_kedro.base.records import CleanText, FormulaMention
from mathamr_kedro.corpus.extraction import clean_text
from mathamr_kedro.graph import DOCUMENT, FORMULA, SENTENCE
from mathamr_kedro.search.explanation import (
    Match,
    Node,
    describe_parts,
    explain,
    list_nodes,
)
from mathamr_kedro.systems import ScorePart, Term
from mathamr_kedro.vectors.post_vectors import PostEntry, PostVectors
from tests.vectors.conftest import draw_post, draw_query, slow_maxsim

QUERY = PostEntry(
    "A.301", "topic", np.eye(4, dtype="f4")[[0, 1, 3]], [0, 1, 2], [0, 0, 0], ["q_1"],
    ["9"],
)  # fmt: skip
POST = PostEntry(
    "17", "answer",
    np.array([[0.6, 0.8, 0, 0], [0, 1, 0, 0], [0, 0, 0.6, 0.8]], dtype="f4"),
    [0, 1, 2], [2, 1, 0], ["55"], ["7"],
)  # fmt: skip
TEXT = CleanText(
    "Why\nFORMULA_0 ?", (FormulaMention("FORMULA_0", "q_1", "9", r"\sqrt{2}", 4, 13),)
)


def test_matches_are_the_best_partners():
    explanation = explain(QUERY, POST, TEXT)
    words = (r"F0 $\sqrt{2}$", r"S1 Why $\sqrt{2}$ ?", "D")
    assert tuple(map(str, explanation.query_nodes)) == words
    assert tuple(map(str, explanation.post_nodes)) == ("F2", "S2", "D")
    found = [
        (m.query.key, m.post.key, round(m.similarity, 6)) for m in explanation.matches()
    ]
    assert found == [("S1", "S2", 1.0), ("D", "D", 0.8), ("F0", "F2", 0.6)]
    parts = explanation.match_parts()
    assert [(m.query.key, m.post.key) for m in parts] == [("F0", "F2"), ("S1", "S2")]
    assert explanation.score == pytest.approx((0.6 + 1.0 + 0.8) / 3)
    shares = [match.share for match in explanation.matches()]
    assert sum(shares) == pytest.approx(explanation.score)
    assert explanation.document == pytest.approx(0.8)
    bare = QUERY._replace(vectors=QUERY.vectors[:2], kinds=[0, 1], numbers=[0, 0])
    assert explain(bare, POST).document is None


def test_lines_of_a_score_add_up_however_few_are_shown():
    whole = Node(DOCUMENT)
    matches = [Match(Node(SENTENCE, n), whole, 0.5, 0.1) for n in range(10)]
    parts = [
        ScorePart("ours", 0.25, 0.5, (Term(0, "7", 0, 0.5, 0.1),)),
        ScorePart("bm25", 0.0, math.nan),
    ]
    lines = describe_parts(parts, matches, limit=3)
    assert lines == [
        "  0.2500  by ours, whose own score is 0.5000",
        "  0.0000  by bm25, which did not find it",
        "ours 0.5000 is the sum of:",
        *(f"  0.0500 = 0.100 ×  0.500  S{n}  ~  D" for n in (1, 2, 3)),
        "  0.3500  of 7 other matches",
    ]
    assert describe_parts(parts[:1], matches[:1], 3) == lines[3:4]
    long = str(Match(Node(SENTENCE, 0, "x" * 400), whole, 0.5, 1.0))
    assert len(long) < 130


def test_a_match_says_where_its_sides_are():
    whole, formula = Node(DOCUMENT), Node(FORMULA, 2, "$x$")
    said = str(Match(whole, formula, 0.5, 1.0, in_question=True, note="by hand"))
    assert said == "  0.5000  D (by hand)  ~  question F2 $x$"


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


def name_nodes(*kinds):
    numbers = [kinds[:i].count(kind) for i, kind in enumerate(kinds)]
    entry = PostEntry("7", "answer", np.eye(len(kinds)), kinds, numbers)
    return list(map(str, list_nodes(entry, CLEAN)))


def test_formulas_and_sentences_have_their_words():
    assert name_nodes(0, 0, 1, 1, 2) == [
        "F0 $a$", "F1 $b = 2a + 1$",
        "S1 Why is $a$ odd?", "S2 Since $b = 2a + 1$.", "D",
    ]  # fmt: skip


def test_sentences_of_another_parser_stay_without_words():
    assert name_nodes(0, 0, 1, 2) == ["F0 $a$", "F1 $b = 2a + 1$", "S1", "D"]
