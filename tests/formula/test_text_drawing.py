"""Trees as text."""

from __future__ import annotations

import pytest

from mathamr_kedro.base.errors import FormulaError
from mathamr_kedro.formula import FormulaTree
from mathamr_kedro.formula.drawing import MAX_NODES, draw_text


def draw(text):
    return draw_text(FormulaTree.from_string(text)).splitlines()


def test_baseline_runs_to_the_right():
    assert draw("[V!x[+[V!y]],a[N!2]]") == [
        "V!x ───n─ + ─n─ V!y",
        "└─a─ N!2",
    ]


def test_operators_grow_downwards():
    assert draw("[U!plus,0[O!SUP,0[V!x],1[N!2]],1[V!y]]") == [
        "U!plus",
        "├─0─ O!SUP",
        "│    ├─0─ V!x",
        "│    └─1─ N!2",
        "└─0─ V!y",
    ]


def test_wide_characters_keep_columns_straight():
    lines = draw("[T!数[+[V!x,a[N!2]]]]")
    assert lines[0].index("V!x") - 1 == lines[1].index("└") - 2


def test_very_large_trees_are_refused():
    tree = FormulaTree.from_string("[V!x" * 500 + "]" * 500)
    with pytest.raises(FormulaError, match=str(MAX_NODES)):
        draw_text(tree)


@pytest.mark.parametrize("edge", ["n", "w", "0"])
def test_largest_tree_is_drawn(edge):
    mark = "" if edge == "n" else "," + edge
    text = f"[V!x{mark}" * (MAX_NODES - 1) + "[V!x" + "]" * MAX_NODES
    assert draw_text(FormulaTree.from_string(text))
