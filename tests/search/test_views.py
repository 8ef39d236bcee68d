"""Answers as all faces show them: sentences of parts, and lines."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from mathamr_kedro.base.records import FormulaMention, Post
from mathamr_kedro.formula import PatternMatch
from mathamr_kedro.graph import DOCUMENT, FORMULA, SENTENCE
from mathamr_kedro.search import Explanation
from mathamr_kedro.search.answers import FoundTexts
from mathamr_kedro.search.explanation import Match, Node
from mathamr_kedro.search.responses import (
    FoundPost,
    NodeMatch,
    StatementCard,
    SystemShare,
    TextPart,
)
from mathamr_kedro.search.statements import StatementNote
from mathamr_kedro.search.views import (
    TextView,
    show_answer,
    show_explanation,
    show_pattern,
    show_post,
    show_result,
    show_words,
)
from mathamr_kedro.systems import Query, ScorePart

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
    parts = show_words("so $x$ costs 5$")
    assert list(map(str, parts)) == ["so ", "$x$", " costs 5$"]


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


TEXTS = FoundTexts({"1": QUESTION, "2": REPLY})
FOUND = Match(F0, Node(FORMULA, 1, "$y^2$"), 0.123456, 1.0)


def test_a_result_is_shown_with_what_is_known_of_its_post() -> None:
    matches = (FOUND, Match(S1, Node(SENTENCE, 3, "b"), 0.5, 1))
    parts = (ScorePart("bm25", 0.12345678, 3.0), ScorePart("own", 0.2, math.nan))
    shown = show_result(3, 0.98765432, "2", TEXTS, matches, parts)
    assert shown == FoundPost(
        rank=3, post_id="2", score=0.987654, type="answer",
        title=show_words("Is $x$ odd?"),  # its question's
        matches=(NodeMatch("F0", "F1", 0.1235), NodeMatch("S1", "S4", 0.5)),
        parts=(SystemShare("bm25", 0.123457, 3.0), SystemShare("own", 0.2, None)),
        pattern=None, tags=("algebra",), sentences=shown.sentences,
    )  # fmt: skip
    assert [(s.key, s.gap) for s in shown.sentences] == [("S3", True), ("S4", False)]


def test_a_result_without_a_text_has_no_sentences() -> None:
    shown = show_result(1, 0.5, "2", FoundTexts(), (), ())
    assert shown == FoundPost(1, "2", 0.5, "", (), (), (), None)


def test_a_result_is_printed_in_two_lines() -> None:
    shown = show_result(3, 0.98765432, "2", TEXTS, [FOUND], ())
    assert str(shown) == "3. 2  0.9877  answer  Is $x$ odd?\n   … See $y^2$."
    close = replace(shown, closeness=0.4, close="close")
    assert str(close).startswith("3. 2  0.40 close  answer  ")
    head, text = str(replace(shown, same=0.8)).splitlines()
    assert head == "3. 2  80 % the same  answer  Is $x$ odd?"
    assert text == "   $y^2$  in: … See $y^2$."
    pattern = show_pattern(PatternMatch({"?a": "y", "?b": "2"}, is_whole=False))
    instance = str(replace(shown, pattern=pattern))
    assert instance.endswith("\n   a part of it, with ?a = y, ?b = 2  in: … See $y^2$.")


@pytest.mark.parametrize(
    ("kind", "match", "shown"),
    [
        ("lemma", "S4", ["S1", "S2", "S3", "S4", "S5"]),
        ("text", "S4", ["S4"]),
    ],
)
def test_a_statement_is_shown_from_its_beginning(kind, match, shown) -> None:
    note = StatementNote(kind, "1.1", "Euclid", "On $n$", 1, "a.tex", "line 3")
    matches = [Match(F0, Node(SENTENCE, int(match[1:]) - 1), 0.5, 1.0)]
    found = show_result(1, 0.5, "2", TEXTS, matches, (), note)
    title = f"{kind.title()} 1.1 (Euclid)"
    assert found.statement == StatementCard(
        kind, (TextPart(title),), show_words("On $n$"), 1, "a.tex", "line 3", ""
    )
    assert [s.key for s in found.sentences] == shown
    said = f"1. 2  0.5000  {title}, On $n$; used by 1 statement"
    assert str(found).splitlines()[0] == said


def test_the_query_is_shown_as_it_was_read() -> None:
    query = Query("q", "Is FORMULA_0 odd?", QUESTION.formula_map, warnings=("slow",))
    shown = show_answer(query, (), ["odd"], "is it?")
    (sentence,) = shown.query
    assert (sentence.key, join(sentence.parts)) == ("S1", "Is <F0> odd?")
    assert (shown.warnings, shown.did_you_mean) == (("slow", "odd"), "is it?")
    assert str(shown) == "note: slow\nnote: odd\ndid you mean: is it?"
    assert str(show_answer(replace(query, warnings=()), ())) == "Nothing was found."


@pytest.mark.parametrize(
    ("closeness", "is_far"), [([], False), ([None], False), ([0.05, 0.4], False),
                              ([0.05], True)],
)  # fmt: skip
def test_nothing_is_close_if_all_are_far(closeness: Any, is_far: bool) -> None:
    shown = show_result(1, 0.5, "2", TEXTS, (), ())
    results = [replace(shown, closeness=c, close="so") for c in closeness]
    assert show_answer(Query("q", "Is it?"), results).nothing_close is is_far


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
