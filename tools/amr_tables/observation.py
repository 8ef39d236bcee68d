"""What a gold graph says about each token and each pair of tokens.

An aligned graph is cut into fragments, one per aligned token; the edges that remain
run between fragments:

```
(p / possible-01 :polarity -          token     label
   :ARG1 (s / speak-01                not       @-
            :ARG0 (p2 / person        can       possible-01
                     :ARG0-of         teacher   (person :ARG0-of (teach-01*))
                      (t / teach-01)  speak     speak-01
```
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import NamedTuple

from mathamr_kedro.amr import PLACEHOLDER, AMRGraph
from mathamr_kedro.amr.builtin.concepts import (
    FORMULA,
    NAME,
    NEGATIVE,
    NUMBER,
    POLITE,
    VARIABLE,
)
from mathamr_kedro.amr.builtin.skeleton import Skeleton
from mathamr_kedro.amr.builtin.words import PRONOUNS, is_variable
from tools.amr_tables.alignment import Alignment
from tools.amr_tables.fragment_labels import describe_fragment

# Which neighbour an unaligned node belongs to, by its concept and the role to it.
_ANCHOR_ROLES = {
    "have-rel-role-91": ("ARG2", "ARG3"),
    "have-org-role-91": ("ARG2", "ARG3"),
    "have-degree-91": ("ARG3", "ARG2"),
    "have-quant-91": ("ARG3", "ARG2"),
    "temporal-quantity": ("unit",),
    "distance-quantity": ("unit",),
    "monetary-quantity": ("unit",),
    "date-entity": ("dayperiod", "month", "weekday", "season", "year"),
    "rate-entity-91": ("ARG1", "ARG2", "ARG3"),
    "cause-01": ("ARG0",),
}


class Observation(NamedTuple):
    """Labels of tokens and of pairs of tokens."""

    labels: dict[int, str]
    """Token to its label (see :mod:`mathamr_kedro.amr.builtin.concepts`)."""
    edges: dict[tuple[int, int], str]
    """(source token, target token) to role."""
    top: int | None
    """Token of the top fragment."""
    names: dict[int, tuple[str, tuple[int, ...]]]
    """Head token of a name to the type of its entity and all tokens of the name."""


def observe(skeleton: Skeleton, graph: AMRGraph, alignment: Alignment) -> Observation:
    """Cut ``graph`` into the fragments of the tokens of ``skeleton``."""
    heads = {
        v: skeleton.find_head(span)
        for v, span in alignment.names.items()
        if alignment.nodes[v] in span
    }
    owner = {**alignment.nodes, **heads}
    for source, role, target in graph.edges:
        if role == "name" and source in alignment.names:
            owner[target] = owner[source]
    named = {t for s, r, t in graph.edges if r == "name" and s in alignment.names}
    free_values = _own_values(graph, alignment, owner)
    _attach_unaligned(graph, owner)
    labels = _label_fragments(skeleton, graph, alignment, owner, free_values, named)
    _move_conjunctions(skeleton, labels, owner)
    mentions = {
        **alignment.mentions,
        **_resolve_pronouns(skeleton, graph, alignment, owner),
    }
    edges = _collect_edges(graph, owner, mentions, skeleton)
    for i, variable in mentions.items():
        if skeleton.words[i] in PRONOUNS and owner.get(variable) != i:
            labels.setdefault(i, PRONOUNS[skeleton.words[i]])
    for span in alignment.names.values():
        labels.update((i, NAME) for i in span)
    for head in heads.values():
        if is_variable(skeleton.tokens[head].form):
            labels[head] = VARIABLE
    _add_values(graph, owner, free_values, labels, edges)
    names = {heads[v]: (graph.nodes[v], alignment.names[v]) for v in heads}
    return Observation(labels, edges, owner.get(graph.top), names)


def _label_fragments(
    skeleton: Skeleton,
    graph: AMRGraph,
    alignment: Alignment,
    owner: Mapping[str, int],
    free_values: Mapping[int, int],
    named: set[str],
) -> dict[int, str]:
    """Describe what each token gives; names are described by their own labels."""
    members: dict[int, list[str]] = defaultdict(list)
    for variable, i in owner.items():
        if variable not in named:
            members[i].append(variable)
    cores = {i: v for v, i in alignment.nodes.items()}
    labels: dict[int, str] = {}
    for i, variables in members.items():
        labels[i] = describe_fragment(graph, variables, cores.get(i), free_values)
        if PLACEHOLDER.fullmatch(skeleton.tokens[i].form):
            labels[i] = FORMULA
    return labels


def _move_conjunctions(
    skeleton: Skeleton, labels: dict[int, str], owner: dict[str, int]
) -> None:
    """Let the word above a coordination give its concept."""
    for i, label in list(labels.items()):
        joint = skeleton.parents[i]
        if (
            label in ("and", "or")
            and skeleton.labels[i] in ("cc", "punct")
            and joint >= 0
            and joint not in labels
            and any(skeleton.labels[c] == "op1" for c in skeleton.children[joint])
        ):
            labels[joint] = labels.pop(i)
            owner.update((v, joint) for v, n in list(owner.items()) if n == i)


def _resolve_pronouns(
    skeleton: Skeleton,
    graph: AMRGraph,
    alignment: Alignment,
    owner: Mapping[str, int],
) -> dict[int, str]:
    """Find what unaligned pronouns stand for: what their governor has an edge with."""
    found: dict[int, str] = {}
    owners = set(owner.values())
    for i, word in enumerate(skeleton.words):
        if word not in PRONOUNS or i in alignment.mentions or i in owners:
            continue
        governor = skeleton.parents[i]
        while governor >= 0 and governor not in owners:
            governor = skeleton.parents[governor]
        if governor < 0:
            continue
        for source, _, target in graph.edges:
            for this, other in ((source, target), (target, source)):
                if (
                    owner.get(this) == governor
                    and owner.get(other, governor) != governor
                    and skeleton.tokens[owner[other]].pos in ("NOUN", "PROPN", "PRON")
                    and _measure_distance(skeleton, governor, owner[other]) > 2
                ):
                    found.setdefault(i, other)
    return found


def _own_values(
    graph: AMRGraph, alignment: Alignment, owner: dict[str, int]
) -> dict[int, int]:
    """Let constants of unaligned nodes own them: ``first`` gives ``ordinal-entity``."""
    free: dict[int, int] = {}
    for position, i in alignment.values.items():
        source, role, _ = graph.attributes[position]
        if source not in owner and role == "value":
            owner[source] = i
        elif graph.nodes[source] != "name":
            free[position] = i
    return free


def _attach_unaligned(graph: AMRGraph, owner: dict[str, int]) -> None:
    """Give unaligned nodes to a neighbour's token where one is the natural anchor."""
    for _ in range(3):
        for variable, concept in graph.nodes.items():
            if variable not in owner:
                anchor = _find_anchor(graph, variable, concept, owner)
                if anchor is not None:
                    owner[variable] = owner[anchor]


def _find_anchor(
    graph: AMRGraph, variable: str, concept: str, owner: Mapping[str, int]
) -> str | None:
    if concept in ("you", "multi-sentence", "and"):
        return None
    outgoing = {r: t for s, r, t in graph.edges if s == variable and t in owner}
    incoming = [(r, s) for s, r, t in graph.edges if t == variable and s in owner]
    if concept == "amr-unknown" and any(r in ("polarity", "mode") for r, _ in incoming):
        return None
    for role in _ANCHOR_ROLES.get(concept, ()):
        if role in outgoing:
            return outgoing[role]
    targets = {t for _, _, t in graph.edges}
    for role, source in incoming:
        if role.startswith("ARG") and source != graph.top and source not in targets:
            return source
    if len(outgoing) + len(incoming) == 1:
        return [*outgoing.values(), *(s for _, s in incoming)][0]
    return None


def _collect_edges(
    graph: AMRGraph,
    owner: Mapping[str, int],
    mentions: Mapping[int, str],
    skeleton: Skeleton,
) -> dict[tuple[int, int], str]:
    """Return the edges between fragments, each between its nearest mentions."""
    tokens_of: dict[str, set[int]] = defaultdict(set)
    for variable, i in owner.items():
        tokens_of[variable].add(i)
    for i, variable in mentions.items():
        if i != owner.get(variable) and skeleton.words[i] in PRONOUNS:
            tokens_of[variable].add(i)
    edges: dict[tuple[int, int], str] = {}
    for source, role, target in graph.edges:
        if source not in owner or target not in owner or owner[source] == owner[target]:
            continue
        nearest = min(
            ((a, b) for a in tokens_of[source] for b in tokens_of[target]),
            key=lambda pair: (
                _measure_distance(skeleton, *pair),
                abs(pair[0] - pair[1]),
                pair,
            ),
        )
        edges.setdefault(nearest, role)
    return edges


def _add_values(
    graph: AMRGraph,
    owner: Mapping[str, int],
    free_values: Mapping[int, int],
    labels: dict[int, str],
    edges: dict[tuple[int, int], str],
) -> None:
    kinds = {"-": NEGATIVE, "+": POLITE}
    for position, i in free_values.items():
        source, role, value = graph.attributes[position]
        if source not in owner or i == owner[source] or labels.get(i) == NAME:
            continue
        kind = kinds.get(value, NUMBER)
        if i not in labels:
            labels[i] = kind
        elif kind == NEGATIVE:
            labels[i] = f"{NEGATIVE}+{labels[i]}"
        edges.setdefault((owner[source], i), role)


def _measure_distance(skeleton: Skeleton, a: int, b: int) -> int:
    """Return the number of steps between two tokens."""
    above_a = skeleton.list_ancestors(a)
    above_b = skeleton.list_ancestors(b)
    for steps, i in enumerate(above_a):
        if i in above_b:
            return steps + above_b.index(i)
    return len(above_a) + len(above_b)
