"""Formulas that look the same share a visual id, others do not."""

from __future__ import annotations

import pytest

from tools.sample import visual_ids
from tools.sample.mathml import Cells, make_cells
from tools.sample.visual_ids import look_of, number_looks


def test_rows_styles_and_invisible_operators_are_not_seen():
    plain = "<math><mi>a</mi><mi>b</mi></math>"
    dressed = (
        '<math alttext="x"><semantics><mstyle mathsize="90%"><mrow><mi>a</mi>'
        "<mo>\u2062</mo><mspace/><mi>b</mi></mrow></mstyle></semantics></math>"
    )
    assert look_of("ab", plain) == look_of("a b", dressed)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("<msup><mi>a</mi><mi>b</mi></msup>", "<mrow><mi>a</mi><mi>b</mi></mrow>"),
        ("<msup><mi>a</mi><mi>b</mi></msup>", "<msub><mi>a</mi><mi>b</mi></msub>"),
        ("<mi>a</mi>", "<mi>A</mi>"),
        (
            "<mfrac><mrow><mi>a</mi><mi>b</mi></mrow><mi>c</mi></mfrac>",
            "<mfrac><mi>a</mi><mrow><mi>b</mi><mi>c</mi></mrow></mfrac>",
        ),
    ],
)
def test_what_looks_different_differs(one, other):
    assert look_of("", f"<math>{one}</math>") != look_of("", f"<math>{other}</math>")


def test_without_mathml_latex_counts_up_to_white_space():
    broken = Cells("", "")
    ids = number_looks({r"\frac{1 ": broken, r"\frac {1": broken, r"\frac{2": broken})
    assert ids[r"\frac{1 "] == ids[r"\frac {1"] != ids[r"\frac{2"]


def test_looks_that_meet_by_chance_get_their_own_ids(monkeypatch):
    monkeypatch.setattr(visual_ids, "number_of", lambda look: 7)
    ids = number_looks({name: Cells("", "") for name in "abc"})
    assert sorted(ids.values()) == ["7", "8", "9"]


@pytest.mark.latexml
def test_spellings_of_one_formula_share_an_id():
    ids = number_looks(make_cells([r"\frac12", r"\dfrac{1}{2}", r"\frac21"], {}))
    assert ids[r"\frac12"] == ids[r"\dfrac{1}{2}"] != ids[r"\frac21"]
