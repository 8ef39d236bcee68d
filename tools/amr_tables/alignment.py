"""Which token a node of a gold graph comes from.

```
I     can          prove-01     it
│      │              │         │
i  possible-01    prove-01     it        nodes without a token: part of a neighbour
```

Nodes are given to tokens greedily, best match first: same lemma, derived word, closed
class, shared beginning, then pairs that go together unusually often in the corpora.
Between equal matches the tree decides: neighbours in the graph come from neighbours in
the dependency tree.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from mathamr_kedro.amr import AMRGraph
from mathamr_kedro.amr.builtin.syntax import Token
from mathamr_kedro.amr.builtin.words import PRONOUNS, Lexicon
from mathamr_kedro.amr.penman_io import read_string
from tools.amr_tables.matching import Associations, says_value, score_match

_STOP_PUNCTUATION = frozenset(". ? ! \" ' ( ) [ ] ` `` '' -".split())


class Alignment(NamedTuple):
    """Tokens of nodes, of attributes, and further mentions of nodes."""

    nodes: dict[str, int]
    """Variable to the token it comes from."""
    mentions: dict[int, str]
    """Token to the node it mentions; more than one token can mention a node."""
    values: dict[int, int]
    """Position of an attribute to its token."""
    names: dict[str, tuple[int, ...]]
    """Entity variable to the tokens of its name."""


def align(
    tokens: Sequence[Token],
    graph: AMRGraph,
    lexicon: Lexicon,
    associations: Associations,
) -> Alignment:
    """Align the nodes and constants of ``graph`` with ``tokens``."""
    names = _align_names(tokens, graph)
    taken = {i for span in names.values() for i in span}
    nodes = {variable: span[-1] for variable, span in names.items()}
    for variable, span in names.items():
        # "Schwarz inequality": the noun gives the node, the name only names it.
        noun = span[-1] + 1
        if noun < len(tokens) and tokens[noun].lemma.lower() == graph.nodes[variable]:
            nodes[variable] = noun
            taken.add(noun)
    inner = {e.target for e in graph.edges if e.role == "name"}
    candidates = [
        (score, variable, i)
        for variable, concept in graph.nodes.items()
        if variable not in nodes and variable not in inner
        for i, token in enumerate(tokens)
        if i not in taken
        and (score := score_match(concept, token, lexicon, associations)) > 0
    ]
    _assign_greedily(candidates, nodes, taken, graph, _distances(tokens))
    mentions = {i: variable for variable, i in nodes.items()}
    for i, token in enumerate(tokens):
        if i not in taken and (concept := PRONOUNS.get(token.form.lower())):
            for variable in nodes:
                if graph.nodes[variable] == concept:
                    mentions[i] = variable
                    break
    values = _align_values(tokens, graph, nodes, taken)
    return Alignment(nodes, mentions, values, names)


def _align_names(
    tokens: Sequence[Token], graph: AMRGraph
) -> dict[str, tuple[int, ...]]:
    """Find the tokens of names."""
    parts: dict[str, list[tuple[int, str]]] = defaultdict(list)
    for source, role, value in graph.attributes:
        if graph.nodes[source] == "name" and role.startswith("op"):
            parts[source].append((int(role[2:] or 1), read_string(value).lower()))
    forms = [token.form.lower() for token in tokens]
    found: dict[str, tuple[int, ...]] = {}
    used: set[int] = set()
    for source, role, target in graph.edges:
        if role != "name" or source in found:
            continue
        wanted = "".join(text for _, text in sorted(parts[target])).replace(" ", "")
        span = _find_span(forms, wanted, used)
        if span:
            found[source] = span
            used.update(span)
    return found


def _find_span(
    forms: Sequence[str], wanted: str, used: set[int]
) -> tuple[int, ...] | None:
    for start in range(len(forms)):
        text = ""
        for end in range(start, len(forms)):
            if end in used:
                break
            text += forms[end]
            if text == wanted:
                return tuple(range(start, end + 1))
            if not wanted.startswith(text):
                break
    return None


def _distances(tokens: Sequence[Token]) -> list[list[int]]:
    """Lengths of the ways between tokens in the dependency tree."""
    size = len(tokens)
    neighbours: list[list[int]] = [[] for _ in range(size)]
    for i, token in enumerate(tokens):
        if token.head >= 0:
            neighbours[i].append(token.head)
            neighbours[token.head].append(i)
    table = [[size] * size for _ in range(size)]
    for start in range(size):
        row, queue = table[start], [start]
        row[start] = 0
        for i in queue:
            for j in neighbours[i]:
                if row[j] == size:
                    row[j] = row[i] + 1
                    queue.append(j)
    return table


def _assign_greedily(
    candidates: list[tuple[float, str, int]],
    nodes: dict[str, int],
    taken: set[int],
    graph: AMRGraph,
    distances: Sequence[Sequence[int]],
) -> None:
    """Fill ``nodes`` and ``taken``, best candidates first, closeness breaking ties."""
    neighbours: dict[str, list[str]] = defaultdict(list)
    for source, _, target in graph.edges:
        neighbours[source].append(target)
        neighbours[target].append(source)
    rivals = Counter(variable for _, variable, _ in candidates)
    claims = Counter(i for _, _, i in candidates)

    def value(candidate: tuple[float, str, int]) -> tuple[float, int, int]:
        score, variable, i = candidate
        near = [
            1 / (1 + distances[i][nodes[n]]) for n in neighbours[variable] if n in nodes
        ]
        unique = rivals[variable] == 1 and claims[i] == 1
        return score + 0.4 * max(near, default=0.0) + 0.05 * unique, -i, 0

    remaining = candidates
    while remaining:
        _, variable, i = max(remaining, key=value)
        nodes[variable] = i
        taken.add(i)
        remaining = [c for c in remaining if c[1] != variable and c[2] != i]


def _align_values(
    tokens: Sequence[Token], graph: AMRGraph, nodes: Mapping[str, int], taken: set[int]
) -> dict[int, int]:
    """Give numbers and the negative polarity to the nearest token that says them."""
    values: dict[int, int] = {}
    used: set[int] = set()
    for position, (source, role, value) in enumerate(graph.attributes):
        matching = [
            i
            for i, token in enumerate(tokens)
            if i not in used and says_value(token, role, read_string(value))
        ]
        if matching:
            place = nodes.get(source, 0)
            best = min(matching, key=lambda i: (i in taken, abs(i - place)))
            values[position] = best
            used.add(best)
    return values


def learn_associations(
    observed: Iterable[tuple[Sequence[Token], AMRGraph, Alignment]],
) -> dict[tuple[str, str], float]:
    """Find lemmas and concepts left over in the same sentences more than by chance."""
    lemmas: Counter[str] = Counter()
    concepts: Counter[str] = Counter()
    pairs: Counter[tuple[str, str]] = Counter()
    for tokens, graph, alignment in observed:
        free_lemmas = {
            token.lemma.lower()
            for i, token in enumerate(tokens)
            if i not in alignment.mentions and token.form not in _STOP_PUNCTUATION
        }
        free_concepts = {
            concept
            for variable, concept in graph.nodes.items()
            if variable not in alignment.nodes and concept != "name"
        }
        lemmas.update(free_lemmas)
        concepts.update(free_concepts)
        pairs.update((a, b) for a in free_lemmas for b in free_concepts)
    return {
        (lemma, concept): count * count / (lemmas[lemma] * concepts[concept])
        for (lemma, concept), count in pairs.items()
        if count >= 3
    }
