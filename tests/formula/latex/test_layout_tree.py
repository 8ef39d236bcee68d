from __future__ import annotations

import pytest

from mathamr_kedro.formula.latex import trees_from_latex


@pytest.mark.parametrize(
    ("latex", "slt"),
    [
        ("x_1^2", "[V!x,a[N!2],b[N!1]]"),
        ("x^2_1", "[V!x,a[N!2],b[N!1]]"),
        ("{x_1}^2", "[V!x,a[W![N!2]],b[N!1]]"),
        ("{}_a^bX_c^d", "[V!X,a[V!d],b[V!c],c[V!b],d[V!a]]"),
        (r"\sum_i^n", "[∑,o[V!n],u[V!i]]"),
        (r"\int_0^1", "[∫,o[N!1],u[N!0]]"),
        (r"\sum_i'", "[∑,o[′],u[V!i]]"),
        (r"\overline{x}^2", "[V!x,a[N!2],o[¯]]"),
        (r"\hat{\hat x}", "[M!1x1,o[^],w[V!x,o[^]]]"),
        (r"(x)_1", "[M!()1x1,b[N!1],w[V!x]]"),
        (r"\lfloor x\rfloor^2", "[M!1x1,o[N!2],w[⌊[V!x[⌋]]]]"),
        ("f'(x)", "[V!f[M!()1x1,w[V!x]],a[′]]"),
        ("a-b+c", "[V!a[-[V!b[+[V!c]]]]]"),
        ("n!^2", "[M!1x1,a[N!2],w[V!n[!]]]"),
    ],
)
def test_scripts_stand_where_they_are_drawn(latex, slt):
    assert trees_from_latex(latex).slt.to_string() == slt
