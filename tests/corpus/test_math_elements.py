"""MathML in documents: its LaTeX, and the trees that come of it."""

from __future__ import annotations

import pytest

from mathamr_kedro.corpus.extraction import clean_text
from mathamr_kedro.corpus.math_elements import MathElement
from mathamr_kedro.corpus.sections import FrontMatter, split_sections
from mathamr_kedro.formula import slt_from_mathml, trees_from_latex
from tests.conftest import LONG, ends

SUM = (
    "<munderover><mo>∑</mo><mrow><mi>i</mi><mo>=</mo><mn>1</mn></mrow><mi>n</mi>"
    "</munderover><msub><mi>a</mi><mi>i</mi></msub>"
)


@pytest.mark.parametrize(
    ("markup", "latex"),
    [
        ("<msup><mi>x</mi><mn>2</mn></msup><mo>+</mo><mn>1</mn>", "x^{2}+1"),
        ("<mfrac><mi>a</mi><mi>b</mi></mfrac>", r"\frac{a}{b}"),
        ("<msqrt><mi>x</mi><mo>&#8722;</mo><mi>y</mi></msqrt>", r"\sqrt{x-y}"),
        ("<mroot><mi>x</mi><mn>3</mn></mroot>", r"\sqrt[3]{x}"),
        (SUM, r"\sum_{i=1}^{n}a_{i}"),
        ("<mi>&alpha;</mi><mo>&le;</mo><mi>Λ</mi>", r"\alpha\leq\Lambda"),
        ("<mi>sin</mi><mo>&#x2061;</mo><mi>x</mi>", r"\sin x"),
        ("<mover><mi>v</mi><mo>→</mo></mover>", r"\vec{v}"),
        ("<mi>x</mi><mtext>if odd</mtext>", r"x\text{if odd}"),
        ("<mi>𝑥</mi>", "x"),
        ("<mfenced><mi>a</mi><mi>b</mi></mfenced>", "(a,b)"),
        (
            '<mfenced separators=" ;, "><mi>a</mi><mi>b</mi><mi>c</mi></mfenced>',
            "(a;b;c)",
        ),
        (
            "<mtable><mtr><mtd><mn>1</mn></mtd><mtd><mn>0</mn></mtd></mtr>"
            "<mtr><mtd><mn>0</mn></mtd><mtd><mn>1</mn></mtd></mtr></mtable>",
            r"\begin{matrix}1 & 0 \\ 0 & 1\end{matrix}",
        ),
        ("<msup><mrow><mi>a</mi><mi>b</mi></mrow><mn>2</mn></msup>", "{ab}^{2}"),
        ("", ""),
    ],
)  # fmt: skip
@pytest.mark.parametrize("prefix", ["", "m:"])
def test_latex_is_written_where_authors_left_none(markup, latex, prefix):
    inside = markup.replace("</", f"</{prefix}").replace("<m", f"<{prefix}m")
    assert MathElement(f"<{prefix}math>{inside}</{prefix}math>").read_latex() == latex


@pytest.mark.parametrize(
    "markup",
    [
        "<msup><mi>x</mi><mn>2</mn></msup><mo>+</mo><mn>1</mn>",
        "<mfrac><mi>a</mi><mi>b</mi></mfrac><mo>≤</mo><mi>α</mi>",
        "<msqrt><mi>x</mi></msqrt><mo>∈</mo><mi>ℝ</mi>",
        SUM,
    ],
)
def test_written_latex_has_the_tree_of_the_mathml(markup):
    element = f"<math>{markup}</math>"
    written = trees_from_latex(MathElement(element).read_latex()).slt
    assert written.to_string() == slt_from_mathml(element).to_string()


@pytest.mark.parametrize(
    ("element", "latex"),
    [
        ('<math alttext="x &lt; y"><mi>z</mi></math>', "x < y"),
        ("<math alttext='x > y'><mi>z</mi></math>", "x > y"),
        ('<math><semantics><mi>z</mi><annotation encoding="application/x-tex">'
         r"\zeta_1</annotation></semantics></math>", r"\zeta_1"),
        ('<math alttext=""><mi>z</mi></math>', "z"),
        ("<MATH><MI>z</MI></MATH>", "z"),
        ("<math display='block'>\n <mi>z</mi>\n</math>", "z"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("markup", ["html", "markdown"])
def test_math_elements_are_formulas(element, latex, markup):
    body = (
        f"<p>Let {element} be *real*.</p>"
        if markup == "html"
        else f"Let {element} be *real*."
    )
    clean, marks = clean_text("", body, "1", markup=markup)
    word = "*real*" if markup == "html" else "real"
    assert clean.text == f"Let FORMULA_0 be {word}."
    assert [m.latex for m in clean.formula_map] == [latex]
    assert marks.mathml == {"1:0": element}


def test_math_that_never_ends_is_no_formula():
    clean, _ = clean_text("", "<p>a <math><mi>x</mi> b</p>", "1")
    assert (clean.text, clean.formula_map) == ("a x b", ())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("piece", "markup"),
    [
        ("<math>", "html"),
        ("<math a='", "html"),
        ("<math><mrow>", "html"),
        ("<m:math ", "markdown"),
        ("<mi>α</mi>", "html"),
        ("<math></math>", "html"),
        (r"\verb|", "latex"),
        (r"\begin{tikzcd}", "latex"),
        (r"\[\begin{tikzcd}\end{tikzcd}", "latex"),
        ("    x\n\n$$", "markdown"),
        (37 * "a" + "\n=\n", "markdown"),
    ],
)
@ends
def test_cost_grows_with_the_length(piece, markup):
    text = "<math>" + piece * (LONG // len(piece)) + "</math>"
    assert split_sections(text + "\n\nend", markup)
    FrontMatter.read("---\na: " + text)
    clean_text("", text, "1", markup=markup)
