"""AMR graphs: nodes with concepts, edges with roles, attributes with constants.

```
(s / show-01                      nodes       s: show-01, y: you, f: FORMULA_0
   :mode imperative               attributes  (s, mode, imperative)
   :ARG0 (y / you)                edges       (s, ARG0, y)
   :ARG1 (f / FORMULA_0))                     (s, ARG1, f)
```

Roles stand without their colon and never inverted: ``:ARG0-of`` exists on paper only.
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
)
"""All reasons a failure can have (the first two kinds of Table 4.2 and our own)."""


def find_reachable(graph: AMRGraph) -> set[str]:
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


def is_connected(graph: AMRGraph) -> bool:
    """Tell whether every node hangs together with the top.

    >>> is_connected(AMRGraph("a", {"a": "set", "b": "map"}, []))
    False
    """
    return len(find_reachable(graph) & set(graph.nodes)) == len(graph.nodes)


def join_parts(graph: AMRGraph, role: str) -> AMRGraph:
    """Hang what does not hang together with the top from it, by its first node.

    >>> join_parts(AMRGraph("a", {"a": "set", "b": "map"}, []), "mod").edges
    [Edge(source='a', role='mod', target='b')]
    """
    reached = find_reachable(graph)
    governed = {edge.target for edge in graph.edges}
    edges = list(graph.edges)
    # Nodes that nothing governs come first: each part begins where it begins.
    for node in sorted(graph.nodes, key=lambda name: name in governed):
        if node not in reached:
            edges.append(Edge(graph.top, role, node))
            reached |= find_reachable(graph._replace(top=node))
    return graph._replace(edges=edges)


def find_missing_placeholders(text: str, graph: AMRGraph) -> tuple[str, ...]:
    """Return the placeholders of ``text`` that are no concept in ``graph``, in order.

    >>> graph = AMRGraph("f", {"f": "FORMULA_1"}, [])
    >>> find_missing_placeholders("if FORMULA_0 then FORMULA_1", graph)
    ('FORMULA_0',)
    """
    present = set(graph.nodes.values())
    wanted = dict.fromkeys(PLACEHOLDER.findall(text))
    return tuple(name for name in wanted if name not in present)
