"""Choose the edges between fragments, so that the graph is connected.

Every likely edge is taken, best first, as long as a source keeps each core role once;
then the best of the others connect what is still separate. Re-entrancies need no rule
of their own: a node simply ends up with more than one likely edge.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

import numpy as np

from mathamr_kedro.amr.builtin.candidates import NEGATIVE, NUMBER, POLITE, VALUES
from mathamr_kedro.amr.builtin.fragments import Fragment
from mathamr_kedro.amr.builtin.linear import Classifier, FloatArray
from mathamr_kedro.amr.builtin.relations import BACKWARD, NO_EDGE, Pair, Reduced
from mathamr_kedro.amr.builtin.skeleton import Skeleton
from mathamr_kedro.amr.builtin.words import Lexicon, is_frame

LinkedTokens = tuple[int, str, int]
"""Source token, role, target token."""

_ROLE_PENALTY = 2.0
"""Taken from the log-probability of a core role that the frame does not list."""

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
        if margins[n] < 0 or (joints.has_value(pair) and not joints.is_open(pair)):
            postponed.append(n)
        elif not joints.add(pair, labels[best[n]]):
            ranked = np.argsort(-scores[n])[1:4]
            any(joints.add(pair, labels[k]) for k in ranked)
    for n in postponed:
        if joints.is_open(pairs[n]):
            ranked = np.argsort(-scores[n])[:4]
            if not any(joints.add(pairs[n], labels[k]) for k in ranked):
                joints.add(pairs[n], "mod")
    return joints.edges


class _Joints:
    """The edges chosen so far and what they join."""

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
        """Tell whether an edge would join what is separate."""
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
    """Lower the scores of roles a frame does not have or a constant cannot fill."""
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
