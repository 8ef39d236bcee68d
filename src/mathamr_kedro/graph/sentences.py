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

In a long post ``:sntN`` leads to a chunk, which is a ``multi-sentence`` of its own and
belongs to none of its sentences (thesis 3.1). :func:`renumber_sentences` takes the
chunks out, as an encoder sees the graph that was trained so::

    (m / multi-sentence                      (m / multi-sentence
      :snt1 (m2 / multi-sentence               :snt1 (s / show-01)
        :snt1 (s / show-01)             ─>     :snt2 (h / hold-01)
        :snt2 (h / hold-01))                   :snt3 (t / thank-01))
      :snt2 (t / thank-01))
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Sequence, Set
from typing import NamedTuple

from mathamr_kedro.graph.math_graph import FormulaPart, MathGraph

_SENTENCE_ROLE = re.compile(r"snt(\d+)")
_COLLECTIONS = frozenset({"multi-sentence", "document"})
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
        holders = {0, *_find_chunks(graph)}
        roots = [graph.targets[n] for n in _list_sentence_lines(graph, holders)]
        if not roots:
            return cls([0], [[n for n, is_kept in enumerate(is_amr) if is_kept]])
        if _stand_apart(graph, roots, holders):
            ends = graph.ends
            members = [[n for n in range(r, ends[r]) if is_amr[n]] for r in roots]
            return cls(roots, members)
        owner = _find_nearest(graph, roots, is_amr, holders)
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

        A sentence comes before the formulas that it names first. A formula that the
        AMR lost comes behind the formula before it.

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


def renumber_sentences(graph: MathGraph) -> MathGraph:
    """Return the graph without its chunks, ``:snt1, :snt2, ...`` counting sentences.

    >>> lines = [(0, "snt1", 1), (1, "snt1", 2), (1, "snt2", 3), (0, "snt2", 4)]
    >>> root = "multi-sentence"
    >>> atoms = [root, root, "show-01", "hold-01", "thank-01"]
    >>> renumber_sentences(MathGraph(["m", "m2", "s", "h", "t"], atoms, lines)).lines
    [(0, 'snt1', 1), (0, 'snt2', 2), (0, 'snt3', 3)]
    """
    chunks = frozenset(_find_chunks(graph))
    if not chunks:
        return graph
    kept = [node for node in range(graph.num_nodes) if node not in chunks]
    numbers = {node: number for number, node in enumerate(kept)}
    numbers.update(dict.fromkeys(chunks, 0))
    in_order = _list_sentence_lines(graph, {0, *chunks})
    roles = {line: f"snt{n}" for n, line in enumerate(in_order, start=1)}
    lines = [
        (numbers[holder], roles.get(line, role), numbers[target])
        for line, (holder, role, target) in enumerate(graph.lines)
        if target not in chunks
    ]
    variables = [graph.variables[node] for node in kept]
    return MathGraph(variables, [graph.atoms[node] for node in kept], lines)


def _find_chunks(graph: MathGraph) -> list[int]:
    """Return the nodes below the root that hold sentences and nothing else."""
    atoms = graph.atoms
    if sum(map(atoms.count, _COLLECTIONS)) == (atoms[0] in _COLLECTIONS):
        return []  # as in most posts
    found: dict[int, int] = {}  # how many sentences each holds
    others: set[int] = set()
    for holder, role, target in graph.lines:
        leads_to_sentence = bool(_SENTENCE_ROLE.fullmatch(role))
        if holder in found:
            found[holder] += 1
            if not (leads_to_sentence and graph.variables[target]):
                others.add(holder)
        if target in found:
            others.add(target)
        elif holder == 0 and leads_to_sentence and atoms[target] in _COLLECTIONS:
            if graph.parents[target] == 0 and graph.variables[target]:
                found[target] = 0
    return [node for node, held in found.items() if held and node not in others]


def _mark_amr_nodes(graph: MathGraph) -> bytearray:
    """Return 1 for each node that is in no formula tree and was not lost by the AMR."""
    marks = bytearray(b"\x01") * graph.num_nodes
    for part in graph.formulas:
        for nodes in (part.opt, part.slt):
            marks[nodes.start : nodes.stop] = bytes(len(nodes))
        if part.is_lost:
            marks[part.node] = 0
    return marks


def _list_sentence_lines(graph: MathGraph, holders: Set[int]) -> list[int]:
    """Return the lines that lead to sentences, chunk by chunk in their order."""
    by_holder: dict[int, list[tuple[int, int, int]]] = {node: [] for node in holders}
    for line, holder in enumerate(graph.holders):
        if holder in by_holder:
            match = _SENTENCE_ROLE.fullmatch(graph.roles[line])
            target = graph.targets[line]
            if match and graph.variables[target]:
                by_holder[holder].append((int(match[1]), target, line))
    lines: list[int] = []
    for _, target, line in sorted(by_holder[0]):
        below = sorted(by_holder.get(target, ())) if target else []
        lines += [inner for _, _, inner in below] or [line]
    return lines


def _stand_apart(graph: MathGraph, roots: Sequence[int], holders: Set[int]) -> bool:
    """Tell whether no line leads from one sentence into another.

    Then the nodes of a sentence are those in its brackets.
    """
    if len(set(roots)) < len(roots):
        return False
    if any(graph.parents[root] not in holders for root in roots):
        return False
    if graph.num_edges == graph.num_nodes - 1:  # a tree
        return True
    owner = [_NOWHERE] * graph.num_nodes
    for sentence, root in enumerate(roots):
        owner[root : graph.ends[root]] = [sentence] * (graph.ends[root] - root)
    return all(
        owner[holder] == owner[target] or holder in holders
        for holder, _, target in graph.lines
    )


def _find_nearest(
    graph: MathGraph,
    roots: Sequence[int],
    is_amr: bytearray,
    holders: Set[int],
) -> list[int]:
    """Return the sentence of each node by a search from all roots at once."""
    neighbours: list[list[int]] = [[] for _ in range(graph.num_nodes)]
    for holder, _, target in graph.lines:
        if holders.isdisjoint((holder, target)) and is_amr[holder] and is_amr[target]:
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
