"""Substructure substitution: the augmentation of SSEmb (section 2.1.2 of its paper).

```
                a = b + c·d          first order     a = ? + c·d       a leaf
U!eq ── V!a                          second order    a = b + ?         parent of leaves
   └─── U!plus ── V!b                third order     a = ?             grandparent
          └─── U!times ── V!c
                  └────── V!d
```

A chosen substructure becomes one wildcard: its root takes a random wildcard label and
loses its edges down. On a shared graph a symbol that occurs at several places is
replaced at all of them at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from mathamr_kedro.base.errors import ConfigurationError
from mathamr_kedro.formula.graphs.formula_graph import FormulaGraph

PROBABILITIES = (0.3, 0.005, 0.002)
"""Of first, second and third order, as published (p1, p2, p3)."""

WILDCARDS = 10
"""Distinct wildcard labels to draw from: ``?0`` to ``?9``."""


def substitute_substructures(
    graph: FormulaGraph,
    random: Random,
    probabilities: Sequence[float] = PROBABILITIES,
    wildcards: int = WILDCARDS,
) -> FormulaGraph:
    """Return the graph with random substructures replaced by wildcards.

    Order ``k`` looks at the nodes ``k - 1`` edges above a leaf: the leaves themselves,
    their parents, their grandparents. Each is chosen on its own with its probability.
    What the root no longer reaches is dropped. The work is ``O(|V| + |E|)``.

    Args:
        graph: a shared graph or any other acyclic graph with root 0.
        random: source of chance, seeded by the caller.
        probabilities: of each order, leaves first.
        wildcards: how many distinct wildcard labels there are.

    Raises:
        ConfigurationError: a probability is outside [0, 1], or there is no wildcard.
    """
    if wildcards < 1 or not all(0 <= p <= 1 for p in probabilities):
        raise ConfigurationError(
            f"Expected probabilities in [0, 1] and at least 1 wildcard "
            f"(got {tuple(probabilities)!r} and {wildcards!r})"
        )
    chosen = _choose(graph, random, probabilities)
    if not chosen:
        return graph
    nodes = list(graph.nodes)
    for index in sorted(chosen):
        nodes[index] = f"?{random.randrange(wildcards)}"
    edges = tuple(edge for edge in graph.edges if edge[0] not in chosen)
    cut = FormulaGraph(tuple(nodes), edges)
    return cut.keep(_find_reachable(cut))


def list_orders(graph: FormulaGraph, max_order: int = 3) -> list[list[int]]:
    """Return the leaves, the parents of leaves, their parents, up to ``max_order``.

    A node is in several lists when the paths down to its leaves differ in length.
    """
    parents: list[set[int]] = [set() for _ in graph.nodes]
    inner: set[int] = set()
    for source, _, target in graph.edges:
        parents[target].add(source)
        inner.add(source)
    level = [index for index in range(len(graph.nodes)) if index not in inner]
    orders = [level]
    for _ in range(max_order - 1):
        level = sorted({parent for index in level for parent in parents[index]})
        orders.append(level)
    return orders


def _choose(
    graph: FormulaGraph, random: Random, probabilities: Sequence[float]
) -> set[int]:
    chosen: set[int] = set()
    orders = list_orders(graph, len(probabilities))
    for probability, order in zip(probabilities, orders, strict=True):
        chosen.update(index for index in order if random.random() < probability)
    return chosen


def _find_reachable(graph: FormulaGraph) -> set[int]:
    children: list[list[int]] = [[] for _ in graph.nodes]
    for source, _, target in graph.edges:
        children[source].append(target)
    seen = {0}
    stack = [0]
    while stack:
        for child in children[stack.pop()]:
            if child not in seen:
                seen.add(child)
                stack.append(child)
    return seen
