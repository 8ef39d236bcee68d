"""Texts as a page shows them."""

from __future__ import annotations

from typing import Any

import pytest

from mathamr_kedro.records import FormulaMention
from mathamr_kedro.serve.views import TextView

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
    return TextView(TEXT, mentions, 500)


def join(sentence: dict[str, Any]) -> str:
    return "".join(p.get("text") or f"<{p['key']}>" for p in sentence["parts"])


def test_sentences_have_the_names_of_their_nodes(view: TextView) -> None:
    assert [(s["key"], s["new_paragraph"], join(s)) for s in view.sentences] == [
        ("S1", False, "A title with <F0>"),
        ("S2", True, "Let <F1> be even."),
        ("S3", False, "Nothing here."),
        ("S4", False, "It is odd."),
        ("S5", False, "So <F12> is odd, and FORMULA_7 is unknown."),
    ]


def test_formulas_come_with_their_drawing_or_alone(view: TextView) -> None:
    drawn, undrawn = view.sentences[1]["parts"][1], view.sentences[4]["parts"][1]
    assert drawn["mathml"].startswith("<math")
    assert drawn["formula_id"] == "id-FORMULA_1"
    assert (undrawn["latex"], undrawn["mathml"]) == ("{" * 99, None)


@pytest.mark.parametrize(
    ("keys", "shown"),
    [
        ({"F1", "S5"}, [("S2", True), ("S5", True)]),
        ({"S1", "S2"}, [("S1", False), ("S2", False)]),
        ({"D"}, [("S1", False), ("S2", False), ("S3", False), ("S4", False)]),
    ],
)
def test_what_matched_is_shown(view: TextView, keys: Any, shown: Any) -> None:
    assert [(s["key"], s["gap"]) for s in view.choose(keys)] == shown


def test_words_with_dollars_are_read_as_formulas() -> None:
    parts = TextView.show_words("so $x$ costs 5$")
    assert [p.get("text", p.get("latex")) for p in parts] == ["so ", "x", " costs 5$"]
