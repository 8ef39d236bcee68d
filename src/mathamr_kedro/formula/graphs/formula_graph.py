"""Graphs made from formula trees: labels, and labelled edges between their places."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple


class FormulaGraph(NamedTuple):
    """A directed graph with labelled nodes and edges; node 0 is the root.

    Two nodes may be joined by several edges, even of one label (``x + x`` with ``x``
    shared).
    """

    nodes: tuple[str, ...]
    edges: tuple[tuple[int, str, int], ...]
    """Index of the source, edge label, index of the target."""

    def keep(self, kept: Iterable[int]) -> FormulaGraph:
        """Return the part over the nodes ``kept``, renumbered in their old order.

        >>> graph = FormulaGraph(("a", "b", "c"), ((0, "n", 1), (1, "n", 2)))
        >>> graph.keep([1, 2])
        FormulaGraph(nodes=('b', 'c'), edges=((0, 'n', 1),))
        """
        order = sorted(set(kept))
        place = {old: new for new, old in enumerate(order)}
        return FormulaGraph(
            tuple(self.nodes[old] for old in order),
            tuple(
                (place[source], label, place[target])
                for source, label, target in self.edges
                if source in place and target in place
            ),
        )

    def to_text(self) -> str:
        """Return a line for each node: its number, its label and the edges from it.

        >>> print(FormulaGraph(("V!x", "N!2"), ((0, "a", 1), (1, "a*", 0))).to_text())
        0 V!x  a→1
        1 N!2  a*→0
        """
        edges: list[list[str]] = [[] for _ in self.nodes]
        for source, label, target in self.edges:
            edges[source].append(f"{label}→{target}")
        digits = len(str(len(self.nodes) - 1))
        width = max(map(len, self.nodes))
        return "\n".join(
            f"{number:>{digits}} {label:<{width}}  {' '.join(own)}".rstrip()
            for number, (label, own) in enumerate(zip(self.nodes, edges, strict=True))
        )
