"""MathML cells: what is converted, what is taken from before, how a cell looks."""

from __future__ import annotations

import pytest

from mathamr_kedro.base.errors import MissingInputError
from tools.sample.mathml import Cells, is_balanced, make_cells, simplify_latex


@pytest.mark.parametrize(
    ("latex", "sound"),
    [
        (r"\frac{1}{2}", True),
        (r"\frac{1}{2", False),
        (r"1}{2", False),
        (r"\{x", True),
        (r"\\{x}", True),
        (r"\left(x\right)", True),
        (r"\left(x", False),
        (r"\leftarrow", True),
        (r"\begin{cases}1\end{cases}", True),
        (r"\begin{cases}1", False),
        (r"a $ b", False),
        (r"5\%", True),
    ],
)
def test_only_what_matches_is_converted(latex, sound):
    assert is_balanced(latex) is sound


@pytest.mark.parametrize(
    ("latex", "simple"),
    [
        (r"x=1 \tag{3}\label{e}", "x=1"),
        (r"\begin{gather*}a\end{gather*}", r"\begin{gathered}a\end{gathered}"),
        (r"\begin{split}a\end{split}", r"\begin{aligned}a\end{aligned}"),
        ("a % note\nb", "a \nb"),
        (r"5\%", r"5\%"),
    ],
)
def test_displays_become_one_formula(latex, simple):
    assert simplify_latex(latex) == simple


def test_known_cells_are_kept_and_broken_latex_stays_empty():
    known = {"x": Cells("<math>s</math>", "<math>o</math>"), "y": Cells("", "")}
    cells = make_cells(["x", r"\frac{1"], known)
    assert cells == {"x": known["x"], r"\frac{1": Cells("", "")}


def test_without_latexml_a_new_formula_is_an_error(monkeypatch):
    monkeypatch.setenv("PATH", "")
    with pytest.raises(MissingInputError, match=r"1 formulas .* 'x\^2'; install it"):
        make_cells(["x^2"], {})


@pytest.mark.latexml
def test_cells_look_as_in_arqmath():
    cells = make_cells([r"-\dfrac{a}{2}", "a<b<c", r"\unknownmacro x"], {})
    head = '<math xmlns="http://www.w3.org/1998/Math/MathML"'
    assert cells[r"-\dfrac{a}{2}"] == Cells(
        f'{head} alttext="-\\dfrac{{a}}{{2}}" class="ltx_Math" display="block">'
        "<semantics><mrow><mo>-</mo><mfrac><mi>a</mi><mn>2</mn></mfrac></mrow>"
        "</semantics></math>",
        f'{head} encoding="MathML-Content"><apply><minus/><apply><divide/>'
        '<ci>𝑎</ci><cn type="integer">2</cn></apply></apply></math>',
    )
    # The second relation of a chain loses its shared side, as in the official files.
    assert cells["a<b<c"].opt.endswith("<apply><lt/><ci>𝑐</ci></apply></apply></math>")
    assert "<merror>" in cells[r"\unknownmacro x"].slt


@pytest.mark.latexml
def test_a_batch_gives_what_each_formula_gives_alone():
    formulas = [r"\sum_{n=1}^\infty \frac1n", r"f'(x)\pmod n.", r"\mathbb{R}^n"]
    together = make_cells(formulas, {})
    alone: dict[str, Cells] = {}
    for formula in formulas:
        alone |= make_cells([formula], {})
    assert together == alone
