from __future__ import annotations

from mathamr_kedro.formula.latex import trees_from_latex
from mathamr_kedro.formula.latex.nodes import App
from mathamr_kedro.formula.latex.operator_tree import build_opt
from mathamr_kedro.formula.latex.symbols import SYMBOLS, Symbol


def test_operator_of_very_many_operands_is_split():
    app = App(Symbol("ADDOP", "+", "plus"), [SYMBOLS["a"]] * 1100)

    root = build_opt(app)

    assert [len(half.edges) for half in root.edges.values()] == [2, 2]
    assert sum(
        len(part.edges) for half in root.edges.values() for part in half.edges.values()
    ) == (1100)


def test_long_sum_of_changing_signs_is_no_deep_recursion():
    assert trees_from_latex("a" + "-b+c" * 2000).opt.depth == 4001
