"""Roles given by hand, names, limits, negation: trees as those of LaTeXML 0.8.7."""

from __future__ import annotations

import pytest

from mathamr_kedro.formula.latex import trees_from_latex


@pytest.mark.parametrize(
    ("latex", "slt", "opt"),
    [
        (r"\mathop{\rm foo} x", "[foo[V!x]]", "[F!foo,0[V!𝑥]]"),
        (r"\mathop{a}_b", "[𝑎,u[V!b]]", "[O!SUB,0[V!𝑎],1[V!𝑏]]"),
        (r"\mathrel{R}", "[𝑅]", "[V!𝑅]"),
        (r"a\mathbin{\#}b", "[V!a[#[V!b]]]", "[F!#,0[V!𝑎],1[V!𝑏]]"),
        (r"a\mathrel{+}b", "[V!a[+[V!b]]]", "[U!plus,0[V!𝑎],1[V!𝑏]]"),
        (r"\mathord{+}a", "[V!+[V!a]]", "[U!times,0[U!plus],1[V!𝑎]]"),
        (r"\mathopen{|}x\mathclose{|}", "[M!||1x1,w[V!x]]", "[F!abs,0[V!𝑥]]"),
        (r"\operatorname{f}x", "[V!f[V!x]]", "[F!f,0[V!𝑥]]"),
        (r"\operatorname{f g}(x)", "[V!fg[M!()1x1,w[V!x]]]", "[F!fg,0[V!𝑥]]"),
        (
            r"\operatorname{a-b}x",
            "[V!a[-[V!b[V!x]]]]",
            "[+!,0[O!minus,0[V!a],1[V!b]],1[V!𝑥]]",
        ),
        (
            r"\operatorname*{arg\,max}_x f",
            "[M!1x1[V!f],u[V!x],w[V!arg[V!max]]]",
            "[+!U!times,0[O!SUB,0[U!times,0[V!arg],1[V!max]],1[V!𝑥]],1[V!𝑓]]",
        ),
        (r"\varlimsup a", "[V!lim[V!a],o[¯]]", "[O!limit-supremum,0[V!𝑎]]"),
        (r"\varinjlim a", "[V!lim[V!a],u[→]]", "[O!injective-limit,0[V!𝑎]]"),
        (
            r"\int\limits_0^1 x",
            "[∫[V!x],o[N!1],u[N!0]]",
            "[+!O!SUB,0[O!SUP,0[O!SUB,0[O!int],1[N!0]],1[N!1]],1[V!𝑥]]",
        ),
        (
            r"\sum\nolimits_0^1 x",
            "[∑[V!x],o[N!1],u[N!0]]",
            "[+!O!SUB,0[O!SUP,0[O!SUB,0[O!sum],1[N!0]],1[N!1]],1[V!𝑥]]",
        ),
        (r"\sin\limits_x", "[V!sin,u[V!x]]", "[O!SUB,0[F!sin],1[V!𝑥]]"),
        (
            r"a\equiv b\pmod{m+n}",
            "[V!a[≡[V!b[M!()1x1,w[mod[V!m[+[V!n]]]]]]]]",
            "[U!equivalent,0[V!𝑎],1[O!annotated,0[V!𝑏],1[F!pmod,0[U!plus,0[V!𝑚],1[V!𝑛]]]]]",
        ),
        (r"a\pod n", "[V!a[M!()1x1,w[V!n]]]", "[O!annotated,0[V!𝑎],1[O!rem,0[V!𝑛]]]"),
        (r"a\mod b", "[V!a[mod[V!b]]]", "[O!rem,0[V!𝑎],1[V!𝑏]]"),
        (r"a\not\in B", "[V!a[∉[V!B]]]", "[O!notin,0[V!𝑎],1[V!𝐵]]"),
        (r"\not a", "[V!a̸]", "[V!italic-a̸]"),
        (r"\not\equiv", "[≢]", "[U!not-equivalent-to]"),
        (r"a\not\leq b", "[V!a[≰[V!b]]]", "[O!not-less-than-or-equals,0[V!𝑎],1[V!𝑏]]"),
        (r"\not{abc}", "[V!a̸[V!b[V!c]]]", "[U!times,0[V!italic-a̸],1[V!𝑏],2[V!𝑐]]"),
    ],
)
def test_operator_has_both_trees(latex, slt, opt):
    trees = trees_from_latex(latex)

    assert trees.slt.to_string() == slt
    assert trees.opt.to_string() == opt
