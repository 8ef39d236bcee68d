"""Virtual nodes: order, links, and the combinations that make no sense."""

from __future__ import annotations

from itertools import product
from typing import get_args

import pytest

from mathamr_kedro.base.errors import ConfigurationError
from mathamr_kedro.graph.penman_graph import read_math_graph
from mathamr_kedro.graph.sentences import Sentences
from mathamr_kedro.graph.virtual_nodes import (
    AuxiliaryEdges,
    FormulaMode,
    GraphVariant,
    Structure,
)


def test_a_sentence_stands_before_its_formulas() -> None:
    # FORMULA_1 is named in sentence 0 first; FORMULA_2 was lost behind FORMULA_1.
    graph = read_math_graph(
        """(m / multi-sentence
             :snt1 (s / show-01 :ARG0 (f1 / FORMULA_1))
             :snt2 (h / hold-01 :ARG1 f1 :ARG2 (f0 / FORMULA_0) :ARG3 (f3 / FORMULA_3))
             :math (F2 / FORMULA_2))"""
    )
    assert Sentences.of(graph).order_with(graph.formulas) == [
        ("sentence", 0),
        ("formula", 1),
        ("formula", 2),
        ("sentence", 1),
        ("formula", 0),
        ("formula", 3),
    ]


def test_a_formula_lost_before_all_others_comes_first() -> None:
    graph = read_math_graph("(s / show-01 :ARG0 (f / FORMULA_1) :math (g / FORMULA_0))")
    assert Sentences.of(graph).order_with(graph.formulas) == [
        ("formula", 0),
        ("sentence", 0),
        ("formula", 1),
    ]


@pytest.mark.parametrize("kind", get_args(AuxiliaryEdges))
def test_one_virtual_node_has_nobody_to_be_linked_with(kind: AuxiliaryEdges) -> None:
    assert GraphVariant(auxiliary_edges=kind).link([5]) == []


def test_two_virtual_nodes_make_no_circle() -> None:
    assert GraphVariant(auxiliary_edges="circular").link([5, 6]) == [(5, 6)]


@pytest.mark.parametrize(
    ("mode", "structure", "edges"),
    list(product(get_args(FormulaMode), get_args(Structure), get_args(AuxiliaryEdges))),
)
def test_every_variant_is_made_or_refused_with_a_reason(
    mode: FormulaMode, structure: Structure, edges: AuxiliaryEdges
) -> None:
    if edges == "none" or structure == "hierarchy":
        GraphVariant(mode, structure, edges)
    else:
        with pytest.raises(ConfigurationError, match="only the structure 'hierarchy'"):
            GraphVariant(mode, structure, edges)


def test_an_unknown_value_is_refused_with_the_nearest_one() -> None:
    with pytest.raises(ConfigurationError, match="did you mean 'opt'"):
        GraphVariant("otp")  # type: ignore[arg-type]
