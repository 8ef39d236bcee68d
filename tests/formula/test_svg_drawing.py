"""Trees as SVG."""

from __future__ import annotations

import pytest
from lxml import etree

from mathamr_kedro.base.errors import FormulaError
from mathamr_kedro.formula import FormulaTree, FormulaTrees
from mathamr_kedro.formula.drawing import draw_svg

NS = "{http://www.w3.org/2000/svg}"
SLT = FormulaTree.from_string("[V!x[<[V!y]],a[N!2],b[V!i]]")
OPT = FormulaTree.from_string("[U!eq,0[O!SUP,0[V!x],1[N!2]],1[V!&lsqb;]]")


def texts(svg):
    return [element.text for element in etree.fromstring(svg).iter(f"{NS}text")]


@pytest.mark.parametrize("tree", [SLT, OPT])
def test_every_node_and_edge_is_drawn(tree):
    svg = draw_svg(tree)
    shown = texts(svg)
    assert sorted(shown) == sorted([*tree.nodes, *(edge for _, edge, _ in tree.edges)])
    lines = etree.fromstring(svg).findall(f".//{NS}line")
    assert len(lines) == len(tree.edges)


def boxes(svg):
    """Left, top, right, bottom of each node."""
    return [
        tuple(float(r.get(k)) for k in ("x", "y", "width", "height"))
        for r in etree.fromstring(svg).iter(f"{NS}rect")
        if r.get("rx")
    ]


@pytest.mark.parametrize(
    "text",
    [
        SLT.to_string(),
        OPT.to_string(),
        "[∫[O!divide[=[V!y]],o[V!d[V!u]],u[V!C[+[V!sin]]]],o[N!2[V!π]],u[N!0]]",
        "[M!()1x2,w[V!x[&comma;],a[N!2],b[V!i],e[V!y,c[N!3],d[N!4]]]]",
    ],
)
def test_nodes_lie_inside_the_picture_and_apart(text):
    svg = draw_svg(FormulaTree.from_string(text))
    page = etree.fromstring(svg)
    width, height = float(page.get("width")), float(page.get("height"))
    placed = boxes(svg)
    for x, y, w, h in placed:
        assert 0 <= x and x + w <= width + 1
        assert 0 <= y and y + h <= height + 1
    for i, (x, y, w, h) in enumerate(placed):
        for x2, y2, w2, h2 in placed[:i]:
            apart = x + w <= x2 or x2 + w2 <= x or y + h <= y2 or y2 + h2 <= y
            assert apart, text


def test_notebooks_show_the_picture():
    assert draw_svg(SLT)._repr_svg_().startswith("<svg")


def test_both_trees_stand_below_each_other():
    svg = draw_svg(FormulaTrees(SLT, OPT, {}), title="x < y & z")
    assert texts(svg)[0] == "x < y & z: Symbol Layout Tree"
    inner = etree.fromstring(svg).findall(f"{NS}svg")
    assert float(inner[0].get("y")) + float(inner[0].get("height")) <= float(
        inner[1].get("y")
    )


def test_missing_tree_is_left_out():
    assert "Operator" not in draw_svg(FormulaTrees(SLT, None, {}))


def test_very_large_trees_are_refused():
    with pytest.raises(FormulaError):
        draw_svg(FormulaTree.from_string("[V!x" * 500 + "]" * 500))
