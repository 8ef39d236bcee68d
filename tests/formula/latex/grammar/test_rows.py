"""Rows that are no formulas, and scripts. The trees are those of LaTeXML 0.8.7."""

from __future__ import annotations

import pytest

from mathamr_kedro.formula.latex import trees_from_latex


@pytest.mark.parametrize(
    ("latex", "opt"),
    [
        ("=b", "[U!eq,0[W!],1[V!𝑏]]"),
        (r"\leq 3", "[O!leq,0[W!],1[N!3]]"),
        ("a=", "[U!eq,0[V!𝑎],1[W!]]"),
        (r"\times a", "[U!times,0[W!],1[V!𝑎]]"),
        (r"\cdot a+b", "[F!⋅,0[W!],1[U!plus,0[V!𝑎],1[V!𝑏]]]"),
        ("+", "[U!plus]"),
        ("+,-", "[M!L-2,0[U!plus],1[O!minus]]"),
        ("<=", "[O!leq]"),
        ("a<=b", "[O!leq,0[V!𝑎],1[V!𝑏]]"),
        ("a>>b", "[O!much-greater-than,0[V!𝑎],1[V!𝑏]]"),
        ("^2", "[N!2]"),
        ("{}^2", "[N!2]"),
        ("{}^a{}_b", "[O!SUP,0[F!𝑏],1[V!𝑎]]"),
        ("x_{+}", "[O!SUB,0[V!𝑥],1[U!plus]]"),
        ("x^{-}", "[O!SUP,0[V!𝑥],1[O!minus]]"),
        ("x_{=1}", "[O!SUB,0[V!𝑥],1[U!eq,0[W!],1[N!1]]]"),
        ("x^{*}", "[O!SUP,0[V!𝑥],1[U!times]]"),
        ("x^{a,b}", "[O!SUP,0[V!𝑥],1[M!L-2,0[V!𝑎],1[V!𝑏]]]"),
        (
            "x_{a=1,b=2}",
            "[O!SUB,0[V!𝑥],1[O!form-seq,0[U!eq,0[V!𝑎],1[N!1]],1[U!eq,0[V!𝑏],1[N!2]]]]",
        ),
        ("x^{(n)}", "[O!SUP,0[V!𝑥],1[V!𝑛]]"),
        ("x_{i,}", "[O!SUB,0[V!𝑥],1[M!L-1,0[V!𝑖]]]"),
        ("x_{1.}", "[O!SUB,0[V!𝑥],1[M!L-1,0[N!1]]]"),
        ("x^{n.}", "[O!SUP,0[V!𝑥],1[M!L-1,0[V!𝑛]]]"),
        ("x_{i.}+y", "[U!plus,0[O!SUB,0[V!𝑥],1[M!L-1,0[V!𝑖]]],1[V!𝑦]]"),
        (r"x^{\prime}", "[O!SUP,0[V!𝑥],1[V!′]]"),
    ],
)
def test_row_is_read_whatever_it_is(latex, opt):
    assert trees_from_latex(latex).opt.to_string() == opt
