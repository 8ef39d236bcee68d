"""Math graphs as values."""

from __future__ import annotations

import pytest

from mathamr_kedro.base.errors import GraphError
from mathamr_kedro.graph.math_graph import FormulaPart, MathGraph
from mathamr_kedro.graph.penman_graph import read_math_graph

# x + 1 is even
EVEN = """
(e / even-01
  :ARG1 (f / FORMULA_0
    :opt (F0o0 / U!plus :0 (F0o1 / V!x) :0 (F0o2 / N!1))
    :slt (F0s0 / V!x :n (F0s1 / + :n (F0s2 / N!1))))
  :math (F1 / FORMULA_1
    :slt (F1s0 / V!y)))
"""


def test_nodes_are_numbered_as_they_stand_in_the_text() -> None:
    graph = read_math_graph(EVEN)
    assert graph.atoms == [
        "even-01", "FORMULA_0", "U!plus", "V!x", "N!1", "V!x", "+", "N!1",
        "FORMULA_1", "V!y",
    ]  # fmt: skip
    assert graph.lines == [
        (0, "ARG1", 1),
        (1, "opt", 2), (2, "0", 3), (2, "0", 4),
        (1, "slt", 5), (5, "n", 6), (6, "n", 7),
        (0, "math", 8), (8, "slt", 9),
    ]  # fmt: skip
    assert graph.parents == [-1, 0, 1, 2, 2, 1, 5, 6, 0, 8]
    assert graph.ends == [10, 8, 5, 4, 5, 8, 8, 8, 10, 10]
    # A graph that was not read from text finds both by itself.
    same = MathGraph(graph.variables, graph.atoms, graph.lines)
    assert same == graph
    assert (same.parents, same.ends) == (graph.parents, graph.ends)


def test_formulas_know_their_trees_and_whether_the_amr_lost_them() -> None:
    assert read_math_graph(EVEN).formulas == [
        FormulaPart(0, 1, range(2, 5), range(5, 8), False),
        FormulaPart(1, 8, range(0), range(9, 10), True),
    ]


def test_formulas_that_the_amr_names_at_its_root_are_not_lost() -> None:
    graph = read_math_graph(
        "(a / and :op1 (f / FORMULA_0) :op2 (e / even-01 :math (g / FORMULA_1)))"
    )
    assert [part.is_lost for part in graph.formulas] == [False, False]


def test_formulas_that_hang_from_a_formula_at_the_root_are_lost() -> None:
    graph = read_math_graph("(f / FORMULA_0 :opt (o / V!x) :math (g / FORMULA_1))")
    assert graph.formulas == [
        FormulaPart(0, 0, range(1, 2), range(0), False),
        FormulaPart(1, 2, range(0), range(0), True),
    ]


def test_inverted_roles_are_turned_round_in_edges_alone() -> None:
    graph = read_math_graph(
        "(f / FORMULA_0 :ARG1-of (p / prove-01 :polarity -) :consist-of (s / set))"
    )
    assert graph.lines[0] == (0, "ARG1-of", 1)
    assert graph.edges() == [
        (1, "ARG1", 0),
        (1, "polarity", 2),
        (0, "consist-of", 3),
    ]


def test_a_constant_cannot_be_a_source() -> None:
    assert read_math_graph("(a / b :quant-of 5)").edges() == [(0, "quant-of", 1)]


def test_one_placeholder_at_two_nodes_is_refused() -> None:
    graph = read_math_graph("(a / and :op1 (f / FORMULA_0) :op2 (g / FORMULA_0))")
    with pytest.raises(GraphError, match="one node for 'FORMULA_0'"):
        _ = graph.formulas


@pytest.mark.parametrize(
    "lines",
    [
        [(0, "a", 2), (0, "b", 1)],  # 2 before 1
        [(0, "a", 1), (0, "b", 2), (1, "c", 2), (1, "d", 0), (5, "e", 1)],
        [(0, "a", 1), (0, "b", 2), (1, "c", 0)],  # the brackets of 1 are closed
        [(0, "a", 1)],  # nothing leads to 2
    ],
)
def test_lines_must_lie_as_a_text_would_have_them(lines: list) -> None:
    with pytest.raises(GraphError, match="Expected"):
        MathGraph(["a", "b", "c"], ["x", "y", "z"], lines)


def test_equal_graphs_are_equal_values() -> None:
    assert read_math_graph(EVEN) == read_math_graph(EVEN.replace("\n", " "))
    assert read_math_graph(EVEN) != read_math_graph(EVEN.replace("V!y", "V!z"))
    assert len({read_math_graph(EVEN), read_math_graph(EVEN)}) == 1
