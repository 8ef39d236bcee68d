"""What people type as LaTeX: dollars, Unicode, everyday macros."""

from __future__ import annotations

import pytest

from mathamr_kedro.formula import trees_from_latex
from mathamr_kedro.formula.latex.typed import mark_formulas, write_latex


@pytest.mark.parametrize(
    ("typed", "latex"),
    [
        ("∑ 1/n² = π²/6", r"\sum 1/n^2 = \pi^2/6"),
        ("x₁+x₂ ≤ 2", r"x_1+x_2 \leq 2"),
        ("∀ε>0", r"\forall\varepsilon>0"),
        ("√2", r"\sqrt{2}"),
        ("√(a+b)", r"\sqrt{a+b}"),
        ("x¹⁰ ≠ y", r"x^{10} \neq y"),
        (r"x\in\RR", r"x\in\mathbb{R}"),
        (r"\abs{x} < \eps", r"|x| < \varepsilon"),
        (r"\norm{x_{n}}", r"\lVert x_{n} \rVert"),
        (r"\Re z + \Z", r"\Re z + \mathbb{Z}"),
        ("sqrt(f(x)+1) <= 2pi", r"\sqrt{f(x)+1} \leq 2\pi"),
        ("e^(i pi) != 1", r"e^{(i\pi)} \neq 1"),
        ("x -> infinity => x >= 0", r"x \to \infty \Rightarrow x \geq 0"),
        ("n!=1", "n! = 1"),
        (r"X \ar@{->}[r] Y", r"X \ar@{->}[r] Y"),
    ],
)
def test_it_has_the_trees_of_its_latex(typed, latex):
    read, meant = trees_from_latex(write_latex(typed)), trees_from_latex(latex)
    assert read.opt.to_string() == meant.opt.to_string()
    assert read.slt.to_string() == meant.slt.to_string()


@pytest.mark.parametrize(
    ("typed", "marked"),
    [
        (r"prove \frac{1}{n} \to 0 fast", r"prove $\frac{1}{n} \to 0$ fast"),
        ("is x^2 a polynomial?", "is $x^2$ a polynomial?"),
        ("if a = b then b = a.", "if $a = b$ then $b = a$."),
        ("∑ 1/n converges", r"$\sum  1/n$ converges"),
        (r"\int_0^1 f(x) dx exists", r"$\int_0^1 f(x) dx$ exists"),
        ("every ε > 0 has a δ", "every $ε > 0$ has a $δ$"),
        (r"let x \in \RR be", r"let $x \in \mathbb{R}$ be"),
        (r"$x$ and y² = 2", r"$x$ and $y^{2} = 2$"),
        ("is sqrt(p) irrational", r"is $\sqrt{p}$ irrational"),
        ("$n → ∞$ and x<=pi", r"$n \to  \infty$ and $x\le \pi$"),
        (r"is $\sqrt p irrational", r"is $\sqrt p$ irrational"),  # nothing closes it
        (
            r"let $p$ be prime; is $\sqrt p in \QQ",
            r"let $p$ be prime; is $\sqrt p$ in $\mathbb{Q}$",
        ),
        ("does n → ∞?", r"does $n \to  \infty$?"),  # no dollar closes after a blank
        ("sqrt 2 is irrational", r"$\sqrt{2}$ is irrational"),
        ("1/n as n -> infinity", r"$1/n$ as $n \to  \infty$"),
        ("e.g. pi/4 or x>=-1", r"e.g. $\pi/4$ or $x\ge -1$"),
    ],
)
def test_formulas_get_their_dollars(typed, marked):
    assert mark_formulas(typed) == marked


@pytest.mark.parametrize(
    "text",
    [
        "Cauchy-Schwarz", "I have a question - is a ring a field?", "he/she, and/or",
        "Gödel's theorem, café", "costs $5 or x^2", "a well-known 2-group",
        "some_file_2_name", r"let \begin{align} a &= x^2 \\ b &= a \end{align} hold",
        "what is e? 1. it is a number", "", "is pi a number", "what does sqrt mean",
        "the infinity norm - or pi day", "step 1 -> step 2", "w/o proof, n/a", "24/7",
    ],
)  # fmt: skip
def test_prose_and_environments_stay_as_they_are(text):
    assert mark_formulas(text) == text
