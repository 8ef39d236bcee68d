"""Many graphs under one root, as the thesis merges the chunks of a post (section 3.1).

```
(s / show-01 :ARG1 (f / FORMULA_0))      (m / multi-sentence
(h / hold-01 :ARG1 (f / FORMULA_0))  ─>    :snt1 (s / show-01 :ARG1 (f / FORMULA_0))
                                           :snt2 (h / hold-01 :ARG1 f))
```

The graphs are the sentences of a chunk, or the chunks of a text. The sentences of a
chunk hang under that chunk's ``:sntN`` and are counted there (``keep_chunks``)::

    (m / multi-sentence
      :snt1 (m2 / multi-sentence :snt1 (s / show-01) :snt2 (h / hold-01))
      :snt2 (t / thank-01))

Variables are renamed in the order of reading, so they never conflict; a formula has
one node in the document, however often it is named.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from mathamr_kedro.amr.graphs import (
    PLACEHOLDER,
    ROOT_CONCEPT,
    AMRGraph,
    Attribute,
    Edge,
)

_SENTENCE_ROLE = re.compile(r"snt(\d+)")
_COLLECTION_CONCEPTS = frozenset({ROOT_CONCEPT, "document"})


class VariableNames:
    """Gives variables as AMR annotators do: first letter of the concept, then a number.

    >>> names = VariableNames()
    >>> [names.make(concept) for concept in ("set", "show-01", "∀", "set")]
    ['s', 's2', 'x', 's3']
    """

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()

    def make(self, concept: str) -> str:
        """Return a variable that was not given before."""
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
        keep_chunks: if there are several, a collection stays what it is, one
            ``:sntN`` with its sentences below.
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
    return AMRGraph(root, nodes, _without_repeats([*snt, *edges]), attributes)


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


def _without_repeats(edges: Iterable[Edge]) -> list[Edge]:
    """Drop repeated edges and self-loops, which shared formula nodes can bring."""
    return [e for e in dict.fromkeys(edges) if e.source != e.target]
