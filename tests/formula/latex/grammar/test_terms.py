"""Sums, products and remarks. The trees are those of LaTeXML 0.8.7."""

from __future__ import annotations

import pytest

from mathamr_kedro.formula.latex import trees_from_latex


@pytest.mark.parametrize(
    ("latex", "opt"),
    [
        ("a+b", "[U!plus,0[V!𝑎],1[V!𝑏]]"),
        ("a-b-c", "[O!minus,0[V!𝑎],1[V!𝑏],2[V!𝑐]]"),
        ("a+b-c", "[O!minus,0[U!plus,0[V!𝑎],1[V!𝑏]],1[V!𝑐]]"),
        ("-a+b", "[U!plus,0[O!minus,0[V!𝑎]],1[V!𝑏]]"),
        (r"a\pm b", "[O!plus-or-minus,0[V!𝑎],1[V!𝑏]]"),
        (r"x\to 0^+", "[F!→,0[V!𝑥],1[O!SUP,0[N!0],1[U!plus]]]"),
        (
            r"a\equiv b\pmod{n}+1",
            "[E!,0[O!fragments],1[-!a],2[U!equivalent],3[-!b],4[F!pmod,0[V!𝑛]],5[U!plus],6[N!1]]",
        ),
        ("a|b", "[O!conditional,0[V!𝑎],1[V!𝑏]]"),
        ("f(x)|_{0}", "[O!evaluated-at,0[U!times,0[V!𝑓],1[V!𝑥]],1[N!0]]"),
        ("f(x)|_{0}^{1}", "[O!evaluated-at,0[U!times,0[V!𝑓],1[V!𝑥]],1[N!0],2[N!1]]"),
        ("f|^1_0", "[O!evaluated-at,0[V!𝑓],1[N!0],2[N!1]]"),
    ],
)
def test_terms_group_as_they_bind(latex, opt):
    assert trees_from_latex(latex).opt.to_string() == opt
