"""Fences of all sizes. The trees are those of LaTeXML 0.8.7."""

from __future__ import annotations

import pytest

from mathamr_kedro.formula.latex import trees_from_latex


@pytest.mark.parametrize(
    ("latex", "slt", "opt"),
    [
        (r"\left(a\right)", "[M!()1x1,w[V!a]]", "[V!𝑎]"),
        (
            r"\left[a,b\right)",
            "[M!&lsqb;)1x2,w[V!a[&comma;],e[V!b]]]",
            "[O!interval(C-O),0[V!𝑎],1[V!𝑏]]",
        ),
        (r"\left\{a\right.", "[{[V!a]]", "[E!,0[O!fragments],1[V!{],2[-!a]]"),
        (r"\left.a\right)", "[V!a[)]]", "[E!,0[O!fragments],1[-!a],2[V!)]]"),
        (r"\left\langle a\right\rangle", "[⟨[V!a[⟩]]]", "[M!D-⟩,0[V!𝑎]]"),
        (r"\left<a\right>", "[⟨[V!a[⟩]]]", "[M!D-⟩,0[V!𝑎]]"),
        (r"\left|a\right|", "[M!||1x1,w[V!a]]", "[F!abs,0[V!𝑎]]"),
        (r"\left\|a\right\|", "[M!∥∥1x1,w[V!a]]", "[O!norm,0[V!𝑎]]"),
        (r"\left\lfloor a\right\rfloor", "[⌊[V!a[⌋]]]", "[F!floor,0[V!𝑎]]"),
        (r"\left/a\right/", "[/[V!a[/]]]", "[E!,0[O!fragments],1[V!/],2[-!a],3[V!/]]"),
        (r"\left]a\right[", "[&rsqb;[V!a[&lsqb;]]]", "[M!D-rsqb;&lsqb;,0[V!𝑎]]"),
        (
            r"\left(a\middle|b\right)",
            "[M!()1x1,w[V!a[|[V!b]]]]",
            "[E!,0[O!fragments],1[V!(],2[-!a],3[V!|],4[-!b],5[V!)]]",
        ),
        (
            r"\left(a\middle/b\right)",
            "[M!()1x1,w[V!a[/[V!b]]]]",
            "[E!,0[O!fragments],1[V!(],2[-!a],3[O!divide],4[-!b],5[V!)]]",
        ),
        (r"\big(a\big)", "[M!()1x1,w[V!a]]", "[V!𝑎]"),
        (r"\Bigl[a\Bigr]", "[M!&lsqb;&rsqb;1x1,w[V!a]]", "[M!D-lsqb;&rsqb;,0[V!𝑎]]"),
        (r"\bigl|a\bigr|", "[M!||1x1,w[V!a]]", "[F!abs,0[V!𝑎]]"),
        (r"a\bigm|b", "[V!a[|[V!b]]]", "[E!,0[O!fragments],1[-!a],2[V!|],3[-!b]]"),
        (r"\big|a\big|", "[M!||1x1,w[V!a]]", "[F!abs,0[V!𝑎]]"),
    ],
)
def test_fences_have_both_trees(latex, slt, opt):
    trees = trees_from_latex(latex)

    assert trees.slt.to_string() == slt
    assert trees.opt.to_string() == opt


@pytest.mark.parametrize(
    ("latex", "problem"),
    [
        (r"\left(a", "missing_right"),
        (r"a\right)", "missing_left"),
        (r"{\left(a}\right)", "missing_right"),
        (r"\left", "missing_delimiter"),
        (r"\left(\right", "missing_delimiter"),
    ],
)
def test_unbalanced_fences_are_counted(latex, problem):
    assert problem in trees_from_latex(latex).problems
