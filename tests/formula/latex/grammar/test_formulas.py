"""Relations and lists. The trees are those of LaTeXML 0.8.7."""

from __future__ import annotations

import pytest

from mathamr_kedro.formula.latex import trees_from_latex


@pytest.mark.parametrize(
    ("latex", "opt"),
    [
        ("a=b=c", "[U!and,0[U!eq,0[V!𝑎],1[V!𝑏]],1[U!eq,0[V!𝑐]]]"),
        ("a=b,c=d", "[O!form-seq,0[U!eq,0[V!𝑎],1[V!𝑏]],1[U!eq,0[V!𝑐],1[V!𝑑]]]"),
        (
            "a=b,c,d=e",
            "[O!form-seq,0[U!eq,0[V!𝑎],1[M!L-2,0[V!𝑏],1[V!𝑐]]],1[U!eq,0[V!𝑑],1[V!𝑒]]]",
        ),
        (
            "a=b,c=d,e=f",
            "[O!form-seq,0[U!eq,0[V!𝑎],1[V!𝑏]],1[O!form-seq,0[U!eq,0[V!𝑐],1[V!𝑑]],"
            "1[U!eq,0[V!𝑒],1[V!𝑓]]]]",
        ),
        (
            "a=b,c=d,e=f,g,h",
            "[O!form-seq,0[U!eq,0[V!𝑎],1[V!𝑏]],1[O!form-seq,0[U!eq,0[V!𝑐],1[V!𝑑]],"
            "1[U!eq,0[V!𝑒],1[M!L-3,0[V!𝑓],1[V!𝑔],2[V!ℎ]]]]]",
        ),
        ("a,b,c", "[M!L-3,0[V!𝑎],1[V!𝑏],2[V!𝑐]]"),
        ("a,b=c", "[U!eq,0[M!L-2,0[V!𝑎],1[V!𝑏]],1[V!𝑐]]"),
        (r"a\leq b\iff c", "[U!iff,0[O!leq,0[V!𝑎],1[V!𝑏]],1[V!𝑐]]"),
        (r"p\Rightarrow q", "[F!⇒,0[V!𝑝],1[V!𝑞]]"),
    ],
)
def test_relations_and_lists_nest(latex, opt):
    assert trees_from_latex(latex).opt.to_string() == opt
