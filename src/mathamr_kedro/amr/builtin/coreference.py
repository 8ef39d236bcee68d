"""Coreference of pronouns and names, only where it is unambiguous.

Within a sentence a pronoun is resolved if it has a single candidate; within a text a
repeated name denotes the same thing:

```
The map is open because it is linear.    it = map
The map is a limit because it is open.   map or limit? not resolved
Cauchy proved it. Cauchy was right.      one person
```
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping

from mathamr_kedro.amr.builtin.fragments import Fragment
from mathamr_kedro.amr.builtin.skeleton import Skeleton
from mathamr_kedro.amr.graphs import PLACEHOLDER, AMRGraph, Attribute, Edge

_SINGULAR = frozenset({"it", "its", "itself"})
_PLURAL = frozenset({"they", "them", "their", "themselves"})
_INNER = frozenset({"compound", "nmod", "formula", "npadvmod", "amod"})
_CLAUSES = frozenset({"ccomp", "xcomp", "csubj", "acl", "advcl", "clause"})
_IMPERSONAL = frozenset(
    "appear become follow happen help matter mean remain seem suffice take turn".split()
)  # fmt: skip
_REFLEXIVE = frozenset({"its", "itself", "their", "themselves"})


def find_antecedents(
    skeleton: Skeleton, fragments: Mapping[int, Fragment]
) -> dict[int, int]:
    """Return the antecedent of each pronoun of the sentence that has one.

    There must be exactly one noun or formula of its number before the pronoun, neither
    a person nor an argument of the same verb.
    """
    found: dict[int, int] = {}
    for i, word in enumerate(skeleton.words):
        tags = (
            ("NN", "NNP") if word in _SINGULAR
            else ("NNS", "NNPS") if word in _PLURAL
            else ()
        )  # fmt: skip
        if not tags or skeleton.tokens[i].pos != "PRON" or _is_empty(skeleton, i):
            continue
        nouns = [
            n
            for n in range(i)
            if skeleton.tokens[n].tag in tags and skeleton.labels[n] not in _INNER
        ]
        # With two candidates a guess would be wrong too often: a missing edge costs
        # less than a wrong one.
        if len(nouns) == 1 and _can_mean(skeleton, i, nouns[0], fragments):
            found[i] = nouns[0]
    return found


def _is_empty(skeleton: Skeleton, i: int) -> bool:
    """Tell whether ``it`` is an expletive: "it is clear that"."""
    parent = skeleton.parents[i]
    if skeleton.labels[i] not in ("nsubj", "nsubjpass", "cop:nsubj", "expl"):
        return False
    return (
        parent < 0
        or skeleton.tokens[parent].lemma in _IMPERSONAL
        or any(
            skeleton.labels[c] in _CLAUSES and c > i for c in skeleton.children[parent]
        )
    )


def _can_mean(
    skeleton: Skeleton, i: int, noun: int, fragments: Mapping[int, Fragment]
) -> bool:
    if noun not in fragments:
        return False
    token = skeleton.tokens[noun]
    if token.pos == "PROPN" and not PLACEHOLDER.fullmatch(token.form):
        return False
    if fragments[noun].concepts[0] == "person":
        return False
    is_same_verb = skeleton.parents[i] == skeleton.parents[noun]
    is_inside = noun in skeleton.list_ancestors(i) and skeleton.words[i] != "its"
    return not is_inside and (not is_same_verb or skeleton.words[i] in _REFLEXIVE)


def share_names(graph: AMRGraph) -> AMRGraph:
    """Give things of the same kind and name one node.

    A person may also be referred to by the last part of an earlier name.
    """
    # A name that has more than its parts keeps its node.
    governors = Counter(edge.source for edge in graph.edges)
    named = Counter(edge.target for edge in graph.edges)
    names = {
        thing: name
        for thing, name in _read_names(graph).items()
        if not governors[name[0]] and named[name[0]] == 1
    }
    if len(names) < 2:
        return graph
    first: dict[tuple[str, tuple[str, ...]], str] = {}
    same: dict[str, str] = {}
    dropped: set[str] = set()
    for thing, (node, parts) in names.items():
        kind = graph.nodes[thing]
        earlier = first.setdefault((kind, parts), thing)
        if earlier != thing:
            same[thing] = earlier
            dropped.add(node)
        elif kind == "person" and len(parts) > 1:
            first.setdefault((kind, parts[-1:]), thing)
    if not same:
        return graph
    edges = [
        Edge(same.get(s, s), role, same.get(t, t))
        for s, role, t in graph.edges
        if s not in dropped and t not in dropped
    ]
    return AMRGraph(
        same.get(graph.top, graph.top),
        {v: c for v, c in graph.nodes.items() if v not in dropped and v not in same},
        [edge for edge in dict.fromkeys(edges) if edge.source != edge.target],
        list(
            dict.fromkeys(
                Attribute(same.get(s, s), role, value)
                for s, role, value in graph.attributes
                if s not in dropped
            )
        ),
    )


def _read_names(graph: AMRGraph) -> dict[str, tuple[str, tuple[str, ...]]]:
    """Return the name node and the parts of the name of each thing that has one."""
    parts: dict[str, dict[str, str]] = defaultdict(dict)
    for source, role, value in graph.attributes:
        if graph.nodes[source] == "name" and role.startswith("op"):
            parts[source][role] = value
    return {
        source: (target, tuple(parts[target].values()))
        for source, role, target in graph.edges
        if role == "name" and target in parts
    }
