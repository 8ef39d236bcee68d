"""Which nodes of a document belong to which sentence.

::

    (m / multi-sentence
      :snt1 (s / show-01                     sentence 0   s y f
        :ARG0 (y / you)
        :ARG1 (f / FORMULA_0))
      :snt2 (h / hold-01                     sentence 1   h f c
        :ARG1 f                              (named again: a member of both)
        :condition (c / case)))

A node belongs to the sentence whose root is nearest, whatever the direction of edges
and without passing the root of the document; of two at the same distance the first. A
node that an edge names from another sentence is a member there too. A graph without
``:snt1`` is one sentence.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Sequence
from typing import NamedTuple

from mathamr_kedro.graph.math_graph import FormulaPart, MathGraph

_SENTENCE_ROLE = re.compile(r"snt(\d+)")
_NOWHERE = -1


class Sentences(NamedTuple):
    """The sentences of a document, in order."""

    roots: list[int]
    members: list[list[int]]
    """AMR nodes of each sentence, ascending; trees of formulas are not among them."""

    @classmethod
    def of(cls, graph: MathGraph) -> Sentences:
        """Return the sentences of a graph."""
        is_amr = _mark_amr_nodes(graph)
        roots = _find_roots(graph)
        if not roots:
            return cls([0], [[n for n, is_kept in enumerate(is_amr) if is_kept]])
        if _stand_apart(graph, roots):
            ends = graph.ends
            members = [[n for n in range(r, ends[r]) if is_amr[n]] for r in roots]
            return cls(roots, members)
        owner = _find_nearest(graph, roots, is_amr)
        found: list[set[int]] = [{root} for root in roots]
        for node, sentence in enumerate(owner):
            if sentence != _NOWHERE:
                found[sentence].add(node)
        for source, _, target in graph.edges():
            here, there = owner[source], owner[target]
            if here != there and _NOWHERE not in (here, there):
                found[here].add(target)
        return cls(roots, [sorted(nodes) for nodes in found])

    def order_with(self, formulas: Sequence[FormulaPart]) -> list[tuple[str, int]]:
        """Return formulas and sentences in the order of the document.

        A sentence stands before the formulas that it names first. A formula that the
        AMR lost stands behind the formula before it.

        Returns:
            Pairs of ``"formula"`` or ``"sentence"`` and the place in its list.
        """
        count = len(self.roots)
        first_sentence = {
            node: sentence
            for sentence in reversed(range(count))
            for node in self.members[sentence]
        }
        keys: list[tuple[int, int, int]] = [(s, 0, s) for s in range(count)]
        sentence = -1
        for place, part in enumerate(formulas):
            sentence = first_sentence.get(part.node, sentence)
            keys.append((sentence, 1, place))
        return [
            ("formula" if is_formula else "sentence", place)
            for _, is_formula, place in sorted(keys)
        ]


def _mark_amr_nodes(graph: MathGraph) -> bytearray:
    """Return 1 for each node that is in no formula tree and was not lost by the AMR."""
    marks = bytearray(b"\x01") * graph.num_nodes
    for part in graph.formulas:
        for nodes in (part.opt, part.slt):
            marks[nodes.start : nodes.stop] = bytes(len(nodes))
        if part.is_lost:
            marks[part.node] = 0
    return marks


def _find_roots(graph: MathGraph) -> list[int]:
    numbered: list[tuple[int, int]] = []
    for line in [n for n, holder in enumerate(graph.holders) if holder == 0]:
        match = _SENTENCE_ROLE.fullmatch(graph.roles[line])
        if match and graph.variables[graph.targets[line]]:
            numbered.append((int(match[1]), graph.targets[line]))
    return [target for _, target in sorted(numbered)]


def _stand_apart(graph: MathGraph, roots: Sequence[int]) -> bool:
    """Tell whether no line leads from one sentence into another.

    Then the nodes of a sentence are those that stand in its brackets.
    """
    if any(graph.parents[root] != 0 for root in roots) or len(set(roots)) < len(roots):
        return False
    if graph.num_edges == graph.num_nodes - 1:  # a tree
        return True
    owner = [_NOWHERE] * graph.num_nodes
    for sentence, root in enumerate(roots):
        owner[root : graph.ends[root]] = [sentence] * (graph.ends[root] - root)
    return all(
        owner[holder] == owner[target] or holder == 0
        for holder, _, target in graph.lines
    )


def _find_nearest(
    graph: MathGraph, roots: Sequence[int], is_amr: bytearray
) -> list[int]:
    """Return the sentence of each node by a search from all roots at once."""
    neighbours: list[list[int]] = [[] for _ in range(graph.num_nodes)]
    for holder, _, target in graph.lines:
        if holder and target and is_amr[holder] and is_amr[target]:
            neighbours[holder].append(target)
            neighbours[target].append(holder)
    owner = [_NOWHERE] * graph.num_nodes
    for sentence, root in enumerate(roots):
        if owner[root] == _NOWHERE:
            owner[root] = sentence
    open_nodes = deque(dict.fromkeys(roots))
    while open_nodes:
        node = open_nodes.popleft()
        for other in neighbours[node]:
            if owner[other] == _NOWHERE:
                owner[other] = owner[node]
                open_nodes.append(other)
    return owner
