"""Fonts. The trees are those of LaTeXML 0.8.7."""

from __future__ import annotations

import pytest

from mathamr_kedro.formula.latex import trees_from_latex


@pytest.mark.parametrize(
    ("latex", "slt", "opt"),
    [
        (r"\mathrm{ab}c", "[V!ab[V!c]]", "[U!times,0[V!ab],1[V!𝑐]]"),
        (r"\mathbf{A}\mathbf{b}", "[V!𝐀𝐛]", "[V!𝐀𝐛]"),
        (r"\mathbf{x_1}", "[V!𝐱,b[N!𝟏]]", "[O!SUB,0[V!𝐱],1[N!1]]"),
        (r"\mathbf{\alpha}", "[V!α]", "[V!𝛼]"),
        (r"\mathbf{1}", "[N!𝟏]", "[N!1]"),
        (r"\mathit{ab}", "[V!𝑎𝑏]", "[V!𝑎𝑏]"),
        (r"\mathsf{a}", "[V!𝖺]", "[V!𝖺]"),
        (r"\mathtt{a1}", "[V!𝚊𝟷]", "[V!𝚊𝟷]"),
        (r"\mathcal{A}_1", "[V!𝒜,b[N!1]]", "[O!SUB,0[V!𝒜],1[N!1]]"),
        (r"\mathscr{L}", "[V!ℒ]", "[V!ℒ]"),
        (r"\mathbb{NZ}", "[V!ℕ[V!ℤ]]", "[U!times,0[V!ℕ],1[V!ℤ]]"),
        (r"\mathbb{1}", "[N!𝟙]", "[N!1]"),
        (r"\Bbb R", "[V!ℝ]", "[V!ℝ]"),
        (r"\mathfrak{g}", "[V!𝔤]", "[V!𝔤]"),
        (r"\frak g", "[V!𝔤]", "[V!𝔤]"),
        (r"\boldsymbol{x+\beta}", "[V!𝒙[+[V!𝜷]]]", "[U!plus,0[V!𝒙],1[V!𝜷]]"),
        (r"\boldsymbol{\nabla}f", "[∇[V!f]]", "[F!bold-∇,0[V!𝑓]]"),
        (r"\pmb x", "[V!𝒙]", "[V!𝒙]"),
        (r"{\rm ab}c", "[V!ab[V!c]]", "[U!times,0[V!ab],1[V!𝑐]]"),
        (r"\bf x y", "[V!𝐱𝐲]", "[V!𝐱𝐲]"),
        (r"{\cal A}b", "[V!𝒜[V!b]]", "[U!times,0[V!𝒜],1[V!𝑏]]"),
        (r"{\it x}", "[V!x]", "[V!𝑥]"),
        (r"\mathrm{\Gamma}", "[V!Γ]", "[V!Γ]"),
        (r"\mathbf{\Gamma}", "[V!𝚪]", "[V!𝚪]"),
        (r"\mathit{\Gamma}", "[V!Γ]", "[V!𝛤]"),
    ],
)
def test_font_has_both_trees(latex, slt, opt):
    trees = trees_from_latex(latex)

    assert trees.slt.to_string() == slt
    assert trees.opt.to_string() == opt
