"""Text. The trees are those of LaTeXML 0.8.7."""

from __future__ import annotations

import pytest

from mathamr_kedro.formula.latex import trees_from_latex


@pytest.mark.parametrize(
    ("latex", "slt", "opt"),
    [
        (r"\text{a}b", "[T!a[V!b]]", "[U!times,0[W!],1[V!𝑏]]"),
        (r"\text{a b}", "[T!a b]", "[W!]"),
        (r"x\text{ if }y", "[V!x[T!if[V!y]]]", "[U!times,0[V!𝑥],1[W!],2[V!𝑦]]"),
        (r"x\text{it's `ok'}", "[V!x[T!it’s ‘ok’]]", "[U!times,0[V!𝑥],1[W!]]"),
        (r"x\text{a--b}", "[V!x[T!a–b]]", "[U!times,0[V!𝑥],1[W!]]"),
        (r"x\text{a|b<c>d}", "[V!x[T!a—b¡c¿d]]", "[U!times,0[V!𝑥],1[W!]]"),
        (r"x\text{$y$ z}", "[V!x[V!y[T!z]]]", "[U!times,0[V!𝑥],1[W!]]"),
        (r"x\text{a\ b~c}", "[V!x[T!a b c]]", "[U!times,0[V!𝑥],1[W!]]"),
        (r"x\mbox{word}", "[V!x[T!word]]", "[U!times,0[V!𝑥],1[W!]]"),
        (r"x\textrm{w}", "[V!x[T!w]]", "[U!times,0[V!𝑥],1[W!]]"),
        (r"x\textit{w}", "[V!x[T!𝑤]]", "[U!times,0[V!𝑥],1[W!]]"),
        (r"x\textbf{w w}", "[V!x[T!w w]]", "[U!times,0[V!𝑥],1[W!]]"),
        (r"x\text{50\% \& \{x\}}", "[V!x[T!50% & {x}]]", "[U!times,0[V!𝑥],1[W!]]"),
        (r"x_{\text{max}}", "[V!x,b[T!max]]", "[O!SUB,0[V!𝑥],1[W!]]"),
        (r"x_\text{max}", "[V!x,b[T!max]]", "[O!SUB,0[V!𝑥],1[W!]]"),
    ],
)
def test_text_has_both_trees(latex, slt, opt):
    trees = trees_from_latex(latex)

    assert trees.slt.to_string() == slt
    assert trees.opt.to_string() == opt


def test_text_without_end_is_counted():
    trees = trees_from_latex(r"x\text{a $b")

    assert trees.slt.to_string() == "[V!x[T!a[V!b]]]"
    assert trees.problems == {"missing_dollar": 1, "missing_brace": 1}
