from __future__ import annotations

import pytest

from mathamr_kedro.formula.latex import trees_from_latex


@pytest.mark.parametrize(
    ("latex", "slt", "opt"),
    [
        (
            "x{}^2",
            "[V!x[W!,a[N!2]]]",
            "[E!,0[O!fragments],1[-!x],2[N!2]]",
        ),
        (
            "(a,)",
            "[M!()1x2,w[V!a[&comma;]]]",
            "[E!,0[O!fragments],1[V!(],2[-!a],3[V!&comma;],4[V!)]]",
        ),
        (
            "ab)c",
            "[V!a[V!b[)[V!c]]]]",
            "[E!,0[O!fragments],1[T!ab],2[V!)],3[-!c]]",
        ),
        (
            "a==b_1",
            "[V!a[=[=[V!b,b[N!1]]]]]",
            "[E!,0[O!fragments],1[-!a],2[U!eq],3[U!eq],4[O!SUB,0[V!𝑏],1[N!1]]]",
        ),
    ],
)
def test_row_that_is_no_formula_is_kept_in_fragments(latex, slt, opt):
    trees = trees_from_latex(latex)

    assert trees.slt.to_string() == slt
    assert trees.opt.to_string() == opt
    assert trees.problems == {"unparsed": 1}


def test_broken_part_does_not_break_the_whole():
    trees = trees_from_latex(r"\frac{a)}{2}+c")

    assert trees.opt.to_string().startswith("[U!plus,0[O!divide,0[E!,0[O!fragments]")
