"""The ``builtin`` parser: from the skeleton of a sentence to its graph.

```
tokens ─ label ─> fragments ─ join ─> edges ─ realise ─> graph ─ moods ─> graph
```

Moods are commands and questions.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from mathamr_kedro.amr.builtin.concepts import FORMULA, NEGATIVE, VALUES
from mathamr_kedro.amr.builtin.coreference import find_antecedents, share_names
from mathamr_kedro.amr.builtin.fragments import Fragment, make_named_fragments
from mathamr_kedro.amr.builtin.relations import LinkedTokens, Reduced, join_fragments
from mathamr_kedro.amr.builtin.skeleton import Skeleton
from mathamr_kedro.amr.builtin.syntax import parse_sentences
from mathamr_kedro.amr.builtin.tables import TABLES, Models
from mathamr_kedro.amr.builtin.words import MODALS, PRONOUNS, read_number, read_ordinal
from mathamr_kedro.amr.chunking import Chunk
from mathamr_kedro.amr.graphs import (
    AMRGraph,
    Attribute,
    Edge,
    ParseFailure,
    VariableNames,
    merge_graphs,
)
from mathamr_kedro.amr.penman_io import format_string, format_symbol

_SHARED = frozenset(PRONOUNS.values()) - {"it"}
"""Pronouns that denote the same throughout a sentence."""

_SUBJECTS = frozenset({"nsubj", "nsubjpass", "cop:nsubj"})
"""Relations to the governor of tokens that are never the top."""

_OWN_SUBJECTS = _SUBJECTS | {"csubj", "expl"}
"""Relations that a verb in a command does not have."""

_IT = Fragment(("it",))
_WORD = re.compile(r"\w")


def parse_skeleton(skeleton: Skeleton, models: Models) -> AMRGraph:
    """Return the graph of a sentence."""
    labels = models.concepts.label_tokens(skeleton)
    graph = _build_graph(skeleton, labels, models)
    # Rules may cut off a part of a sentence that was misread.
    return graph.join_parts("mod")


def _build_graph(skeleton: Skeleton, labels: Sequence[str], models: Models) -> AMRGraph:
    fragments = make_named_fragments(skeleton, labels, models.name_types)
    nodes = [i for i, fragment in fragments.items() if fragment.concept not in VALUES]
    if not nodes:
        # A sentence of function words still needs a node: a graph cannot be empty.
        word = skeleton.tokens[skeleton.root].lemma.lower()
        return AMRGraph("x", {"x": format_symbol(word)}, [])
    same = find_antecedents(skeleton, fragments)
    fragments.update({i: _IT for i in same if i not in fragments})
    reduced = Reduced(skeleton, fragments, models.lexicon)
    edges = join_fragments(
        skeleton, fragments, reduced, models.relations, models.lexicon
    )
    # A subject is never the top, unless there is nothing else.
    heads = [i for i in nodes if reduced.paths[i] not in _SUBJECTS] or nodes
    ranks = models.tops.score([reduced.describe_top(i) for i in heads])
    top = heads[ranks.index(max(ranks))]
    return _realise(skeleton, labels, fragments, edges, same.get(top, top), same)


def _realise(
    skeleton: Skeleton,
    labels: Sequence[str],
    fragments: Mapping[int, Fragment],
    edges: Sequence[LinkedTokens],
    top: int,
    same: Mapping[int, int],
) -> AMRGraph:
    """Give nodes their variables and write down edges and attributes."""
    draft = _Draft(skeleton)
    for i, fragment in fragments.items():
        if fragment.concept not in VALUES and i not in same:
            draft.add_fragment(i, fragment)
    # Pronouns have no node: they take the variable of what they refer to.
    for i, other in same.items():
        draft.variables[i] = draft.variables[other][:1]
    for source, role, target in edges:
        own = draft.variables[source]
        origin = own[0 if source in same else fragments[source].find_source(role)]
        if target not in draft.variables:
            draft.add_value(origin, role, target, labels[target])
            continue
        if labels[target].startswith(f"{NEGATIVE}+"):
            draft.attributes[Attribute(origin, "polarity", "-")] = None
        draft.edges[Edge(origin, role, draft.variables[target][0])] = None
    graph = AMRGraph(
        top=draft.variables[top][0],
        nodes=draft.nodes,
        edges=[edge for edge in draft.edges if edge.source != edge.target],
        attributes=list(draft.attributes),
    )
    return _add_moods(graph, skeleton, draft.variables, draft.names)


class _Draft:
    """A graph under construction; dictionaries keep the order and drop repeats."""

    def __init__(self, skeleton: Skeleton) -> None:
        self.skeleton = skeleton
        self.names = VariableNames()
        self.nodes: dict[str, str] = {}
        self.variables: dict[int, list[str]] = {}
        self.edges: dict[Edge, None] = {}
        self.attributes: dict[Attribute, None] = {}
        self._shared: dict[str, list[str]] = {}

    def add_fragment(self, i: int, fragment: Fragment) -> None:
        """Add the nodes of a fragment, or find those of an earlier mention."""
        concepts = fragment.concepts
        if fragment.concept == FORMULA:
            concepts = (self.skeleton.tokens[i].form, *concepts[1:])
        is_shared = fragment.concept == FORMULA or fragment.concept in _SHARED
        if is_shared and concepts[0] in self._shared:
            self.variables[i] = self._shared[concepts[0]]
            return
        own = [self.names.make(concept) for concept in concepts]
        self.nodes.update(zip(own, concepts, strict=True))
        self.variables[i] = own
        if is_shared and len(own) == 1:
            self._shared[concepts[0]] = own
        for a, role, b in fragment.edges:
            self.edges[Edge(own[a], role, own[b])] = None
        for n, role, value in fragment.values:
            self.attributes[Attribute(own[n], role, value)] = None

    def add_value(self, origin: str, role: str, i: int, label: str) -> None:
        """Add a constant."""
        word = self.skeleton.words[i]
        if label == NEGATIVE:
            value = "-"
        elif role == "polite":
            value = "+"
        else:
            value = read_number(word) or read_ordinal(word) or format_string(word)
        self.attributes[Attribute(origin, role, value)] = None


def _add_moods(
    graph: AMRGraph,
    skeleton: Skeleton,
    variables: Mapping[int, Sequence[str]],
    names: VariableNames,
) -> AMRGraph:
    """Add ``:mode imperative`` with its ``you``, or the mode of a yes-no question."""
    nodes = dict(graph.nodes)
    edges = list(graph.edges)
    attributes = list(graph.attributes)
    for i in _find_commands(skeleton):
        if i not in variables:
            continue
        verb = variables[i][-1]
        you = next((v for v, concept in nodes.items() if concept == "you"), None)
        if you is None:
            you = names.make("you")
            nodes[you] = "you"
        attributes.append(Attribute(verb, "mode", "imperative"))
        edges.append(Edge(verb, "ARG0", you))
    if _is_yes_no_question(skeleton) and "amr-unknown" not in nodes.values():
        unknown = names.make("amr-unknown")
        nodes[unknown] = "amr-unknown"
        edges.append(Edge(graph.top, "polarity", unknown))
    return AMRGraph(graph.top, nodes, edges, attributes)


def _find_commands(skeleton: Skeleton) -> list[int]:
    """Return the verbs of commands.

    These are bare verbs without subject at the root, or joined with one there.
    """
    heads = [skeleton.root]
    commands: list[int] = []
    for i in heads:
        if _is_command(skeleton, i):
            commands.append(i)
        for c in skeleton.children[i]:
            if skeleton.labels[c] == "opened":
                heads.append(c)
            elif skeleton.labels[c].startswith("op"):
                heads.append(c)
                if not _can_precede_command(skeleton, c):
                    break
    return commands


def _can_precede_command(skeleton: Skeleton, i: int) -> bool:
    """Tell whether a bare verb after it can be a command: not in "I can add and X"."""
    return skeleton.tokens[i].tag != "MD" or skeleton.words[i] not in MODALS


def _is_command(skeleton: Skeleton, i: int) -> bool:
    if skeleton.tokens[i].tag != "VB":
        return False
    children = skeleton.children[i]
    labels = {skeleton.labels[c] for c in children}
    helpers = {skeleton.words[c] for c in children if skeleton.labels[c] == "aux"}
    is_forbidden = helpers == {"do"} and "neg" in labels and not skeleton.is_asked
    return not labels & _OWN_SUBJECTS and (not helpers or is_forbidden)


def _is_yes_no_question(skeleton: Skeleton) -> bool:
    """Tell whether a question mark follows a verb that precedes its subject."""
    if not skeleton.is_asked:
        return False
    for i, token in enumerate(skeleton.tokens):
        if token.dep in ("nsubj", "nsubjpass", "expl"):
            return token.tag not in ("WP", "WDT") and any(
                other.pos == "AUX" and token.head in (other.head, n)
                for n, other in enumerate(skeleton.tokens[:i])
            )
    return False


class BuiltinParser:
    """Parses on any machine, without a download."""

    name = "builtin"

    def __init__(self, tables: Path = TABLES) -> None:
        self._models = Models.load(tables)

    def parse_chunks(self, chunks: Sequence[Chunk]) -> list[AMRGraph | ParseFailure]:
        """Parse a batch of chunks; a chunk without a word fails as ``empty_text``."""
        kept = [[s for s in chunk.sentences if _WORD.search(s)] for chunk in chunks]
        parses = parse_sentences([s for sentences in kept for s in sentences])
        results: list[AMRGraph | ParseFailure] = []
        for chunk, sentences in zip(chunks, kept, strict=True):
            graphs = [
                parse_skeleton(Skeleton(next(parses)), self._models) for _ in sentences
            ]
            if not graphs:
                results.append(
                    ParseFailure("empty_text", f"no words in {chunk.text!r}")
                )
            else:
                whole = graphs[0] if len(graphs) == 1 else merge_graphs(graphs)
                results.append(share_names(whole))
        return results
