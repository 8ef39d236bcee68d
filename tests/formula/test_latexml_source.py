"""LaTeX made fit for LaTeXML."""

from __future__ import annotations

import pytest

from mathamr_kedro.formula.latexml_source import LatexSource


@pytest.mark.parametrize(
    ("written", "prepared"),
    [
        ("$x$", "x"),
        ("$$x$$", "x"),
        (r"\[x\]", "x"),
        (r"\(x\)", "x"),
        ("$", "$"),
        ("a &lt; b &amp; c", "a < b & c"),
        ("a % note\nb", "a \nb"),
        (r"50\% of x", r"50\% of x"),
        (r"a \\% note", r"a \\"),
        (r"x \tag{1} \label{eq:a} \nonumber", "x"),
        (r"\notagain", r"\notagain"),
        (r"\begin{equation} x \end{equation}", "x"),
        (
            r"\begin{align*} a &= b \end{align*}",
            r"\begin{aligned} a &= b \end{aligned}",
        ),
        (r"\begin{alignat}{2} a \end{alignat}", r"\begin{aligned} a \end{aligned}"),
        (r"\begin{eqnarray} a \end{eqnarray}", r"\begin{aligned} a \end{aligned}"),
        (
            r"\begin{IEEEeqnarray}{rCl} a \end{IEEEeqnarray}",
            r"\begin{aligned} a \end{aligned}",
        ),
        (r"\begin{gather} a \end{gather}", r"\begin{gathered} a \end{gathered}"),
        ("a\n\n\nb", "a\nb"),
        ("a\r\n\r\nb", "a\nb"),
    ],
)
def test_formula_is_prepared(written, prepared):
    assert LatexSource.prepare(written).text == prepared


@pytest.mark.parametrize(
    "source",
    [
        r"\frac{a}{b",
        r"a}",
        r"}{",
        r"\left( x",
        r"\begin{matrix} a",
        r"\text{$x$}",
        r"\def\a{b} \a",
        r"\frac",
        "x^",
        "x \\",
    ],
)
def test_formula_that_could_harm_its_neighbours_goes_alone(source):
    assert not LatexSource(source).is_self_contained


@pytest.mark.parametrize("source", [r"\{ x \}", r"5\$", r"\left\{ x \right.", r"\\ x"])
def test_escaped_characters_do_not_count(source):
    assert LatexSource(source).is_self_contained


@pytest.mark.parametrize(
    "source", [r"\input{x}", r"\catcode`\%=12", r"x\end{document}", r"\write18{ls}"]
)
def test_formula_that_reaches_out_is_forbidden(source):
    assert LatexSource(source).is_forbidden


def test_longer_command_with_a_forbidden_beginning_is_allowed():
    assert not LatexSource(r"\includedthing \readable").is_forbidden
