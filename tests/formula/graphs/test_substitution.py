"""Substructure substitution."""

from __future__ import annotations

from random import Random

import pytest

from mathamr_kedro.base.errors import ConfigurationError
from mathamr_kedro.formula import FormulaTree
from mathamr_kedro.formula.graphs.shared_graph import build_shared_graph
from mathamr_kedro.formula.graphs.substitution import (
    list_orders,
    substitute_substructures,
)

# a = b + c·d
GRAPH = build_shared_graph(
    FormulaTree.from_string("[U!eq,0[V!a],1[U!plus,0[V!b],1[U!times,0[V!c],1[V!d]]]]")
)


def names(indexes):
    return {GRAPH.nodes[index] for index in indexes}


def test_orders_climb_from_the_leaves():
    leaves, parents, grandparents = list_orders(GRAPH)
    assert names(leaves) == {"V!a", "V!b", "V!c", "V!d"}
    assert names(parents) == {"U!eq", "U!plus", "U!times"}
    assert names(grandparents) == {"U!eq", "U!plus"}


def test_first_order_replaces_leaves_and_keeps_the_skeleton():
    graph = substitute_substructures(GRAPH, Random(0), (1, 0, 0))
    assert graph.edges == GRAPH.edges
    for old, new in zip(GRAPH.nodes, graph.nodes, strict=True):
        assert new.startswith("?") if old.startswith("V!") else new == old


def test_second_order_cuts_below_parents_of_leaves():
    graph = substitute_substructures(GRAPH, Random(0), (0, 1, 0))
    assert len(graph.nodes) == 1  # the root is itself the parent of a leaf
    assert graph.nodes[0].startswith("?")


class Fixed(Random):
    """A source of chance that chooses one node of one order."""

    def __init__(self, answers):
        super().__init__()
        self.answers = iter(answers)

    def random(self):
        return next(self.answers, 1.0)

    def randrange(self, *_):
        return 3


def test_chosen_substructure_becomes_one_wildcard():
    # four leaves, then the parents eq, plus, times: choose times
    graph = substitute_substructures(GRAPH, Fixed([1, 1, 1, 1, 1, 1, 0]), (0.5, 0.5, 0))
    assert graph.nodes == ("U!eq", "V!a", "U!plus", "V!b", "?3")
    assert graph.edges == ((0, "0", 1), (0, "0", 2), (2, "0", 3), (2, "0", 4))


def test_shared_node_that_is_needed_elsewhere_stays():
    shared = build_shared_graph(
        FormulaTree.from_string("[O!divide,0[O!SUP,0[V!x],1[N!2]],1[V!x]]")
    )
    # leaves x, 2; parents divide, SUP: choose SUP
    graph = substitute_substructures(shared, Fixed([1, 1, 1, 0]), (0.5, 0.5, 0))
    assert graph.nodes == ("O!divide", "?3", "V!x")


def test_nothing_chosen_changes_nothing():
    assert substitute_substructures(GRAPH, Random(0), (0, 0, 0)) is GRAPH


def test_published_rates_replace_about_a_third_of_the_leaves():
    chance = Random(1)
    replaced = sum(
        label.startswith("?")
        for _ in range(400)
        for label in substitute_substructures(GRAPH, chance).nodes
    )
    assert 0.25 < replaced / (400 * 4) < 0.35


def test_same_seed_same_graph():
    first = substitute_substructures(GRAPH, Random(5), (0.5, 0.2, 0.1))
    assert first == substitute_substructures(GRAPH, Random(5), (0.5, 0.2, 0.1))


@pytest.mark.parametrize("options", [{"probabilities": (1.5, 0, 0)}, {"wildcards": 0}])
def test_impossible_settings_are_refused(options):
    with pytest.raises(ConfigurationError):
        substitute_substructures(GRAPH, Random(0), **options)
