"""Tables. The trees are those of LaTeXML 0.8.7."""

from __future__ import annotations

import pytest

from mathamr_kedro.formula.latex import trees_from_latex


@pytest.mark.parametrize(
    ("latex", "problem"),
    [
        (r"\begin{matrix}a", "missing_end"),
        (r"a\end{matrix}", "stray_end:matrix"),
        (r"\begin{tabbing}a\end{tabbing}", "unknown_environment:tabbing"),
        (r"\begin{very=odd}a\end{very=odd}", "unknown_environment"),
        ("a&b", "stray_ampersand"),
    ],
)
def test_broken_tables_are_counted(latex, problem):
    trees = trees_from_latex(latex)

    assert trees.problems == {problem: 1}
    assert "V!a" in trees.slt.nodes


def test_unknown_environment_is_an_error_before_its_content():
    trees = trees_from_latex(r"\begin{foo}a+b\end{foo}")

    assert trees.slt.to_string() == "[E![V!a[+[V!b]]]]"


@pytest.mark.parametrize(
    ("plain", "environment"),
    [
        (r"\matrix{a&b\cr c&d}", "matrix"),
        (r"\pmatrix{a&b\cr c&d}", "pmatrix"),
        (r"\cases{a&b\cr c&d}", "cases"),
    ],
)
def test_tables_of_plain_tex_are_those_of_latex(plain, environment):
    latex = rf"\begin{{{environment}}}a&b\\c&d\end{{{environment}}}"

    assert trees_from_latex(plain)[:2] == trees_from_latex(latex)[:2]


@pytest.mark.parametrize(
    ("latex", "plain"),
    [
        (
            r"\begin{pmatrix}[r]a&b\end{pmatrix}+1",
            r"\begin{pmatrix}a&b\end{pmatrix}+1",
        ),
        (
            r"\sum_{\begin{subarray}{l}i\\j\end{subarray}}x",
            r"\sum_{\substack{i\\j}}x",
        ),
        (
            r"\begin{subarray}{l}i\\j\end{subarray}+1",
            r"\substack{i\\j}+1",
        ),
    ],
)
def test_how_a_table_is_aligned_is_not_in_its_trees(latex, plain):
    assert trees_from_latex(latex) == trees_from_latex(plain)
