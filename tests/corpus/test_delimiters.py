import pytest
from hypothesis import given
from hypothesis import strategies as st

from mathamr_kedro.corpus.delimiters import (
    CLOSE,
    OPEN,
    find_formulas,
    split_punctuation,
    strip_delimiters,
)
from tests.corpus.slow_cleaning import find_formulas_slowly, split_punctuation_slowly

DELIMITERS = [
    "$", "$$", r"\(", r"\)", r"\[", r"\]", r"\begin{align}", r"\end{align}", "x", "1",
    r"\begin{cases*}", r"\end{cases*}", " ", "\n", "\n\n", r"\$", "\\",
    f"{OPEN}0{CLOSE}", OPEN,
]  # fmt: skip
ENDS = [
    "x", "!", "\\", r"\!", r"\,", " ", ",", ".", r"\quad", r"\qquad", "~", ";", "}",
    r"\end{a}", "?", ":", "\n", r"\right", r"\bigl", r"\Biggm", r"\left",
]  # fmt: skip


@given(st.lists(st.sampled_from(DELIMITERS), max_size=14).map("".join))
def test_formulas_are_those_of_the_slow_twin(text):
    found = [(f.start, f.end, f.mark or f.latex) for f in find_formulas(text)]
    assert found == list(find_formulas_slowly(text))


@given(st.lists(st.sampled_from(ENDS), max_size=10).map("".join))
def test_punctuation_is_that_of_the_slow_twin(latex):
    latex = latex.strip()
    assert split_punctuation(latex) == split_punctuation_slowly(latex)


@pytest.mark.parametrize(
    ("latex", "inner"),
    [
        (r"$$\text{$p$ is prime}$$", r"\text{$p$ is prime}"),
        (r"$a^+ = \text{ if $a$}$", r"a^+ = \text{ if $a$}"),
        ("$a$ and $b$", "$a$ and $b$"),
        (r"$\{ $", r"\{"),
    ],
)
def test_dollars_inside_braces_do_not_end_a_formula(latex, inner):
    assert strip_delimiters(latex) == inner


@pytest.mark.parametrize(
    ("text", "formulas"),
    [
        ("If $ a > 0$, then ($b$) holds", ["a > 0", "b"]),
        ("so $ x_1 $ and $y$", ["x_1", "y"]),
        (
            "and $ f(x) \\text{ for all } x $, so $z$.",
            [r"f(x) \text{ for all } x", "z"],
        ),
        ("It costs $ 5 and $x$ is free", ["x"]),
        ("from $ 5 to $ 10, or $ 7 a year", []),
        ("pay $ 5. Then $x$", ["x"]),
        ("$ a\n\nb$", []),
    ],
)
def test_blank_after_a_dollar_flips_nothing(text, formulas):
    found = [strip_delimiters(formula.latex) for formula in find_formulas(text)]
    assert found == formulas


@pytest.mark.parametrize(
    ("latex", "split"),
    [
        (r"\left\{ x \right.", (r"\left\{ x \right.", "")),
        (r"\left. f \right|_0^1.", (r"\left. f \right|_0^1", ".")),
        (r"\left\{ x \right .", (r"\left\{ x \right .", "")),
        (r"\left\{ x \right.\,.", (r"\left\{ x \right.", ".")),
        (r"\left\{ x \right.,", (r"\left\{ x \right.", ",")),
        (r"\bigl\{ x \biggr.", (r"\bigl\{ x \biggr.", "")),
        (r"x \middle.", (r"x \middle.", "")),
        (r"a \\right.", (r"a \\right", ".")),  # a new line, and the word "right"
        (r"\Leftright.", (r"\Leftright", ".")),
        (
            r"\begin{a}\left\{ x \right.\end{a}",
            (r"\begin{a}\left\{ x \right.\end{a}", ""),
        ),
    ],
)
def test_delimiters_are_no_punctuation(latex, split):
    assert split_punctuation(latex) == split


def test_diagram_alone_is_a_formula():
    latex = r'\begin{tikzcd} A \arrow[r, "f"] & B \end{tikzcd}'
    assert [f.latex for f in find_formulas(f"The square {latex} commutes")] == [latex]
