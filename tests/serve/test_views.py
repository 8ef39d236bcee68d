"""Texts as a page shows them."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from mathamr_kedro.base.records import CleanText, FormulaMention, Post
from mathamr_kedro.formula import PatternMatch
from mathamr_kedro.graph import DOCUMENT, FORMULA, SENTENCE
from mathamr_kedro.search import Answer, Explanation, Result
from mathamr_kedro.search.explanation import Match, Node
from mathamr_kedro.search.responses import to_plain
from mathamr_kedro.serve.views import (
    TextView,
    show_answer,
    show_explanation,
    show_formula,
    show_post,
    show_words,
)
from mathamr_kedro.systems import ScorePart

F0, S1, DOC = Node(FORMULA, 0, "$x$"), Node(SENTENCE, 0, "a"), Node(DOCUMENT)
TEXT = (
    "A title with FORMULA_0\n\nLet FORMULA_1 be even. Nothing here. It is odd. "
    "So FORMULA_12 is odd, and FORMULA_7 is unknown."
)
LATEX = {"FORMULA_0": "x", "FORMULA_1": r"\frac12", "FORMULA_12": "{" * 99}


@pytest.fixture
def view() -> TextView:
    mentions = [
        FormulaMention(name, f"id-{name}", "", latex, 0, 0)
        for name, latex in LATEX.items()
    ]
    return TextView(TEXT, mentions)


def join(parts: Any) -> str:
    return "".join(getattr(p, "text", None) or f"<{p.key}>" for p in parts)


def test_sentences_have_the_names_of_their_nodes(view: TextView) -> None:
    assert [(s.key, s.new_paragraph, join(s.parts)) for s in view.sentences] == [
        ("S1", False, "A title with <F0>"),
        ("S2", True, "Let <F1> be even."),
        ("S3", False, "Nothing here."),
        ("S4", False, "It is odd."),
        ("S5", False, "So <F12> is odd, and FORMULA_7 is unknown."),
    ]


def test_formulas_come_with_their_drawing_or_alone(view: TextView) -> None:
    drawn, undrawn = view.sentences[1].parts[1], view.sentences[4].parts[1]
    assert drawn.mathml.startswith("<math")
    assert drawn.formula_id == "id-FORMULA_1"
    assert (undrawn.latex, undrawn.mathml) == ("{" * 99, None)


@pytest.mark.parametrize(
    ("keys", "shown"),
    [
        ({"F1", "S5"}, [("S2", True), ("S5", True)]),
        ({"S1", "S2"}, [("S1", False), ("S2", False)]),
        ({"D"}, [("S1", False), ("S2", False), ("S3", False), ("S4", False)]),
    ],
)
def test_what_matched_is_shown(view: TextView, keys: Any, shown: Any) -> None:
    assert [(s.key, s.gap) for s in view.choose(keys)] == shown


def test_words_with_dollars_are_read_as_formulas() -> None:
    parts = to_plain(show_words("so $x$ costs 5$"))
    assert [p.get("text", p.get("latex")) for p in parts] == ["so ", "x", " costs 5$"]


def test_a_sentence_whose_spaces_were_changed_begins_no_paragraph() -> None:
    view = TextView("It\u00a0is.\n\nIt is\u00a0so.\n\nEnd.", ())
    found = [(join(s.parts), s.new_paragraph) for s in view.sentences]
    assert found == [("It is.", False), ("It is so.", False), ("End.", True)]


QUESTION = Post(
    "1", "question", "1", None, None, "2020-01-02T03:04:05", 7, ("algebra",),
    "Is FORMULA_0 odd?", "Is FORMULA_0 odd?\n\nI ask.",
    (FormulaMention("FORMULA_0", "9", "", "x", 3, 12),),
)  # fmt: skip
REPLY = Post(
    "2", "answer", "1", "1", None, None, None, (), "",
    "Yes. Well. See FORMULA_1. It is. End.",
    (FormulaMention("FORMULA_1", "8", "", "y^2", 15, 24),),
)  # fmt: skip


def show(result: Result, compared: Any = None, texts: Any = None) -> dict[str, Any]:
    texts = {"1": QUESTION, "2": REPLY} if texts is None else texts
    answer = Answer((result,), ("slow",), None, texts, ("2",))
    found = to_plain(show_answer(answer, compared or {}))
    assert (found["query"], found["warnings"]) == ([], ["slow"])
    return found["results"][0]


def test_a_result_is_shown_with_what_is_known_of_its_post() -> None:
    matches = (
        Match(F0, Node(FORMULA, 1, "$y^2$"), 0.123456, 1.0),
        Match(S1, Node(SENTENCE, 3, "b"), 0.5, 1),
    )
    parts = (ScorePart("bm25", 0.12345678, 3.0), ScorePart("own", 0.2, math.nan))
    pattern = PatternMatch({"?a": "z"}, is_whole=True)
    result = Result(
        3, "2", 0.98765432, "answer", "A $t$", "", matches, parts, None, pattern
    )
    shown = show(result)
    assert shown == {
        "rank": 3, "post_id": "2", "score": 0.987654, "type": "answer",
        "title": to_plain(show_words("A $t$")),
        "matches": [
            {"query": "F0", "post": "F1", "similarity": 0.1235},
            {"query": "S1", "post": "S4", "similarity": 0.5},
        ],
        "parts": [
            {"system": "bm25", "share": 0.123457, "score": 3.0, "words": []},
            {"system": "own", "share": 0.2, "score": None, "words": []},
        ],
        "pattern": {"whole": True, "bindings": {"?a": to_plain(show_formula("z"))}},
        "same": None, "close": None, "closeness": None,
        "tags": ["algebra"], "date": None, "votes": None,  # tags are the question's
        "statement": None,
        "sentences": shown["sentences"],
    }  # fmt: skip
    assert [(s["key"], s["gap"]) for s in shown["sentences"]] == [
        ("S3", True), ("S4", False),
    ]  # fmt: skip


def test_a_result_without_a_text_has_no_sentences() -> None:
    shown = show(Result(1, "2", 0.5, "answer", "", "", ()), texts={})
    about = {name: shown[name] for name in ("tags", "date", "votes", "sentences")}
    assert about == {"tags": [], "date": None, "votes": None, "sentences": []}
    assert shown["pattern"] is None


def test_what_was_found_by_its_text_is_compared_with_the_query() -> None:
    similarity = np.array([[0.9, 0.1, 0.25], [0.8, 0.7, 0.3], [0.5, 0.2, 0.1]])
    nodes = (DOC, Node(SENTENCE, 0, "b"), Node(FORMULA, 1, "$y^2$"))
    compared = Explanation("q", "2", (DOC, F0, S1), nodes, similarity)
    result = Result(1, "2", 0.5, "answer", "", "", (Match(F0, DOC, 0.5, 1.0),))
    assert show(result, {"2": compared})["matches"] == [
        {"query": "F0", "post": "S1", "similarity": 0.7},
        {"query": "S1", "post": "S1", "similarity": 0.2},
    ]
    alone = Explanation("q", "2", (DOC, F0), (DOC,), np.array([[0.9], [0.8]]))
    assert show(result, {"2": alone})["matches"] == []


def test_the_query_is_shown_as_it_was_read() -> None:
    written = CleanText("Is FORMULA_0 odd?", QUESTION.formula_map)
    answer = Answer((), (), SimpleNamespace(written=written))
    (sentence,) = show_answer(answer).query
    assert (sentence.key, join(sentence.parts)) == ("S1", "Is <F0> odd?")


def test_an_answer_has_the_title_and_tags_of_its_question() -> None:
    shown = show_post(REPLY, QUESTION)
    assert join(shown.title) == "Is <F0> odd?"
    assert (shown.tags, shown.question_id, shown.type) == (
        ("algebra",), "1", "answer",
    )  # fmt: skip
    assert (shown.date, shown.votes) == (None, None)
    assert len(shown.sentences) == 5
    alone = show_post(REPLY, None)
    assert (alone.title, alone.tags) == ((), ())
    own = show_post(QUESTION, None)
    assert (own.date, own.votes) == ("2020-01-02", 7)
    assert join(own.title) == "Is <F0> odd?"


def test_an_explanation_names_rows_and_columns() -> None:
    similarity = np.array([[0.123456, 0.5], [0.25, 0.1]])
    nodes = (Node(SENTENCE, 0, "a $y$ b"), DOC)
    terms = (Match(DOC, F0, 0.5, 0.4, in_question=True, note="twice"),)
    found = Explanation("q", "2", (F0, DOC), nodes, similarity, terms=terms)
    post = show_post(REPLY, QUESTION)
    shown = show_explanation(found, TextView("Is it?", ()), post)
    assert [row.key for row in shown.rows] == ["F0", "D"]
    assert shown.rows[0].parts == show_words("$x$")
    assert shown.columns[0].parts == show_words("a $y$ b")
    assert shown.similarity == ((0.1235, 0.5), (0.25, 0.1))
    assert (shown.best, shown.maxsim) == ((1, 0), 0.375)
    (term,) = shown.terms
    assert (term.query, term.post) == (
        show_words("the whole text (twice)"),
        show_words("$x$"),
    )
    assert (term.in_question, term.share) == (True, 0.2)
    assert (shown.post, join(shown.query[0].parts)) == (post, "Is it?")
