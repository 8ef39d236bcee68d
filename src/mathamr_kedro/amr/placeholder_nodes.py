"""Placeholders as nodes, whatever a neural parser made of them.

```
(p / person                                 (p / FORMULA_0)
   :name (n / name :op1 "FORMULA_0"))  ─>
(s / set :quant "FORMULA_1")           ─>   (s / set :quant (f / FORMULA_1))
(f / formula_2)                        ─>   (f / FORMULA_2)
```
"""

from __future__ import annotations

import re

from mathamr_kedro.amr.graphs import AMRGraph, Attribute, Edge

_ANY_CASE = re.compile(r'"?formula_(\d+)"?', re.IGNORECASE)


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
    """Replace a thing that is named only by a formula by that formula."""
    for entity, role, name in graph.edges:
        if role == "name" and graph.nodes[name] == "name":
            formula = _name_of(graph, name)
            if formula is not None:
                graph = _put_in_place(graph, entity, name, formula)
    return graph


def _name_of(graph: AMRGraph, name: str) -> str | None:
    """Return the variable of the formula that is all a name consists of."""
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
