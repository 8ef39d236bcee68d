"""Tables. The trees are those of LaTeXML 0.8.7."""

from __future__ import annotations

import pytest

from mathamr_kedro.formula.latex import trees_from_latex


@pytest.mark.parametrize(
    ("latex", "slt", "opt"),
    [
        (r"\begin{matrix}a\end{matrix}", "[M!1x1,w[V!a]]", "[M!M-1x1,0[M!R!,0[V!𝑎]]]"),
        (
            r"\begin{bmatrix}a&b\end{bmatrix}",
            "[M!&lsqb;&rsqb;1x2,w[V!a,e[V!b]]]",
            "[M!M-1x2,0[M!R!,0[V!𝑎],1[V!𝑏]]]",
        ),
        (
            r"\begin{Bmatrix}a\\b\end{Bmatrix}",
            "[M!{}2x1,w[V!a,e[V!b]]]",
            "[M!M-2x1,0[M!R!,0[V!𝑎]],1[M!R!,0[V!𝑏]]]",
        ),
        (
            r"\begin{Vmatrix}a&b\\c&d\end{Vmatrix}",
            "[M!∥∥2x2,w[V!a,e[V!b,e[V!c,e[V!d]]]]]",
            "[O!norm,0[M!M-2x2,0[M!R!,0[V!𝑎],1[V!𝑏]],1[M!R!,0[V!𝑐],1[V!𝑑]]]]",
        ),
        (
            r"\begin{smallmatrix}a&b\\c&d\end{smallmatrix}",
            "[M!2x2,w[V!a,e[V!b,e[V!c,e[V!d]]]]]",
            "[M!M-2x2,0[M!R!,0[V!𝑎],1[V!𝑏]],1[M!R!,0[V!𝑐],1[V!𝑑]]]",
        ),
        (
            r"\begin{pmatrix}a&b\\c\end{pmatrix}",
            "[M!()2x2,w[V!a,e[V!b,e[V!c]]]]",
            "[M!M-2x2,0[M!R!,0[V!𝑎],1[V!𝑏]],1[M!R!,0[V!𝑐],1[E!]]]",
        ),
        (
            r"\begin{pmatrix}a&b\\c&d\\\end{pmatrix}",
            "[M!()2x2,w[V!a,e[V!b,e[V!c,e[V!d]]]]]",
            "[M!M-2x2,0[M!R!,0[V!𝑎],1[V!𝑏]],1[M!R!,0[V!𝑐],1[V!𝑑]]]",
        ),
        (
            r"\begin{pmatrix}a&\\&b\end{pmatrix}",
            "[M!()2x2,w[V!a,e[W!,e[W!,e[V!b]]]]]",
            "[M!M-2x2,0[M!R!,0[V!𝑎],1[E!,0[W!]]],1[M!R!,0[E!,0[W!]],1[V!𝑏]]]",
        ),
        (
            r"\begin{array}{c|c}a&b\\\hline c&d\end{array}",
            "[M!3x2,w[V!a,e[V!b,e[W!,e[W!,e[V!c,e[V!d]]]]]]]",
            "[M!M-3x2,0[M!R!,0[V!𝑎],1[V!𝑏]],1[M!R!,0[E!,0[W!]],1[E!,0[W!]]],2[M!R!,0[V!𝑐],1[V!𝑑]]]",
        ),
        (
            r"\begin{array}{*{3}{c}}a&b\end{array}",
            "[M!1x3,w[V!a,e[V!b,e[W!]]]]",
            "[M!M-1x3,0[M!R!,0[V!𝑎],1[V!𝑏],2[E!,0[W!]]]]",
        ),
        (
            r"\begin{array}{cc}a\\b&c\end{array}",
            "[M!2x2,w[V!a,e[W!,e[V!b,e[V!c]]]]]",
            "[M!M-2x2,0[M!R!,0[V!𝑎],1[E!,0[W!]]],1[M!R!,0[V!𝑏],1[V!𝑐]]]",
        ),
        (
            r"\left[\begin{array}{c}a\\b\end{array}\right]",
            "[M!&lsqb;&rsqb;2x1,w[V!a,e[V!b]]]",
            "[M!D-lsqb;&rsqb;,0[M!M-2x1,0[M!R!,0[V!𝑎]],1[M!R!,0[V!𝑏]]]]",
        ),
        (
            r"\left\{\begin{array}{ll}a&b\\c&d\end{array}\right.",
            "[{[M!2x2,w[V!a,e[V!b,e[V!c,e[V!d]]]]]]",
            "[O!cases,0[M!M-2x2,0[M!R!,0[V!𝑎],1[V!𝑏]],1[M!R!,0[V!𝑐],1[V!𝑑]]]]",
        ),
        (
            r"\begin{cases}a,&b\\c,&d.\end{cases}",
            "[{[M!2x2,w[V!a[&comma;],e[V!b,e[V!c[&comma;],e[V!d[.]]]]]]]",
            "[O!cases,0[V!𝑎],1[V!𝑏],2[V!𝑐],3[V!𝑑]]",
        ),
        (
            r"\begin{cases}a\end{cases}",
            "[{[M!1x2,w[V!a,e[W!]]]]",
            "[O!cases,0[V!𝑎],1[W!]]",
        ),
        (
            r"\begin{aligned}a&=b,\\&=c.\end{aligned}",
            "[M!2x2,w[V!a,e[=[V!b[&comma;]],e[W!,e[=[V!c[.]]]]]]]",
            "[M!M-2x2,0[M!R!,0[V!𝑎],1[U!eq,0[W!],1[V!𝑏]]],1[M!R!,0[E!,0[W!]],1[U!eq,0[W!],1[V!𝑐]]]]",
        ),
        (
            r"\begin{aligned}a\end{aligned}b",
            "[M!1x1[V!b],w[V!a]]",
            "[U!times,0[M!M-1x1,0[M!R!,0[V!𝑎]]],1[V!𝑏]]",
        ),
        (
            r"\begin{gathered}a+\\+b\end{gathered}",
            "[M!2x1,w[V!a[+],e[+[V!b]]]]",
            "[U!plus,0[V!𝑎],1[V!𝑏]]",
        ),
        (
            r"\sum_{\begin{subarray}{l}i\\j\end{subarray}}a",
            "[∑[V!a],u[M!2x1,w[V!i,e[V!j]]]]",
            "[+!O!sum,0[O!SUB,0[O!sum],1[M!L-1,0[M!M-2x1,0[M!R!,0[V!𝑖]],1[M!R!,0[V!𝑗]]]]],1[V!𝑎]]",
        ),
    ],
)
def test_table_has_both_trees(latex, slt, opt):
    trees = trees_from_latex(latex)

    assert trees.slt.to_string() == slt
    assert trees.opt.to_string() == opt


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
