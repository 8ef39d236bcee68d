"""Graphs of formulas."""

from __future__ import annotations

from mathamr_kedro.formula.graphs.formula_graph import FormulaGraph


def test_part_is_renumbered_in_the_old_order():
    graph = FormulaGraph(("a", "b", "c"), ((0, "x", 2), (2, "y", 1), (0, "x", 2)))
    assert graph.keep({2, 0}) == FormulaGraph(("a", "c"), ((0, "x", 1), (0, "x", 1)))
