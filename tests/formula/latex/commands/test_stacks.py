"""Accents, stacks, boxes and phantoms. The trees are those of LaTeXML 0.8.7."""

from __future__ import annotations

import pytest

from mathamr_kedro.formula.latex import trees_from_latex


@pytest.mark.parametrize(
    ("latex", "slt", "opt"),
    [
        (r"\hat{x}", "[V!x,o[^]]", "[F!^,0[V!𝑥]]"),
        (r"\hat x y", "[V!x[V!y],o[^]]", "[U!times,0[F!^,0[V!𝑥]],1[V!𝑦]]"),
        (r"\tilde{ab}", "[M!1x1,o[~],w[V!a[V!b]]]", "[F!~,0[U!times,0[V!𝑎],1[V!𝑏]]]"),
        (r"\dot x", "[V!x,o[˙]]", "[F!˙,0[V!𝑥]]"),
        (r"\ddot{x}", "[V!x,o[¨]]", "[F!¨,0[V!𝑥]]"),
        (r"\bar{z}", "[V!z,o[¯]]", "[F!¯,0[V!𝑧]]"),
        (r"\widehat{AB}", "[M!1x1,o[^],w[V!A[V!B]]]", "[F!^,0[U!times,0[V!𝐴],1[V!𝐵]]]"),
        (r"\underline{x}", "[V!x,u[¯]]", "[F!¯,0[V!𝑥]]"),
        (
            r"\overrightarrow{AB}",
            "[M!1x1,o[→],w[V!A[V!B]]]",
            "[F!→,0[U!times,0[V!𝐴],1[V!𝐵]]]",
        ),
        (r"\overline{\underline{x}}", "[V!x,o[¯],u[¯]]", "[F!¯,0[F!¯,0[V!𝑥]]]"),
        (
            r"\overbrace{a}^{n}",
            "[M!1x1,o[V!n],w[V!a,o[⏞]]]",
            "[O!SUP,0[F!⏞,0[V!𝑎]],1[V!𝑛]]",
        ),
        (
            r"\underbrace{a}_n",
            "[M!1x1,u[V!n],w[V!a,u[⏟]]]",
            "[O!SUB,0[F!⏟,0[V!𝑎]],1[V!𝑛]]",
        ),
        (r"\overset{!}{=}", "[=,o[!]]", "[O!factorial,0[U!eq]]"),
        (r"\underset{x}{\max}", "[V!max,u[𝑥]]", "[F!𝑥,0[F!max]]"),
        (r"\overset{a}{X}", "[V!X,o[𝑎]]", "[F!𝑎,0[V!𝑋]]"),
        (r"\stackrel{d}{\to}", "[→,o[V!d]]", "[O!SUP,0[V!→],1[V!𝑑]]"),
        (
            r"A\stackrel{f}{\to}B",
            "[V!A[→[V!B],o[V!f]]]",
            "[+!V!→,0[O!SUP,0[V!→],1[V!𝑓]],1[V!𝐴],2[V!𝐵]]",
        ),
        (
            r"A\xrightarrow[g]{f}B",
            "[V!A[→[V!B],o[𝑓],u[𝑔]]]",
            "[+!,0[F!𝑔,0[F!𝑓,0[V!→]]],1[V!𝐴],2[V!𝐵]]",
        ),
        (r"\xleftarrow{}", "[←,o[W!]]", "[W!,0[V!←]]"),
        (
            r"\sideset{}{'}\sum_i a",
            "[∑[V!a],o[′],u[V!i]]",
            "[U!times,0[O!SUB,0[O!SUP,0[O!sum],1[V!′]],1[V!𝑖]],1[V!𝑎]]",
        ),
        (r"\boxed{a=b}", "[box,w[V!a[=[V!b]]]]", "[U!eq,0[V!𝑎],1[V!𝑏]]"),
        (r"\boxed{a}b", "[box[V!b],w[V!a]]", "[U!times,0[V!𝑎],1[V!𝑏]]"),
        (r"\phantom{ab}c", "[V!c]", "[V!𝑐]"),
        (r"\vphantom{a}c", "[V!c]", "[V!𝑐]"),
        (r"\smash{a}b", "[V!a[V!b]]", "[U!times,0[V!𝑎],1[V!𝑏]]"),
    ],
)
def test_stack_has_both_trees(latex, slt, opt):
    trees = trees_from_latex(latex)

    assert trees.slt.to_string() == slt
    assert trees.opt.to_string() == opt
