"""Functions and big operators. The trees are those of LaTeXML 0.8.7."""

from __future__ import annotations

import pytest

from mathamr_kedro.formula.latex import trees_from_latex


@pytest.mark.parametrize(
    ("latex", "opt"),
    [
        (r"\sin x", "[F!sin,0[V!𝑥]]"),
        (r"\sin xy", "[F!sin,0[U!times,0[V!𝑥],1[V!𝑦]]]"),
        (
            r"\sin 2x\cos 3y",
            "[U!times,0[F!sin,0[U!times,0[N!2],1[V!𝑥]]],1[F!cos,0[U!times,0[N!3],1[V!𝑦]]]]",
        ),
        (r"\log x\sin y", "[F!log,0[U!times,0[V!𝑥],1[F!sin,0[V!𝑦]]]]"),
        (r"\sin(x)y", "[U!times,0[F!sin,0[V!𝑥]],1[V!𝑦]]"),
        (r"\sin x+y", "[U!plus,0[F!sin,0[V!𝑥]],1[V!𝑦]]"),
        ("f(x)", "[U!times,0[V!𝑓],1[V!𝑥]]"),
        (r"\log|x|", "[F!log,0[F!abs,0[V!𝑥]]]"),
        (r"\exp(a,b)", "[F!exp,0[V!𝑎],1[V!𝑏]]"),
        (r"\sin^{-1}(x)", "[+!F!sin,0[O!SUP,0[F!sin],1[O!minus,0[N!1]]],1[V!𝑥]]"),
        (r"\arg\max x", "[F!arg,0[F!max,0[V!𝑥]]]"),
        (r"\sum a b+c", "[U!plus,0[O!sum,0[U!times,0[V!𝑎],1[V!𝑏]]],1[V!𝑐]]"),
        (
            r"\sum_i\prod_j x",
            "[+!O!sum,0[O!SUB,0[O!sum],1[V!𝑖]],1[+!O!product,0[O!SUB,0[O!product],1[V!𝑗]],1[V!𝑥]]]",
        ),
        (
            r"\int f(x)dx",
            "[O!int,0[U!times,0[V!𝑓],1[V!𝑥],2[O!differential-d,0[V!𝑥]]],1[W!],2[W!]]",
        ),
        (
            r"\int_0^1 x\,dy+1",
            "[U!plus,0[+!O!SUB,0[O!SUP,0[O!SUB,0[O!int],1[N!0]],1[N!1]],1[U!times,0[V!𝑥],1[O!differential-d,0[V!𝑦]]]],1[N!1]]",
        ),
        (r"\lim_x f=1", "[U!eq,0[+!O!limit,0[O!SUB,0[O!limit],1[V!𝑥]],1[V!𝑓]],1[N!1]]"),
        (r"\nabla\cdot F", "[F!⋅,0[V!∇],1[V!𝐹]]"),
        (r"\nabla^2 f(x)", "[U!times,0[+!V!∇,0[O!SUP,0[V!∇],1[N!2]],1[V!𝑓]],1[V!𝑥]]"),
        ("{}^a_b X", "[O!SUP,0[O!SUB,0[V!𝑋],1[V!𝑏]],1[V!𝑎]]"),
        (r"{}_b^a\sum x", "[+!O!SUP,0[O!SUB,0[O!SUP,0[O!sum],1[V!𝑎]],1[V!𝑏]],1[V!𝑥]]"),
    ],
)
def test_operator_takes_its_operand(latex, opt):
    assert trees_from_latex(latex).opt.to_string() == opt
