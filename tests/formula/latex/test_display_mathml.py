r"""LaTeX as MathML: what is drawn, and what cannot be smuggled in."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mathamr_kedro.formula import mathml_from_latex

ELEMENTS = set(
    "math mi mn mo mtext mspace mrow mstyle mfrac msqrt mroot msub msup msubsup munder"
    " mover munderover mmultiscripts mprescripts mtable mtr mtd".split()
)
ATTRIBUTES = set(
    "alttext display form lspace rspace stretchy symmetric minsize maxsize separator"
    " movablelimits mathvariant mathsize width class linethickness displaystyle"
    " scriptlevel accent accentunder height depth".split()
)
STRUT = '<mspace width="0" height="0.68em" depth="0.2em"/>'
CLASSES = {"boxed", "overlined", "underlined", "struck", "align", "left", "small"}


def draw(latex: str, display: bool = False) -> str:
    """Return what is inside the element of a formula."""
    found = mathml_from_latex(latex, display)
    assert found is not None
    return re.sub(r"^<math[^>]*>|</math>$", "", found)


@pytest.mark.parametrize(
    ("latex", "drawn"),
    [
        ("x", "<mi>x</mi>"),
        ("12.5", "<mn>12.5</mn>"),
        (r"\mathrm{d}", '<mi mathvariant="normal">d</mi>'),
        (r"\mathbb{R}", "<mi>ℝ</mi>"),
        (r"\Gamma", '<mi mathvariant="normal">Γ</mi>'),
        (r"\sin x", '<mi>sin</mi><mspace width="0.1667em"/><mi>x</mi>'),
        (
            r"\operatorname*{ess\,sup}_a x",
            "<munder><mrow><mrow><mi>ess</mi>"
            '<mspace width="0.17em"/><mi>sup</mi></mrow></mrow><mi>a</mi></munder>'
            '<mspace width="0.1667em"/><mi>x</mi>',
        ),
        ("-x", '<mo form="prefix" lspace="0" rspace="0">−</mo><mi>x</mi>'),
        ("a-b", "<mi>a</mi><mo>−</mo><mi>b</mi>"),
        ("x_1^2", "<msubsup><mi>x</mi><mn>1</mn><mn>2</mn></msubsup>"),
        (r"\sqrt[3]{5}", f"<mroot><mrow>{STRUT}<mn>5</mn></mrow><mn>3</mn></mroot>"),
        (r"\overline{z}", '<mrow class="overlined"><mi>z</mi></mrow>'),
        (r"\text{if } x", "<mtext>if\xa0</mtext><mi>x</mi>"),
        (r"a\,b", '<mi>a</mi><mspace width="0.17em"/><mi>b</mi>'),
        (r"\foo", r"<mtext>\foo</mtext>"),
        ("f'", '<mrow><mi>f</mi><mo lspace="0" rspace="0">′</mo></mrow>'),
        ("f^{a}", "<msup><mi>f</mi><mi>a</mi></msup>"),
    ],
)
def test_small_formulas(latex, drawn):
    assert draw(latex) == drawn


def test_limits_stand_above_and_below_only_in_display_style():
    assert draw(r"\sum_{i}^n", display=True).startswith("<munderover>")
    assert draw(r"\sum_{i}^n").startswith("<msubsup>")
    assert "<munderover>" in draw(r"\displaystyle\sum_{i}^n")
    assert "<munder>" in draw(r"\sum\limits_{i}")


def test_fences_grow_with_left_and_right_alone():
    assert 'stretchy="true"' in draw(r"\left(\frac ab\right)")
    assert 'stretchy="true"' not in draw(r"f(x) = (\frac ab)")
    assert draw(r"\left(\int f(x)|g|\right)").count('stretchy="true"') == 2
    assert draw(r"\left\{x\middle|y\right\}").count('stretchy="true"') == 3
    assert draw(r"\begin{pmatrix}a\\b\end{pmatrix}").count('stretchy="true"') == 2


def test_columns_of_environments_are_aligned():
    assert '<mtable class="align">' in draw(r"\begin{aligned}a&=b\end{aligned}")
    assert '<mtable class="left">' in draw(r"\begin{cases}a&b\end{cases}")
    assert "<mtable>" in draw(r"\begin{matrix}a&b\end{matrix}")


@pytest.mark.parametrize("latex", ["", "  ", "x" * 30_000, "{" * 200 + "}" * 200])
def test_what_cannot_be_read_is_none(latex):
    assert mathml_from_latex(latex) is None


@pytest.mark.parametrize(
    "latex",
    [
        "<script>alert(1)</script>",
        r'"><img src=x onerror=alert(1)>',
        r"\href{javascript:alert(1)}{x}",
        r"\html{<script>alert(1)</script>}",
        r"\text{</mtext><script>alert(1)</script>}",
        r"\class{x\" onclick=\"alert(1)}{y}",
        r"\style{background:url(javascript:alert(1))}{y}",
        r"\operatorname{<img/src/onerror=alert(1)>}",
        r"\begin{array}{\"onmouseover=alert(1)} a \end{array}",
        r"\unicode{x3c}script\unicode{x3e}",
        "&lt;script&gt;alert(1)&lt;/script&gt;",
        r"\color{red;background:url(x)}{y}",
    ],
)
def test_nothing_is_smuggled_in(latex):
    _check(mathml_from_latex(latex))


@given(st.text(st.sampled_from("\\{}^_&<>\"'/ax1=()[]$%#\n"), max_size=40))
def test_any_text_gives_known_elements(latex):
    _check(mathml_from_latex(latex))


def _check(found: str | None) -> None:
    if found is None:
        return
    for element in ElementTree.fromstring(found).iter():
        assert element.tag in ELEMENTS
        assert set(element.attrib) <= ATTRIBUTES
        assert element.attrib.get("class", "boxed") in CLASSES
