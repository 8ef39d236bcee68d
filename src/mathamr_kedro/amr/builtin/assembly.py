"""From a skeleton to the graph of a sentence.

```
tokens ─ label ─> fragments ─ pairs ─> edges ─ realise ─> graph
```
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from mathamr_kedro.amr.builtin.concepts import (
    FORMULA,
    NAME,
    NEGATIVE,
    NOTHING,
    ORDINAL,
    VALUES,
    VARIABLE,
    ConceptModel,
    Memory,
    describe_context,
    find_candidates,
    make_key,
)
from mathamr_kedro.amr.builtin.coreference import find_antecedents
from mathamr_kedro.amr.builtin.fragments import Fragment, read_fragment
from mathamr_kedro.amr.builtin.joining import (
    LinkedTokens,
    choose_edges,
    fix_conditions,
    fix_members,
    lift_existence,
    restrain_scores,
)
from mathamr_kedro.amr.builtin.lexicon import Lexicon
from mathamr_kedro.amr.builtin.linear import Classifier, FloatArray, Ranker
from mathamr_kedro.amr.builtin.moods import add_moods
from mathamr_kedro.amr.builtin.names import (
    Spans,
    add_name,
    complete_names,
    describe_name,
    find_head,
    find_named_noun,
    find_titles,
    group_names,
    make_name,
    make_title,
)
from mathamr_kedro.amr.builtin.relations import (
    Reduced,
    collect_facts,
    describe_pair,
    describe_top,
)
from mathamr_kedro.amr.builtin.skeleton import Skeleton
from mathamr_kedro.amr.builtin.words import (
    PRONOUNS,
    is_variable,
    read_number,
    read_ordinal,
)
from mathamr_kedro.amr.graphs import (
    PLACEHOLDER,
    AMRGraph,
    Attribute,
    Edge,
    join_parts,
)
from mathamr_kedro.amr.merging import VariableNames
from mathamr_kedro.amr.penman_io import format_string, format_symbol

_NOTHING_BIAS = 1.0
"""Taken from the score of dropping a content word: a lost node costs its edges too."""

_CONTENT = frozenset({"NOUN", "VERB", "ADJ", "ADV", "PROPN"})
_NOUNS = frozenset({"NOUN", "PROPN"})
_SHARED = frozenset(PRONOUNS.values()) - {"it"}
"""Pronouns that mean the same all through a sentence."""


_SUBJECTS = frozenset({"nsubj", "nsubjpass", "cop:nsubj"})
"""Ways to the governor of what is never the top."""

_QUANTIFIERS = frozenset({"all", "any", "each", "every", "some"})

_LOOSE_ROLE = "mod"

_IT = Fragment(("it",))


@dataclass(frozen=True)
class Models:
    """Everything that was learned."""

    lexicon: Lexicon
    memory: Memory
    concepts: ConceptModel
    relations: Classifier
    tops: Ranker
    name_types: Classifier

    @cached_property
    def silent(self) -> frozenset[str]:
        """Frequent words that practically never give anything."""
        return frozenset(
            key
            for key, labels in self.memory.items()
            if labels.get(NOTHING, 0.0) > max(30.0, 0.98 * sum(labels.values()))
        )


def parse_skeleton(skeleton: Skeleton, models: Models) -> AMRGraph:
    """Return the graph of a sentence."""
    labels = label_tokens(skeleton, models)
    graph = build_graph(skeleton, labels, models)
    # Rules may cut off a part of a sentence that was misread.
    return join_parts(graph, _LOOSE_ROLE)


def label_tokens(skeleton: Skeleton, models: Models) -> list[str]:
    """Choose the best label of each token."""
    labels: list[str] = []
    for i, token in enumerate(skeleton.tokens):
        key = make_key(token)
        if key in models.silent or skeleton.is_consequence_mark(i):
            labels.append(NOTHING)
            continue
        if token.pos in _NOUNS and is_variable(token.form) and token.form.isupper():
            labels.append(VARIABLE)  # "Let R be a ring"
            continue
        if _quantifies_formula(skeleton, i):
            labels.append(skeleton.words[i])  # no rate, as in "every day"
            continue
        remembered = models.memory.get(key, {})
        candidates = find_candidates(skeleton, i, models.lexicon, remembered)
        if len(candidates) == 1:
            labels.append(next(iter(candidates)))
            continue
        contexts = describe_context(skeleton, i)
        scores = models.concepts.score(token, contexts, candidates, remembered)
        if token.pos in _CONTENT:
            scores[0] -= _NOTHING_BIAS  # NOTHING is always the first candidate
        labels.append(max(zip(scores, candidates, strict=True))[1])
    return labels


def _quantifies_formula(skeleton: Skeleton, i: int) -> bool:
    head = skeleton.tokens[i].head
    return (
        skeleton.tokens[i].dep == "det"
        and skeleton.words[i] in _QUANTIFIERS
        and head >= 0
        and PLACEHOLDER.fullmatch(skeleton.tokens[head].form) is not None
    )


def make_fragments(
    skeleton: Skeleton,
    labels: Sequence[str],
    names: Spans,
    name_types: Mapping[int, str],
) -> dict[int, Fragment]:
    """Turn labels into fragments; constants become fragments of their label."""
    fragments: dict[int, Fragment] = {}
    for i, label in enumerate(labels):
        if label == NOTHING or (label == NAME and i not in names):
            continue
        if label == NAME:
            fragments[i] = make_name(skeleton, names[i], name_types[i])
        elif label == VARIABLE:
            fragments[i] = make_name(skeleton, (i,), "variable")
        elif label == ORDINAL:
            value = read_ordinal(skeleton.words[i]) or "1"
            fragments[i] = Fragment(("ordinal-entity",), values=((0, "value", value),))
        elif label[:3] == f"{NEGATIVE}+":
            fragments[i] = read_fragment(label[3:])
        else:
            fragments[i] = read_fragment(label)
    return fragments


def _make_named_fragments(
    skeleton: Skeleton, labels: Sequence[str], models: Models
) -> dict[int, Fragment]:
    """Make all fragments; names go to the noun they belong to, or get a type."""
    titles = find_titles(skeleton)
    inside = {i for span in titles.values() for i in span}
    labels = [NOTHING if i in inside else label for i, label in enumerate(labels)]
    complete_names(skeleton, labels)
    spans = group_names(skeleton, labels)
    nouns = {h: find_named_noun(skeleton, h, span, labels) for h, span in spans.items()}
    free = {head: span for head, span in spans.items() if nouns[head] is None}
    types: dict[int, str] = {}
    if free:
        scores = models.name_types.score(
            [describe_name(skeleton, s) for s in free.values()]
        )
        types = {
            head: _choose_type(skeleton, span, models.name_types, row)
            for (head, span), row in zip(free.items(), scores, strict=True)
        }
    fragments = make_fragments(skeleton, labels, free, types)
    for head, noun in nouns.items():
        if noun is not None:
            fragments[noun] = add_name(skeleton, spans[head], fragments[noun])
    for span in titles.values():
        fragments[find_head(skeleton, span)] = make_title(skeleton, span)
    return fragments


def _choose_type(
    skeleton: Skeleton, span: Sequence[int], types: Classifier, scores: FloatArray
) -> str:
    """Choose what has a name; of names never seen only persons are believed."""
    if len(span) == 1 and is_variable(skeleton.tokens[span[0]].form.rstrip(".")):
        return "variable"
    if not any(f"w{skeleton.words[i]}" in types.features for i in span):
        return "person"
    return types.labels[int(scores.argmax())]


def build_graph(skeleton: Skeleton, labels: Sequence[str], models: Models) -> AMRGraph:
    """Build the graph of a sentence whose tokens are labelled."""
    fragments = _make_named_fragments(skeleton, labels, models)
    nodes = [i for i, fragment in fragments.items() if fragment.concept not in VALUES]
    if not nodes:
        word = skeleton.tokens[skeleton.root].lemma.lower()
        return AMRGraph("x", {"x": format_symbol(word)}, [])
    same = find_antecedents(skeleton, fragments)
    fragments.update({i: _IT for i in same if i not in fragments})
    reduced = Reduced(skeleton, fragments)
    facts = collect_facts(skeleton, fragments, models.lexicon)
    pairs = reduced.list_pairs(models.relations.features)
    scores = models.relations.score([describe_pair(pair, facts) for pair in pairs])
    roles = models.relations.labels
    restrain_scores(scores, pairs, roles, fragments, models.lexicon)
    fix_members(scores, pairs, roles, fragments, skeleton)
    fix_conditions(scores, pairs, roles, skeleton)
    edges = choose_edges(pairs, scores, roles, fragments) if pairs else []
    edges = lift_existence(edges, skeleton, fragments)
    heads = [i for i in nodes if reduced.paths[i] not in _SUBJECTS] or nodes
    ranks = models.tops.score([describe_top(i, reduced, facts) for i in heads])
    top = heads[ranks.index(max(ranks))]
    return realise(skeleton, labels, fragments, edges, same.get(top, top), same)


def realise(
    skeleton: Skeleton,
    labels: Sequence[str],
    fragments: Mapping[int, Fragment],
    edges: Sequence[LinkedTokens],
    top: int,
    same: Mapping[int, int],
) -> AMRGraph:
    """Give nodes their variables and write down edges and attributes.

    Args:
        skeleton: the sentence.
        labels: of its tokens.
        fragments: by token.
        edges: between tokens.
        top: token of the top.
        same: tokens that mean the same as another one.
    """
    draft = _Draft(skeleton)
    for i, fragment in fragments.items():
        if fragment.concept not in VALUES and i not in same:
            draft.add_fragment(i, fragment)
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
    return add_moods(graph, skeleton, draft.variables, draft.names)


class _Draft:
    """A graph in the making; dictionaries keep the order and drop repeats."""

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
