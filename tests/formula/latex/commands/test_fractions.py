"""Fractions, binomials and roots. The trees are those of LaTeXML 0.8.7."""

from __future__ import annotations

import pytest

from mathamr_kedro.formula.latex import trees_from_latex


@pytest.mark.parametrize(
    ("latex", "slt", "opt"),
    [
        (
            r"\frac{a}{b}c",
            "[O!divide[V!c],o[V!a],u[V!b]]",
            "[U!times,0[O!divide,0[V!𝑎],1[V!𝑏]],1[V!𝑐]]",
        ),
        (
            r"\frac ab c",
            "[O!divide[V!c],o[V!a],u[V!b]]",
            "[U!times,0[O!divide,0[V!𝑎],1[V!𝑏]],1[V!𝑐]]",
        ),
        (r"\tfrac12", "[O!divide,o[N!1],u[N!2]]", "[O!divide,0[N!1],1[N!2]]"),
        (r"\frac{}{b}", "[O!divide,o[W!],u[V!b]]", "[O!divide,0[W!],1[V!𝑏]]"),
        (r"a \over b", "[O!divide,o[V!a],u[V!b]]", "[O!divide,0[V!𝑎],1[V!𝑏]]"),
        (
            r"{a+b \over c}d",
            "[O!divide[V!d],o[V!a[+[V!b]]],u[V!c]]",
            "[U!times,0[O!divide,0[U!plus,0[V!𝑎],1[V!𝑏]],1[V!𝑐]],1[V!𝑑]]",
        ),
        (r"{a \atop b}", "[O!divide,o[V!a],u[V!b]]", "[F!FRACOP,0[V!𝑎],1[V!𝑏]]"),
        (
            r"{n \brace k}",
            "[M!{}1x1,w[O!divide,o[V!n],u[V!k]]]",
            "[F!FRACOP,0[V!𝑛],1[V!𝑘]]",
        ),
        (
            r"{n \brack k}",
            "[M!&lsqb;&rsqb;1x1,w[O!divide,o[V!n],u[V!k]]]",
            "[F!FRACOP,0[V!𝑛],1[V!𝑘]]",
        ),
        (r"{a \above 1pt b}", "[O!divide,o[V!a],u[V!b]]", "[O!divide,0[V!𝑎],1[V!𝑏]]"),
        (
            r"\tbinom nk",
            "[M!()1x1,w[O!divide,o[V!n],u[V!k]]]",
            "[O!binomial,0[V!𝑛],1[V!𝑘]]",
        ),
        (
            r"\dbinom nk",
            "[M!()1x1,w[O!divide,o[V!n],u[V!k]]]",
            "[O!binomial,0[V!𝑛],1[V!𝑘]]",
        ),
        (
            r"\genfrac{(}{)}{0pt}{}{n}{k}",
            "[M!()1x1,w[O!divide,o[V!n],u[V!k]]]",
            "[F!FRACOP,0[V!𝑛],1[V!𝑘]]",
        ),
        (
            r"\genfrac{}{}{}{}{a}{b}",
            "[O!divide,o[V!a],u[V!b]]",
            "[O!divide,0[V!𝑎],1[V!𝑏]]",
        ),
        (
            r"\sqrt x y",
            "[O!root[V!y],w[V!x]]",
            "[U!times,0[O!root,0[V!𝑥],1[N!2]],1[V!𝑦]]",
        ),
        (
            r"\sqrt[n+1]{x}",
            "[O!root,c[V!n[+[N!1]]],w[V!x]]",
            "[O!root,0[V!𝑥],1[U!plus,0[V!𝑛],1[N!1]]]",
        ),
        (r"\root 3 \of x", "[O!root,c[N!3],w[V!x]]", "[O!root,0[V!𝑥],1[N!3]]"),
        (
            r"\frac{\max_x a}{b}",
            "[O!divide,o[V!max[V!a],b[V!x]],u[V!b]]",
            "[O!divide,0[+!F!max,0[O!SUB,0[F!max],1[V!𝑥]],1[V!𝑎]],1[V!𝑏]]",
        ),
    ],
)
def test_fraction_has_both_trees(latex, slt, opt):
    trees = trees_from_latex(latex)

    assert trees.slt.to_string() == slt
    assert trees.opt.to_string() == opt
