"""AMR graphs: nodes with concepts, edges with roles, attributes with constants.

```
(s / show-01                      nodes       s: show-01, y: you, f: FORMULA_0
   :mode imperative               attributes  (s, mode, imperative)
   :ARG0 (y / you)                edges       (s, ARG0, y)
   :ARG1 (f / FORMULA_0))                     (s, ARG1, f)
```

Roles have no colon and are never inverted: ``:ARG0-of`` exists on paper only.
Concepts and constants are PENMAN atoms: safe symbols or quoted strings, made by
:mod:`mathamr_kedro.amr.penman_io`.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

PLACEHOLDER = re.compile(r"FORMULA_\d+")
"""What stands for a formula in clean text, and the concept of its node."""

ROOT_CONCEPT = "multi-sentence"
"""Concept of the root of a document (thesis, Figure 3.1)."""


class Edge(NamedTuple):
    """A role between two nodes."""

    source: str
    role: str
    target: str


class Attribute(NamedTuple):
    """A role between a node and a constant."""

    source: str
    role: str
    value: str


class AMRGraph(NamedTuple):
    """A rooted graph; ``nodes`` maps variables to concepts, in the order of reading."""

    top: str
    nodes: Mapping[str, str]
    edges: Sequence[Edge]
    attributes: Sequence[Attribute] = ()

    def is_connected(self) -> bool:
        """Tell whether every node is connected with the top.

        >>> AMRGraph("a", {"a": "set", "b": "map"}, []).is_connected()
        False
        """
        return len(_find_reachable(self) & set(self.nodes)) == len(self.nodes)

    def join_parts(self, role: str) -> AMRGraph:
        """Attach each part that is not connected with the top to it, by its first node.

        >>> AMRGraph("a", {"a": "set", "b": "map"}, []).join_parts("mod").edges
        [Edge(source='a', role='mod', target='b')]
        """
        reached = _find_reachable(self)
        governed = {edge.target for edge in self.edges}
        edges = list(self.edges)
        # Nodes without an incoming edge come first: they are the roots of their parts.
        for node in sorted(self.nodes, key=lambda name: name in governed):
            if node not in reached:
                edges.append(Edge(self.top, role, node))
                reached |= _find_reachable(self._replace(top=node))
        return self._replace(edges=edges)

    def find_missing_placeholders(self, text: str) -> tuple[str, ...]:
        """Return the placeholders of ``text`` that are no concept here, in order.

        >>> graph = AMRGraph("f", {"f": "FORMULA_1"}, [])
        >>> graph.find_missing_placeholders("if FORMULA_0 then FORMULA_1")
        ('FORMULA_0',)
        """
        present = set(self.nodes.values())
        wanted = dict.fromkeys(PLACEHOLDER.findall(text))
        return tuple(name for name in wanted if name not in present)


class ParseFailure(NamedTuple):
    """Why a text has no graph."""

    reason: str
    """One of :data:`REASONS`, to count by."""
    detail: str
    """What happened, for a person."""


REASONS = (
    "empty_text",
    "all_chunks_failed",
    "disconnected_graph",
    "penman_error",
    "timeout",
    "worker_died",
    "out_of_memory",
    "unreadable_file",
)
"""All reasons a failure can have (the first two kinds of Table 4.2 and our own)."""


def _find_reachable(graph: AMRGraph) -> set[str]:
    """Return the nodes connected with the top, whatever the direction of edges."""
    neighbours: dict[str, list[str]] = defaultdict(list)
    for source, _, target in graph.edges:
        neighbours[source].append(target)
        neighbours[target].append(source)
    seen = {graph.top}
    open_nodes = [graph.top]
    while open_nodes:
        for node in neighbours[open_nodes.pop()]:
            if node not in seen:
                seen.add(node)
                open_nodes.append(node)
    return seen
