"""Fences. The trees are those of LaTeXML 0.8.7."""

from __future__ import annotations

import pytest

from mathamr_kedro.formula.latex import trees_from_latex


@pytest.mark.parametrize(
    ("latex", "opt"),
    [
        (r"(\partial)f", "[O!partialdiff,0[V!𝑓]]"),
        (r"(a\partial)f", "[+!,0[U!times,0[V!𝑎],1[O!partialdiff]],1[V!𝑓]]"),
        ("(a)", "[V!𝑎]"),
        ("(a)(b)", "[U!times,0[V!𝑎],1[V!𝑏]]"),
        ("(a=b)", "[U!eq,0[V!𝑎],1[V!𝑏]]"),
        ("(a,b]", "[O!interval(O-C),0[V!𝑎],1[V!𝑏]]"),
        ("(+)", "[U!plus]"),
        ("(a,+)", "[O!interval(O-O),0[V!𝑎],1[U!plus]]"),
        ("()", "[M!L-0]"),
        ("[a]", "[M!D-lsqb;&rsqb;,0[V!𝑎]]"),
        (r"\{a\}", "[M!S-1,0[V!𝑎]]"),
        (r"\{a|b,c\}", "[O!conditional-set,0[V!𝑎],1[M!L-2,0[V!𝑏],1[V!𝑐]]]"),
        (r"\{a=b|c\}", "[O!conditional-set,0[U!eq,0[V!𝑎],1[V!𝑏]],1[V!𝑐]]"),
        ("(a", "[E!,0[O!fragments],1[V!(],2[-!a]]"),
        ("a)", "[E!,0[O!fragments],1[-!a],2[V!)]]"),
        ("(a|b)", "[O!conditional,0[V!𝑎],1[V!𝑏]]"),
    ],
)
def test_fences_mean_what_they_hold(latex, opt):
    assert trees_from_latex(latex).opt.to_string() == opt
