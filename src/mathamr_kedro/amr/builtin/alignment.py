"""Which token a node of a gold graph comes from; used when the tables are learned.

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
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from mathamr_kedro.amr.builtin.lexicon import Lexicon
from mathamr_kedro.amr.builtin.syntax import Token
from mathamr_kedro.amr.builtin.words import (
    MODALS,
    NEGATIONS,
    PRONOUNS,
    QUESTION_WORDS,
    find_adjective,
    read_number,
    read_ordinal,
    strip_sense,
)
from mathamr_kedro.amr.graphs import AMRGraph
from mathamr_kedro.amr.penman_io import read_string

Associations = Mapping[tuple[str, str], float]
"""(lemma, concept) to how strongly they go together, 0 to 1."""

_CLOSED = {
    "contrast-01": {"but", "however", "yet", "nevertheless"},
    "cause-01": {
        "because",
        "so",
        "therefore",
        "why",
        "since",
        "thus",
        "hence",
        "as",
        "such",
    },
    "have-condition-91": {"if", "unless"},
    "resemble-01": {"like"},
    "and": {"and", "&", "&amp;", ",", ";"},
    "or": {"or"},
    "have-degree-91": {"more", "most", "less", "least", "than", "as", "too", "enough"},
    "possible-01": {"able", "perhaps", "maybe", "possibly", "possible"},
    "recommend-01": {"should", "ought", "better"},
    "obligate-01": {"have", "must", "need"},
    "include-91": {"of", "among"},
    "have-concession-91": {"although", "though", "but", "yet"},
    "instead-of-91": {"instead"},
    "ever": {"never"},
    "person": {"people", "everyone", "everybody", "someone", "who"},
    "equal-01": {"equal", "be", "="},
    "be-located-at-91": {"be"},
    "exist-01": {"there", "be"},
    "exemplify-01": {"example", "e.g."},
    "truth-value": {"whether", "if"},
    "mean-01": {"i.e."},
}
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
        and (score := _score(concept, token, lexicon, associations)) > 0
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


def _score(
    concept: str, token: Token, lexicon: Lexicon, associations: Associations
) -> float:
    """Return how well a token accounts for a concept, 0 for not at all."""
    return next(filter(None, _list_scores(concept, token, lexicon, associations)), 0.0)


def _list_scores(
    concept: str, token: Token, lexicon: Lexicon, associations: Associations
) -> Iterator[float]:
    """Yield the scores of the ways to match; the first that is not 0 counts."""
    base = strip_sense(concept)
    lower, lemma = token.form.lower(), token.lemma.lower()
    is_verb_frame = base != concept and token.pos == "VERB"
    yield 3.5 * (concept == token.form)
    yield (3.0 + 0.3 * is_verb_frame) * (base in (lemma, lower))
    yield 3.0 * (PRONOUNS.get(lower) == concept)
    yield 2.9 * (token.tag == "MD" and MODALS.get(lower) == concept)
    yield _score_closed_class(concept, lower)
    yield 2.7 * (token.pos == "ADV" and find_adjective(lower) == base)
    yield 2.6 * (base in lexicon.derived.get(lemma, ()))
    yield 2.6 * (base in lexicon.actors.get(lemma, ()))
    first, *others = base.split("-")
    yield 2.2 * (bool(others) and lemma == first)
    yield 1.9 * (lemma in others)
    associated = associations.get((lemma, concept), 0.0)
    yield (1.0 + associated) * (associated > 0)
    yield _score_prefix(base, lemma)


def _score_closed_class(concept: str, lower: str) -> float:
    if concept == "amr-unknown":
        return 2.5 * (lower in QUESTION_WORDS)
    if lower not in _CLOSED.get(concept, ()):
        return 0.0
    return 2.3 if concept != "and" or lower == "and" else 0.6


def _score_prefix(base: str, lemma: str) -> float:
    shared = 0
    for a, b in zip(base, lemma, strict=False):
        if a != b:
            break
        shared += 1
    if shared >= 4 and shared >= 0.6 * max(len(base), len(lemma)):
        return 1.0 + shared / 20
    for prefix in ("un", "in", "im", "ir", "non"):
        if lemma.startswith(prefix) and lemma[len(prefix) :].lstrip("-") == base:
            return 1.8
    return 0.0


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
            if i not in used and _says(token, role, read_string(value))
        ]
        if matching:
            place = nodes.get(source, 0)
            best = min(matching, key=lambda i: (i in taken, abs(i - place)))
            values[position] = best
            used.add(best)
    return values


def _says(token: Token, role: str, value: str) -> bool:
    lower = token.form.lower()
    if role == "polarity" and value == "-":
        return lower in NEGATIONS
    if role == "polite":
        return lower == "please"
    return value in (read_number(lower), read_ordinal(lower), token.form)


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
