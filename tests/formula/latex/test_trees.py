r"""Both trees of formulas, construct by construct: ``trees.tsv``.

Each row is LaTeX beside its Symbol Layout Tree and its Operator Tree. The trees are
those of LaTeXML 0.8.7 and the published converters.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from mathamr_kedro.formula.latex import trees_from_latex


def _read_trees():
    """LaTeX with its trees; an empty one is not looked at."""
    path = Path(__file__).with_name("trees.tsv")
    _, *lines = path.read_text(encoding="utf-8").splitlines()
    return [line.split("\t") for line in lines if not line.startswith("# ")]


@pytest.mark.parametrize(("latex", "slt", "opt"), _read_trees())
def test_formula_has_both_trees(latex, slt, opt):
    trees = trees_from_latex(latex)

    assert slt in ("", trees.slt.to_string())
    assert opt in ("", trees.opt.to_string())


NAMES = [
    (
        r"\text{Supp}(s)",
        "[T!Supp[M!()1x1,w[V!s]]]",
        "[U!times,0[T!Supp],1[V!𝑠]]",
    ),
    (
        r"\textit{Coh}(X)",
        "[T!𝐶𝑜ℎ[M!()1x1,w[V!X]]]",
        "[U!times,0[T!𝐶𝑜ℎ],1[V!𝑋]]",
    ),
    (r"\textrm{Sch}/S", "[T!Sch[/[V!S]]]", "[O!divide,0[T!Sch],1[V!𝑆]]"),
    (r"X^{\text{an}}", "[V!X,a[T!an]]", "[O!SUP,0[V!𝑋],1[T!an]]"),
    (r"\mathit{Coh}", "[V!𝐶𝑜ℎ]", "[V!𝐶𝑜ℎ]"),
    (r"\mathrm{Spec}(R)", "[V!Spec[M!()1x1,w[V!R]]]", "[U!times,0[V!Spec],1[V!𝑅]]"),
    (r"\operatorname{Hom}(R)", "[V!Hom[M!()1x1,w[V!R]]]", "[F!Hom,0[V!𝑅]]"),
    (r"\Spec(R)", "[E!Spec[M!()1x1,w[V!R]]]", "[U!times,0[E!Spec],1[V!𝑅]]"),
    (r"\Hom(R)", "[E!Hom[M!()1x1,w[V!R]]]", "[U!times,0[E!Hom],1[V!𝑅]]"),
    (r"\text{for $x>0$}", "[T!for[V!x[>[N!0]]]]", "[T!for,0[O!gt,0[V!𝑥],1[N!0]]]"),
    (r"\text{$x$$y$}", "[V!x[V!y]]", "[O!form-seq,0[V!𝑥],1[V!𝑦]]"),
    (r"\text{$x$}", "[V!x]", "[V!𝑥]"),
    (r"a\text{ }b", "[V!a[V!b]]", "[U!times,0[V!𝑎],1[W!],2[V!𝑏]]"),
    (
        r"\begin{cases}a\end{cases}",
        "[{[M!1x2,w[V!a,e[W!]]]]",
        "[O!cases,0[V!𝑎],1[T!otherwise]]",
    ),
    (
        r"x\overset{\text{def}}{=}y",
        "[V!x[=[V!y],o[T!def]]]",
        "[U!times,0[V!𝑥],1[T!def,0[U!eq]],2[V!𝑦]]",
    ),
]


@pytest.mark.parametrize(("latex", "slt", "opt"), NAMES)
def test_names_stay_in_total_mode(latex, slt, opt):
    trees = trees_from_latex(latex, mode="total")

    assert trees.slt.to_string() == slt
    assert trees.opt.to_string() == opt


@pytest.mark.parametrize(
    "written",
    [
        "a &lt; b",
        "$a<b$",
        "$$ a < b $$",
        r"\[a<b\]",
        r"\(a<b\)",
        "a<b % less",
        "a\n<\tb",
        r"a<b\tag{1}",
        r"a<b\label{eq:1}\nonumber",
        r"\begin{equation*}a<b\end{equation*}",
        r"\small a<b",
        r"{a}<{b}",
    ],
)
def test_wrapping_does_not_change_the_trees(written):
    assert trees_from_latex(written)[:2] == trees_from_latex("a<b")[:2]


@pytest.mark.parametrize(
    ("written", "same"),
    [
        (r"\begin{align}a&=b\\c&=d\end{align}", "aligned"),
        (r"\begin{align*}a&=b\\c&=d\\\end{align*}", "aligned"),
        (r"\begin{split}a&=b\\c&=d\end{split}", "aligned"),
        (r"\begin{alignat}{2}a&=b\\c&=d\end{alignat}", "aligned"),
        (r"\eqalign{a&=b\cr c&=d}", "aligned"),
        (r"\begin{gather}a&=b\\c&=d\end{gather}", "gathered"),
        (r"\begin{multline*}a&=b\\c&=d\end{multline*}", "gathered"),
    ],
)
def test_environments_of_one_kind_have_the_same_trees(written, same):
    plain = rf"\begin{{{same}}}a&=b\\c&=d\end{{{same}}}"

    assert trees_from_latex(written)[:2] == trees_from_latex(plain)[:2]


@pytest.mark.parametrize("latex", ["", "   ", "$$", "% nothing", "$ $"])
def test_empty_formula_has_no_trees(latex):
    assert trees_from_latex(latex) == (None, None, {"empty": 1})


def test_text_alone_is_a_blank_in_the_operator_tree():
    trees = trees_from_latex(r"\text{Poisson}(\lambda)")

    assert trees.slt.to_string() == "[T!Poisson[M!()1x1,w[V!λ]]]"
    assert trees.opt.to_string() == "[U!times,0[W!],1[V!𝜆]]"


def test_same_formula_gives_equal_trees_each_time():
    latex = r"\sum_{i=1}^n \frac{x_i}{\|x\|} \leq \sqrt{n}"

    assert trees_from_latex(latex) == trees_from_latex(latex)
