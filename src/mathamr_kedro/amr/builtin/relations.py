"""Choice of edges between fragments so that the graph is connected.

Only pairs that are close in the skeleton, reduced to tokens with a fragment, are
considered; ``kind`` says how close:

```
       a          01  a governs b              11  b and c are siblings
     ╱   ╲        02  a governs d's governor   12  c is an uncle of d
    b     c
    │
    d
```

A pair's label is a role from the upper to the lower token, the role and ``~`` for the
other direction, or ``-`` for no edge.

Every likely edge is taken, best first, as long as a source has each core role once;
then the best of the others connect separate parts. Re-entrancies need no rule: a node
may have more than one likely edge.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from mathamr_kedro.amr.builtin.concepts import NEGATIVE, NUMBER, POLITE, VALUES
from mathamr_kedro.amr.builtin.fragments import Fragment
from mathamr_kedro.amr.builtin.skeleton import Skeleton
from mathamr_kedro.amr.builtin.tables import Classifier, FloatArray
from mathamr_kedro.amr.builtin.words import Lexicon, is_frame

NO_EDGE = "-"
BACKWARD = "~"
_WORDY = frozenset({"ADP", "SCONJ", "PART", "ADV"})
_MARKS = frozenset({"if", "that", "to", "whether"})
_WH_TAGS = frozenset({"WDT", "WP", "WRB", "WP$"})
LinkedTokens = tuple[int, str, int]
"""Source token, role, target token."""

_ROLE_PENALTY = 2.0
"""Penalty for a core role that the frame does not list, in log-probability."""

_NEVER = -30.0
_ALL_ROLES = "0123456"

_VALUE_ROLES = {
    NEGATIVE: frozenset({"polarity"}),
    POLITE: frozenset({"polite"}),
    NUMBER: frozenset(
        "quant mod value op1 op2 op3 op4 ARG1 ARG2 ARG3 li year month day".split()
    ),
}  # fmt: skip
_CONDITION = "suchthat"
_MEMBER_ROLES = {"and": "op", "or": "op", "contrast-01": "ARG"}


class Pair(NamedTuple):
    """Two tokens; ``upper`` is nearer to the root, or earlier."""

    upper: int
    lower: int
    kind: str
    path: str
    between: int
    """The token of the fragment between them, -1 if there is none."""

    def orient(self, label: str) -> tuple[int, str, int]:
        """Return source, role and target of the pair with its label."""
        if label.endswith(BACKWARD):
            return self.lower, label[:-1], self.upper
        return self.upper, label, self.lower


class Reduced:
    """The skeleton, reduced to tokens with a fragment; constants have no dependents.

    Attributes:
        parents: token to its governor, -1 for those that have none.
        paths: token to the labels on the path to its governor.
        children: token to its dependents.
    """

    def __init__(
        self, skeleton: Skeleton, fragments: Mapping[int, Fragment], lexicon: Lexicon
    ) -> None:
        self._skeleton = skeleton
        self._kept = {i for i, f in fragments.items() if f.concept not in VALUES}
        self.parents: dict[int, int] = {}
        self.paths: dict[int, str] = {}
        self.children: dict[int, list[int]] = {i: [] for i in [-1, *fragments]}
        for i in fragments:
            parent, path = self._climb(i)
            self.parents[i] = parent
            self.paths[i] = path
            self.children[parent].append(i)
        self._facts = _collect_facts(skeleton, fragments, lexicon)

    def _climb(self, i: int) -> tuple[int, str]:
        skeleton = self._skeleton
        parts = [skeleton.labels[i]]
        parent = skeleton.parents[i]
        while parent >= 0 and parent not in self._kept:
            label = skeleton.labels[parent]
            if skeleton.tokens[parent].pos in _WORDY:
                label = f"{label}:{skeleton.words[parent]}"
            parts.append(label)
            parent = skeleton.parents[parent]
        return parent, "<".join(parts[:4])

    def list_pairs(self, known: Container[str] | None = None) -> list[Pair]:
        """Return the pairs to look at.

        Args:
            known: paths worth a look, as ``kind + path``; if it is given, pairs that
                are not next to each other are skipped unless their path is known.
        """
        pairs: list[Pair] = []
        for upper, children in self.children.items():
            for n, b in enumerate(children):
                if upper >= 0:
                    pairs.append(Pair(upper, b, "01", self.paths[b], -1))
                for c in children[n + 1 :]:
                    path = f"{self.paths[b]}^{self.paths[c]}"
                    # Only siblings without a governor need each other to be connected.
                    if known is None or upper < 0 or "11" + path in known:
                        pairs.append(Pair(b, c, "11", path, upper))
        distant = self._list_distant_pairs()
        if known is not None:
            distant = (pair for pair in distant if pair.kind + pair.path in known)
        return [*pairs, *distant]

    def _list_distant_pairs(self) -> Iterator[Pair]:
        paths = self.paths
        for c, nephews in self.children.items():
            if c < 0 or not nephews:
                continue
            upper = self.parents[c]
            for d in nephews:
                if upper >= 0:
                    yield Pair(upper, d, "02", f"{paths[d]}<<{paths[c]}", c)
                for b in self.children[upper]:
                    if b != c:
                        path = f"{paths[b]}^{paths[c]}>>{paths[d]}"
                        yield Pair(b, d, "12", path, c)

    def describe_pair(self, pair: Pair) -> list[str]:
        """Return the features of a pair."""
        facts = self._facts
        a, b = facts[pair.upper], facts[pair.lower]
        k = pair.kind
        p = k + pair.path
        order = "<" if pair.upper < pair.lower else ">"
        kinds = f"{a.kind},{b.kind}"
        names = [
            p,
            f"1{p}|{a.concept}",
            f"2{p}|{b.concept}",
            f"3{p}|{kinds}",
            f"4{p}|{a.tag}",
            f"5{p}|{b.tag}",
            f"6{p}|{a.tag}|{b.tag}",
            f"7{k}|{a.concept}|{b.concept}",
            f"8{p}|{a.shape}|{a.kind}",
            f"9{p}|{a.roles}|{a.shape}",
            f"A{p}|{b.marks}|{b.kind}",
            f"B{k}|{kinds}|{order}",
            f"C{k}|{a.concept}",
            f"D{k}|{b.concept}",
            f"E{p}|{order}|{kinds}",
            f"F{p}|{a.lemma}",
            f"G{p}|{b.lemma}",
            f"H{p}|{b.shape}|{b.kind}",
            f"I{p}|{b.roles}|{b.shape}",
            f"J{k}|{a.concept}|{b.tag}|{order}",
        ]
        if pair.between >= 0:
            c = facts[pair.between]
            names += [
                f"K{p}|{c.concept}",
                f"L{p}|{c.kind}|{kinds}",
                f"M{k}|{c.concept}|{a.tag}|{b.tag}",
                f"N{p}|{c.concept}|{a.kind}|{b.concept}",
            ]
        return names

    def describe_top(self, i: int) -> list[str]:
        """Return the features by which the top of a graph is chosen."""
        facts = self._facts
        depth = min(self._measure_depth(i), 3)
        fact = facts[i]
        parent = self.parents[i]
        above = facts[parent].concept if parent >= 0 else "^"
        path = self.paths[i]
        return [
            f"d{depth}{len(self.children[-1]) == 1}",
            f"p{depth}{path}",
            f"t{depth}{fact.tag}",
            f"k{depth}{fact.kind}",
            f"c{depth}{fact.concept}",
            f"h{depth}{above}",
            f"a{above}{path}",
            f"s{depth}{fact.shape}{fact.kind}",
        ]

    def _measure_depth(self, i: int) -> int:
        """Return the number of governors above a token."""
        depth = 0
        while self.parents[i] >= 0:
            i = self.parents[i]
            depth += 1
        return depth


class _Facts(NamedTuple):
    """Properties of a token with a fragment that features use."""

    concept: str
    kind: str
    tag: str
    roles: str
    lemma: str
    marks: str
    shape: str


def _collect_facts(
    skeleton: Skeleton, fragments: Mapping[int, Fragment], lexicon: Lexicon
) -> dict[int, _Facts]:
    """Collect the facts of all tokens that have a fragment."""
    facts: dict[int, _Facts] = {}
    words, labels, tokens = skeleton.words, skeleton.labels, skeleton.tokens
    for i, fragment in fragments.items():
        concept = fragment.concept
        marks = "|".join(
            words[c]
            for c in skeleton.children[i]
            if (labels[c] in ("mark", "aux") and words[c] in _MARKS)
            or tokens[c].tag in _WH_TAGS
        )
        facts[i] = _Facts(
            concept=concept,
            kind=_name_kind(fragment),
            tag=tokens[i].tag,
            roles=lexicon.frames.get(concept, "-"),
            lemma=tokens[i].lemma.lower(),
            marks=marks,
            shape=skeleton.describe_arguments(i),
        )
    return facts


def _name_kind(fragment: Fragment) -> str:
    concept = fragment.concept
    kind = "f" if is_frame(concept) else concept if concept in ("and", "or") else "n"
    return kind + "+" if len(fragment.concepts) > 1 else kind


def join_fragments(
    skeleton: Skeleton,
    fragments: Mapping[int, Fragment],
    reduced: Reduced,
    relations: Classifier,
    lexicon: Lexicon,
) -> list[LinkedTokens]:
    """Return the edges between the fragments of a sentence."""
    pairs = reduced.list_pairs(relations.features)
    scores = relations.score([reduced.describe_pair(pair) for pair in pairs])
    roles = relations.labels
    _restrain_scores(scores, pairs, roles, fragments, lexicon)
    _fix_members(scores, pairs, roles, fragments, skeleton)
    _fix_conditions(scores, pairs, roles, skeleton)
    edges = _choose_edges(pairs, scores, roles, fragments) if pairs else []
    return _lift_existence(edges, skeleton, fragments)


def _choose_edges(
    pairs: Sequence[Pair],
    scores: FloatArray,
    labels: tuple[str, ...],
    fragments: Mapping[int, Fragment],
) -> list[LinkedTokens]:
    """Choose edges by the log-probabilities of the labels of pairs."""
    # The margin of a pair is how much likelier its best edge is than none.
    none = labels.index(NO_EDGE)
    margins = -scores[:, none]
    scores = scores.copy()
    scores[:, none] = -np.inf
    best = scores.argmax(axis=1)
    margins += scores[np.arange(len(pairs)), best]
    order = np.argsort(-margins, kind="stable").tolist()
    joints = _Joints(fragments)
    postponed: list[int] = []
    for n in order:
        pair = pairs[n]
        # Unlikely edges may still be needed to connect parts; a constant has one edge,
        # which must not be spent on a part that is connected already.
        if margins[n] < 0 or (joints.has_value(pair) and not joints.is_open(pair)):
            postponed.append(n)
        elif not joints.add(pair, labels[best[n]]):
            # The best role is filled already: the next ones may be free.
            ranked = np.argsort(-scores[n])[1:4]
            any(joints.add(pair, labels[k]) for k in ranked)
    for n in postponed:
        if joints.is_open(pairs[n]):
            ranked = np.argsort(-scores[n])[:4]
            if not any(joints.add(pairs[n], labels[k]) for k in ranked):
                # The graph has to be connected; ``mod`` claims least.
                joints.add(pairs[n], "mod")
    return joints.edges


class _Joints:
    """The edges chosen so far and the parts that they connect."""

    def __init__(self, fragments: Mapping[int, Fragment]) -> None:
        self.edges: list[LinkedTokens] = []
        self._values = {i for i, f in fragments.items() if f.concept in VALUES}
        self._closed: set[int] = set()
        self._filled: set[tuple[int, str]] = set()
        self._part = {i: i for i in fragments}

    def _find(self, i: int) -> int:
        while self._part[i] != i:
            i = self._part[i]
        return i

    def has_value(self, pair: Pair) -> bool:
        """Tell whether one of the two is a constant."""
        return pair.upper in self._values or pair.lower in self._values

    def is_open(self, pair: Pair) -> bool:
        """Tell whether an edge would connect separate parts."""
        if pair.upper in self._closed or pair.lower in self._closed:
            return False
        return self._find(pair.upper) != self._find(pair.lower)

    def add(self, pair: Pair, label: str) -> bool:
        """Add an edge unless its source is a constant or has the role already."""
        source, role, target = pair.orient(label)
        is_core = role.startswith(("ARG", "op"))
        if source in self._values or (is_core and (source, role) in self._filled):
            return False
        self.edges.append((source, role, target))
        self._filled.add((source, role))
        self._part[self._find(source)] = self._find(target)
        if target in self._values:
            self._closed.add(target)
        return True


def _restrain_scores(
    scores: FloatArray,
    pairs: Sequence[Pair],
    labels: tuple[str, ...],
    fragments: Mapping[int, Fragment],
    lexicon: Lexicon,
) -> None:
    """Lower the scores of roles that a frame lacks or a constant cannot fill."""
    roles = {i: _find_roles(fragment, lexicon) for i, fragment in fragments.items()}
    for n, pair in enumerate(pairs):
        scores[n] += _weigh_roles(labels, roles[pair.upper], roles[pair.lower])
        for i, sign in ((pair.upper, BACKWARD), (pair.lower, "")):
            concept = fragments[i].concept
            if concept in VALUES:
                scores[n] += _weigh_values(labels, concept, sign)


def _find_roles(fragment: Fragment, lexicon: Lexicon) -> str:
    concept = fragment.concepts[fragment.find_source("ARG0")]
    roles = lexicon.frames.get(concept)
    if roles is None:
        return _ALL_ROLES if is_frame(concept) else ""
    return roles


@lru_cache(maxsize=4096)
def _weigh_roles(labels: tuple[str, ...], upper: str, lower: str) -> FloatArray:
    weights = np.zeros(len(labels), dtype=np.float32)
    for k, label in enumerate(labels):
        if label.startswith("ARG"):
            roles = lower if label.endswith(BACKWARD) else upper
            # The digit of ARG0, ARG1, ...
            if label[3] not in roles:
                weights[k] = -_ROLE_PENALTY
    return weights


@lru_cache(maxsize=16)
def _weigh_values(labels: tuple[str, ...], concept: str, sign: str) -> FloatArray:
    allowed = {role + sign for role in _VALUE_ROLES[concept]} | {NO_EDGE}
    return np.array(
        [0.0 if label in allowed else _NEVER for label in labels], dtype=np.float32
    )


def _fix_conditions(
    scores: FloatArray,
    pairs: Sequence[Pair],
    labels: tuple[str, ...],
    skeleton: Skeleton,
) -> None:
    """Make sure that ``such that`` runs from noun to clause, and ``if`` is one."""
    for n, (upper, lower, kind, path, _) in enumerate(pairs):
        if kind != "01":
            continue
        if path == _CONDITION:
            role = "ARG0" + BACKWARD
        elif skeleton.labels[upper] == _CONDITION and path == "clause":
            role = "ARG1"
        elif path.endswith(":if") or (path == "advcl" and skeleton.is_condition(lower)):
            role = "condition"
        else:
            continue
        scores[n] = _NEVER
        scores[n, labels.index(role)] = 0.0


def _lift_existence(
    edges: Sequence[LinkedTokens],
    skeleton: Skeleton,
    fragments: Mapping[int, Fragment],
) -> list[LinkedTokens]:
    """Let what governs "there is a root" govern the being, not the root."""
    lifted = {
        skeleton.parents[i]: i
        for i, fragment in fragments.items()
        if fragment.concept == "exist-01" and skeleton.labels[i] in ("cop", "expl")
    }
    said = {(source, target) for source, role, target in edges if role == "ARG1"}
    return [
        (source, role, lifted[target])
        if (lifted.get(target), target) in said
        and source in skeleton.list_ancestors(target)[1:]
        else (source, role, target)
        for source, role, target in edges
    ]


def _fix_members(
    scores: FloatArray,
    pairs: Sequence[Pair],
    labels: tuple[str, ...],
    fragments: Mapping[int, Fragment],
    skeleton: Skeleton,
) -> None:
    """Make sure that the members of a coordination get their numbered role."""
    for n, pair in enumerate(pairs):
        label = skeleton.labels[pair.lower]
        if pair.kind != "01" or pair.path != label or not label.startswith("op"):
            continue
        prefix = _MEMBER_ROLES.get(fragments[pair.upper].concept)
        if prefix is not None and prefix + label[2:] in labels:
            scores[n] = _NEVER
            scores[n, labels.index(prefix + label[2:])] = 0.0
