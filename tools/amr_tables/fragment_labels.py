"""The one-line label of the fragment that a token gives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mathamr_kedro.amr import AMRGraph
from mathamr_kedro.amr.builtin.concepts import ORDINAL
from mathamr_kedro.amr.builtin.fragments import Fragment

_MOODS = frozenset({"imperative", "interrogative"})


def describe_fragment(
    graph: AMRGraph,
    variables: Sequence[str],
    core: str | None,
    free_values: Mapping[int, int],
) -> str:
    """Return the label of some nodes of a graph.

    Args:
        graph: a gold graph.
        variables: its nodes that one token gives.
        core: the node that carries the word.
        free_values: positions of attributes that other tokens give.
    """
    head = _find_head(graph, variables)
    order = [head, *(v for v in variables if v != head)]
    index = {v: n for n, v in enumerate(order)}
    edges = tuple(
        (index[s], r, index[t]) for s, r, t in graph.edges if s in index and t in index
    )
    values = tuple(
        (index[s], r, v)
        for n, (s, r, v) in enumerate(graph.attributes)
        if s in index and n not in free_values and v not in _MOODS and r != "polite"
    )
    concepts = tuple(graph.nodes[v] for v in order)
    if concepts == ("ordinal-entity",):
        return ORDINAL
    return format_fragment(Fragment(concepts, edges, values, index.get(core or "", 0)))


def _find_head(graph: AMRGraph, variables: Sequence[str]) -> str:
    """Return the node of a fragment that the rest of the graph points to."""
    if graph.top in variables:
        return graph.top
    inside = set(variables)
    for source, _, target in graph.edges:
        if target in inside and source not in inside:
            return target
    frames = [v for v in variables if graph.nodes[v].startswith("have-")]
    return (frames or list(variables))[0]


def format_fragment(fragment: Fragment) -> str:
    """Write the one-line form; a single concept is bare.

    >>> format_fragment(Fragment(("person", "teach-01"), ((1, "ARG0", 0),), core=1))
    '(person :ARG0-of (teach-01*))'
    """
    if len(fragment.concepts) == 1 and not fragment.values:
        return fragment.concepts[0]
    seen: set[int] = set()

    def write(node: int) -> str:
        seen.add(node)
        parts = [fragment.concepts[node] + "*" * (node == fragment.core)]
        parts += [f":{role} {v}" for n, role, v in sorted(fragment.values) if n == node]
        for source, role, target in sorted(fragment.edges, key=lambda e: e[1]):
            if source == node and target not in seen:
                parts.append(f":{role} {write(target)}")
            elif target == node and source not in seen:
                parts.append(f":{role}-of {write(source)}")
        return f"({' '.join(parts)})"

    return write(0)
