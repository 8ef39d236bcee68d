"""Formulas inside the graphs of posts, cut out as graphs of their own.

The graph of a post that is nothing but this formula::

    0 FORMULA_0     0 -opt--> 1       3 formula   members 1 2
    1 V!x  (OPT)    0 -slt--> 2       4 sentence  members 0
    2 V!x  (SLT)                      5 document  members 3 4 0
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mathamr_kedro.graph import (
    DOCUMENT,
    FORMULA,
    SENTENCE,
    GraphArrays,
    GraphSchema,
)


class Formula(NamedTuple):
    """A formula inside the graph of a post."""

    members: NDArray[np.int64]
    types: frozenset[int]
    """Node types of the members."""
    number: int
    """``n`` of ``FORMULA_n``."""
    label: int

    @classmethod
    def find_all(
        cls,
        graph: GraphArrays,
        schema: GraphSchema,
        sizes: tuple[int, int],
        max_count: int,
    ) -> list[Formula]:
        """List the first formulas of a graph that are neither too small nor too large.

        Args:
            graph: of a post.
            schema: meaning of the numbers.
            sizes: members of a formula, at least and at most.
            max_count: formulas to list.
        """
        min_size, max_size = sizes
        content, count = graph.num_content, graph.member_count
        is_formula = graph.node_type[content:] == schema.num_node_types + FORMULA
        suits = np.flatnonzero(is_formula & (count >= min_size) & (count <= max_size))
        if not suits.size:
            return []
        ends = np.cumsum(count, dtype=np.int64)
        row = {int(node): n for n, node in enumerate(graph.representative)}
        found = []
        for v in suits[:max_count].tolist():
            members = graph.member[ends[v] - count[v] : ends[v]].astype(np.int64)
            n = row[content + v]
            found.append(
                cls(
                    members,
                    frozenset(graph.node_type[members].tolist()),
                    int(graph.representative_number[n]),
                    int(graph.representative_label[n]),
                )
            )
        return found

    def measure_similarity(self, other: Formula) -> float:
        """Jaccard index of the node types of two formulas."""
        shared = len(self.types & other.types)
        return shared / (len(self.types) + len(other.types) - shared)

    def find_placeholder(self, graph: GraphArrays) -> int | None:
        """Return the node of its graph that the trees hang from."""
        number = self._renumber(graph)
        roots = (number[graph.target] > 0) & (number[graph.source] == 0)
        return int(graph.source[roots.argmax()]) if roots.any() else None

    def cut(
        self, graph: GraphArrays, schema: GraphSchema, placeholder: int
    ) -> GraphArrays:
        """Return the graph of a post that is this formula alone.

        Args:
            graph: of the post that the formula stands in.
            schema: meaning of the numbers.
            placeholder: node type of ``FORMULA_0``.
        """
        number = self._renumber(graph)
        above = self.find_placeholder(graph)
        source, target = number[graph.source], number[graph.target]
        kept = (target > 0) & ((source > 0) | (graph.source == above))
        n = len(self.members)
        virtual = n + 1 + np.arange(3)
        links = _link_virtual(graph, virtual)
        kinds = np.array([FORMULA, SENTENCE, DOCUMENT])
        return GraphArrays(
            node_type=_join(
                [placeholder],
                graph.node_type[self.members],
                schema.num_node_types + kinds,
            ),
            source=_join(source[kept], links[0]),
            target=_join(target[kept], links[1]),
            relation=_join(graph.relation[kept], links[2]),
            member_count=_join([n, 1, 3]),
            member=_join(np.arange(1, n + 1), [0], virtual[:2], [0]),
            representative=_join(virtual),
            representative_kind=_join(kinds),
            representative_number=_join([0, 0, 0]),
            representative_label=_join([self.label, 0, 0]),
        )

    def _renumber(self, graph: GraphArrays) -> NDArray[np.int64]:
        """New number of each node; 0 for all that are no members."""
        number = np.zeros(graph.num_nodes, dtype=np.int64)
        number[self.members] = np.arange(1, len(self.members) + 1)
        return number


def _link_virtual(graph: GraphArrays, virtual: NDArray[np.int64]) -> list[list[int]]:
    """Source, target, relation of the edge from sentence to formula, if there is one.

    Where virtual nodes are linked at all (thesis 4.3.3), those of each post with a
    formula are, and two have one edge in each of the ways.
    """
    linked = np.flatnonzero(graph.source >= graph.num_content)
    if not linked.size:
        return [[], [], []]
    return [[int(virtual[1])], [int(virtual[0])], [int(graph.relation[linked[0]])]]


def _join(*parts: Sequence[int] | NDArray[np.integer]) -> NDArray[np.uint32]:
    return np.concatenate([np.asarray(part, dtype=np.uint32) for part in parts])
