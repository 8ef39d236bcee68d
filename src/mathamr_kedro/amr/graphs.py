"""AMR graphs: nodes with concepts, edges with roles, attributes with constants.

```
(s / show-01                      nodes       s: show-01, y: you, f: FORMULA_0
   :mode imperative               attributes  (s, mode, imperative)
   :ARG0 (y / you)                edges       (s, ARG0, y)
   :ARG1 (f / FORMULA_0))                     (s, ARG1, f)
```

Roles have no colon and are never inverted: ``:ARG0-of`` exists only in PENMAN text.
Concepts and constants are PENMAN atoms: safe symbols or quoted strings, made by
:mod:`mathamr_kedro.amr.penman_io`.

Many graphs, the sentences of a chunk or the chunks of a text, go under one root, as the
thesis merges the chunks of a post (section 3.1)::

    (s / show-01 :ARG1 (f / FORMULA_0))      (m / multi-sentence
    (h / hold-01 :ARG1 (f / FORMULA_0))  ─>    :snt1 (s / show-01 :ARG1 (f / FORMULA_0))
                                               :snt2 (h / hold-01 :ARG1 f))

The sentences of a chunk hang under that chunk's ``:sntN`` and are counted there
(``keep_chunks``)::

    (m / multi-sentence
      :snt1 (m2 / multi-sentence :snt1 (s / show-01) :snt2 (h / hold-01))
      :snt2 (t / thank-01))

Variables are renamed in the order of reading, so they never conflict; a formula has one
node in the document, however often it occurs, and however a neural parser spelled its
placeholder::

    (p / person                                 (p / FORMULA_0)
       :name (n / name :op1 "FORMULA_0"))  ─>
    (s / set :quant "FORMULA_1")           ─>   (s / set :quant (f / FORMULA_1))
    (f / formula_2)                        ─>   (f / FORMULA_2)
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

PLACEHOLDER = re.compile(r"FORMULA_\d+")
"""Placeholder of a formula in clean text, and the concept of its node."""

ROOT_CONCEPT = "multi-sentence"
"""Concept of the root of a document (thesis, Figure 3.1)."""

_SENTENCE_ROLE = re.compile(r"snt(\d+)")
_COLLECTION_CONCEPTS = frozenset({ROOT_CONCEPT, "document"})
_ANY_CASE = re.compile(r'"?formula_(\d+)"?', re.IGNORECASE)


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
        """Attach each part that is not connected with the top by its first node.

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
        """Return the placeholders of ``text`` that are not concepts here, in order.

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


class VariableNames:
    """Gives variables as AMR annotators do: first letter of the concept, then a number.

    >>> names = VariableNames()
    >>> [names.make(concept) for concept in ("set", "show-01", "∀", "set")]
    ['s', 's2', 'x', 's3']
    """

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()

    def make(self, concept: str) -> str:
        """Return a new variable."""
        letter = concept[:1].lower()
        if not ("a" <= letter <= "z"):
            letter = "x"
        self._counts[letter] += 1
        count = self._counts[letter]
        return letter if count == 1 else f"{letter}{count}"


def merge_graphs(graphs: Sequence[AMRGraph], keep_chunks: bool = False) -> AMRGraph:
    """Put ``graphs`` under one ``multi-sentence`` root.

    A graph that is itself a collection of sentences (root ``multi-sentence`` or
    ``document``) gives its sentences instead of itself, so ``:snt1, :snt2, ...`` count
    the sentences of all graphs. A graph that holds more than sentences below such a
    root stays one sentence.

    Args:
        graphs: sentences, or chunks of them.
        keep_chunks: if there are several, a collection stays one ``:sntN`` with its
            sentences below.
    """
    keep_chunks = keep_chunks and len(graphs) > 1
    names = VariableNames()
    root = names.make(ROOT_CONCEPT)
    nodes = {root: ROOT_CONCEPT}
    edges: list[Edge] = []
    attributes: list[Attribute] = []
    formulas: dict[str, str] = {}
    heads: list[str] = []
    for graph in graphs:
        sentences = _split_collection(graph)
        dropped = {graph.top} if sentences is not None else set()
        chunk = None
        if sentences is not None and keep_chunks:
            chunk = names.make(ROOT_CONCEPT)
            nodes[chunk] = ROOT_CONCEPT
        renamed: dict[str, str] = {}
        for variable, concept in graph.nodes.items():
            if variable in dropped:
                continue
            is_formula = PLACEHOLDER.fullmatch(concept) is not None
            if is_formula and concept in formulas:
                renamed[variable] = formulas[concept]
                continue
            renamed[variable] = names.make(concept)
            nodes[renamed[variable]] = concept
            if is_formula:
                formulas[concept] = renamed[variable]
        below = [renamed[v] for v in (sentences or [graph.top])]
        if chunk is not None:
            edges.extend(_number_sentences(chunk, below))
        heads.extend(below if chunk is None else [chunk])
        edges.extend(
            Edge(renamed[s], role, renamed[t])
            for s, role, t in graph.edges
            if s not in dropped
        )
        attributes.extend(
            Attribute(renamed[s], role, value)
            for s, role, value in graph.attributes
            if s not in dropped
        )
    snt = _number_sentences(root, heads)
    # Shared formula nodes can bring repeated edges and self-loops.
    joined = [e for e in dict.fromkeys([*snt, *edges]) if e.source != e.target]
    return AMRGraph(root, nodes, joined, attributes)


def _number_sentences(root: str, heads: Sequence[str]) -> list[Edge]:
    return [Edge(root, f"snt{n}", head) for n, head in enumerate(heads, start=1)]


def _split_collection(graph: AMRGraph) -> list[str] | None:
    """Return the sentence roots below a collection root, in order, if it is one."""
    if graph.nodes[graph.top] not in _COLLECTION_CONCEPTS:
        return None
    numbered: list[tuple[int, str]] = []
    for source, role, target in graph.edges:
        if graph.top not in (source, target):
            continue
        match = _SENTENCE_ROLE.fullmatch(role)
        if source != graph.top or match is None:
            return None
        numbered.append((int(match.group(1)), target))
    if any(source == graph.top for source, _, _ in graph.attributes):
        return None
    return [target for _, target in sorted(numbered)] or None


def restore_placeholders(graph: AMRGraph) -> AMRGraph:
    """Return the graph with every placeholder as the concept of a node.

    >>> named = Attribute("s", "ARG1", "formula_0")
    >>> graph = AMRGraph("s", {"s": "sum-01"}, [], [named])
    >>> restore_placeholders(graph).nodes
    {'s': 'sum-01', 'formula0': 'FORMULA_0'}
    """
    nodes = {v: _read_placeholder(c) or c for v, c in graph.nodes.items()}
    edges = list(graph.edges)
    attributes: list[Attribute] = []
    for source, role, value in graph.attributes:
        placeholder = _read_placeholder(value)
        if placeholder is None:
            attributes.append(Attribute(source, role, value))
            continue
        variable = f"formula{len(nodes) - len(graph.nodes)}"
        while variable in nodes:
            variable += "x"
        nodes[variable] = placeholder
        edges.append(Edge(source, role, variable))
    return _replace_names(AMRGraph(graph.top, nodes, edges, attributes))


def _read_placeholder(atom: str) -> str | None:
    match = _ANY_CASE.fullmatch(atom)
    return f"FORMULA_{match.group(1)}" if match else None


def _replace_names(graph: AMRGraph) -> AMRGraph:
    """Replace a named thing whose name is only a formula by that formula."""
    for entity, role, name in graph.edges:
        if role == "name" and graph.nodes[name] == "name":
            formula = _name_of(graph, name)
            if formula is not None:
                graph = _put_in_place(graph, entity, name, formula)
    return graph


def _name_of(graph: AMRGraph, name: str) -> str | None:
    """Return the variable of the formula that makes up a whole name."""
    if any(name == source for source, _, _ in graph.attributes):
        return None
    targets = [target for source, _, target in graph.edges if source == name]
    holders = [source for source, _, target in graph.edges if target == name]
    if len(targets) != 1 or len(holders) != 1:
        return None
    is_leaf = all(source != targets[0] for source, _, _ in graph.edges)
    is_formula = _read_placeholder(graph.nodes[targets[0]]) is not None
    return targets[0] if is_formula and is_leaf else None


def _put_in_place(graph: AMRGraph, entity: str, name: str, formula: str) -> AMRGraph:
    nodes = {
        v: graph.nodes[formula] if v == entity else concept
        for v, concept in graph.nodes.items()
        if v not in (name, formula)
    }
    edges = [
        Edge(s, role, entity if t == formula else t)
        for s, role, t in graph.edges
        if name not in (s, t)
    ]
    return AMRGraph(graph.top, nodes, edges, graph.attributes)
