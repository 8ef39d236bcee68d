"""Formulas that look the same share a visual id, others do not."""

from __future__ import annotations

import pytest

from tools.sample import visual_ids
from tools.sample.mathml import Cells, make_cells
from tools.sample.visual_ids import appearance_of, assign_visual_ids


def test_rows_styles_and_invisible_operators_are_not_seen():
    plain = "<math><mi>a</mi><mi>b</mi></math>"
    dressed = (
        '<math alttext="x"><semantics><mstyle mathsize="90%"><mrow><mi>a</mi>'
        "<mo>\u2062</mo><mspace/><mi>b</mi></mrow></mstyle></semantics></math>"
    )
    assert appearance_of("ab", plain) == appearance_of("a b", dressed)


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
    assert appearance_of("", f"<math>{one}</math>") != appearance_of(
        "", f"<math>{other}</math>"
    )


def test_without_mathml_latex_counts_up_to_white_space():
    broken = Cells("", "")
    ids = assign_visual_ids(
        {r"\frac{1 ": broken, r"\frac {1": broken, r"\frac{2": broken}
    )
    assert ids[r"\frac{1 "] == ids[r"\frac {1"] != ids[r"\frac{2"]


def test_colliding_appearances_get_their_own_ids(monkeypatch):
    monkeypatch.setattr(visual_ids, "hash_appearance", lambda look: 7)
    ids = assign_visual_ids({name: Cells("", "") for name in "abc"})
    assert sorted(ids.values()) == ["7", "8", "9"]


@pytest.mark.latexml
def test_spellings_of_one_formula_share_an_id():
    ids = assign_visual_ids(make_cells([r"\frac12", r"\dfrac{1}{2}", r"\frac21"], {}))
    assert ids[r"\frac12"] == ids[r"\dfrac{1}{2}"] != ids[r"\frac21"]
