"""A query's words without its formulas, and its formulas without its words."""

from __future__ import annotations

import pytest

from mathamr_kedro.base.records import CleanText, FormulaMention
from mathamr_kedro.corpus import name_part, take_part


def make_query(text: str) -> CleanText:
    """Every FORMULA_n of a text at its place."""
    mentions, start = [], 0
    while (start := text.find("FORMULA_", start)) >= 0:
        name = text[start : start + 9]
        mentions.append(
            FormulaMention(name, f"f{name[-1]}", "v", "x", start, start + 9)
        )
        start += 9
    return CleanText(text, tuple(mentions))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Let FORMULA_0 be even. Is FORMULA_1 rational?", "Let be even. Is rational?"),
        ("No formula here.", "No formula here."),
        ("FORMULA_0", ""),
        ("FORMULA_0. FORMULA_1, FORMULA_2?", ""),
        ("It holds. FORMULA_0. Then stop.", "It holds. Then stop."),
        ("Show\nFORMULA_0,\nplease (with FORMULA_1).", "Show\nplease (with)."),
        ("The sum (FORMULA_0) is FORMULA_1 .", "The sum is."),
    ],
)
def test_words_keep_nothing_of_formulas(text, words):
    part = take_part(make_query(text), "words")
    assert part == CleanText(words, ())


def test_formulas_keep_their_names_and_places():
    query = make_query("Let FORMULA_3 be even. Is FORMULA_0 or FORMULA_3 rational?")
    part = take_part(query, "formulas")
    assert part.text == "FORMULA_3. FORMULA_0."
    assert [m.formula_id for m in part.formula_map] == ["f3", "f0"]
    for mention in part.formula_map:
        assert part.text[mention.start : mention.end] == mention.placeholder
    assert take_part(make_query("Why?"), "formulas") == CleanText("", ())


def test_parts_have_ids_of_their_own():
    assert {name_part("A.1", part) for part in ("all", "formulas", "words")} == {
        "A.1", "A.1:formulas", "A.1:words",
    }  # fmt: skip
