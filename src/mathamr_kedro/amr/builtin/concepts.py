"""Choose the label of each token: a linear model over its candidates.

A candidate is scored by its kind and, if the corpora had the word, by the label
itself, each in the contexts of the token, and by how the corpora remember it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from mathamr_kedro.amr.builtin.candidates import NOTHING, VARIABLE, find_candidates
from mathamr_kedro.amr.builtin.skeleton import Skeleton
from mathamr_kedro.amr.builtin.syntax import Token
from mathamr_kedro.amr.builtin.words import Lexicon, is_frame, is_variable
from mathamr_kedro.amr.graphs import PLACEHOLDER

_NOTHING_BIAS = 1.0
"""Taken from the score of dropping a content word: a lost node costs its edges too."""

_CONTENT = frozenset({"NOUN", "VERB", "ADJ", "ADV", "PROPN"})
_NOUNS = frozenset({"NOUN", "PROPN"})
_QUANTIFIERS = frozenset({"all", "any", "each", "every", "some"})
_CLAUSES = frozenset({"relcl", "advcl", "ccomp", "acl", "pcomp", "csubj", "clause"})
_TELLING = frozenset({"prep", "prt", "agent", "mark", "advmod", "det", "aux"})


@dataclass(frozen=True)
class ConceptModel:
    """What was learned about words and their labels."""

    lexicon: Lexicon
    memory: Mapping[str, Mapping[str, float]]
    """Word (:attr:`Token.key`) to its labels in the corpora, with weighted counts."""
    outcomes: Mapping[str, Mapping[str, float]]
    """Context to the weights of kinds and labels."""
    memories: Mapping[str, float]
    """Weights of how a candidate is remembered."""

    @classmethod
    def from_weights(
        cls,
        lexicon: Lexicon,
        memory: Mapping[str, Mapping[str, float]],
        weights: Mapping[str, float],
    ) -> ConceptModel:
        """Arrange the weights of :func:`list_features` by context."""
        outcomes: dict[str, dict[str, float]] = {}
        memories: dict[str, float] = {}
        for name, weight in weights.items():
            context, tab, outcome = name.rpartition("\t")
            if tab:
                outcomes.setdefault(context, {})[outcome] = weight
            else:
                memories[name] = weight
        return cls(lexicon, memory, outcomes, memories)

    @cached_property
    def silent(self) -> frozenset[str]:
        """Frequent words that practically never give anything."""
        return frozenset(
            key
            for key, labels in self.memory.items()
            if labels.get(NOTHING, 0.0) > max(30.0, 0.98 * sum(labels.values()))
        )

    def label_tokens(self, skeleton: Skeleton) -> list[str]:
        """Choose the best label of each token."""
        labels: list[str] = []
        for i, token in enumerate(skeleton.tokens):
            key = token.key
            if key in self.silent or _is_consequence_mark(skeleton, i):
                labels.append(NOTHING)
                continue
            if token.pos in _NOUNS and is_variable(token.form) and token.form.isupper():
                labels.append(VARIABLE)  # "Let R be a ring"
                continue
            if _quantifies_formula(skeleton, i):
                labels.append(skeleton.words[i])  # no rate, as in "every day"
                continue
            remembered = self.memory.get(key, {})
            candidates = find_candidates(skeleton, i, self.lexicon, remembered)
            if len(candidates) == 1:
                labels.append(next(iter(candidates)))
                continue
            scores = self._score(skeleton, i, candidates, remembered)
            if token.pos in _CONTENT:
                scores[0] -= _NOTHING_BIAS  # NOTHING is always the first candidate
            labels.append(max(zip(scores, candidates, strict=True))[1])
        return labels

    def _score(
        self,
        skeleton: Skeleton,
        i: int,
        candidates: Mapping[str, str],
        remembered: Mapping[str, float],
    ) -> list[float]:
        """Return the score of each candidate: the weights of its features, summed."""
        contexts = _describe_context(skeleton, i)
        token = skeleton.tokens[i]
        get = self.memories.get
        scores = [
            sum([get(f, 0.0) for f in _describe_memory(token, label, kind, remembered)])
            for label, kind in candidates.items()
        ]
        for names, keys in (
            (contexts.general, list(candidates.values())),
            (contexts.exact, list(candidates)),
        ):
            for name in names:
                outcomes = self.outcomes.get(name)
                if outcomes is not None:
                    for n, key in enumerate(keys):
                        if key in outcomes:
                            scores[n] += outcomes[key]
        return scores


def list_features(
    skeleton: Skeleton,
    i: int,
    candidates: Mapping[str, str],
    remembered: Mapping[str, float],
) -> list[list[str]]:
    """Return all features of each candidate of token ``i``, for learning."""
    contexts = _describe_context(skeleton, i)
    token = skeleton.tokens[i]
    return [
        [f"{context}\t{kind}" for context in contexts.general]
        + [f"{context}\t{label}" for context in contexts.exact]
        + _describe_memory(token, label, kind, remembered)
        for label, kind in candidates.items()
    ]


def _quantifies_formula(skeleton: Skeleton, i: int) -> bool:
    token = skeleton.tokens[i]
    if token.dep != "det" or skeleton.words[i] not in _QUANTIFIERS:
        return False
    return PLACEHOLDER.fullmatch(skeleton.tokens[token.head].form) is not None


def _is_consequence_mark(skeleton: Skeleton, i: int) -> bool:
    """Tell whether a token is the ``then`` of ``if ... then``."""
    parent = skeleton.parents[i]
    return (
        skeleton.words[i] == "then"
        and parent >= 0
        and any(
            skeleton.labels[c] == "advcl" and c < i and skeleton.is_condition(c)
            for c in skeleton.children[parent]
        )
    )


class _Contexts(NamedTuple):
    """What surrounds a token, as names of features."""

    general: tuple[str, ...]
    """Speak for kinds."""
    exact: tuple[str, ...]
    """Speak for labels; each holds the lemma."""


def _describe_context(skeleton: Skeleton, i: int) -> _Contexts:
    """Return the contexts of token ``i``."""
    token, tokens, words = skeleton.tokens[i], skeleton.tokens, skeleton.words
    lemma = token.lemma.lower()
    label = skeleton.labels[i]
    parent = skeleton.parents[i]
    above = tokens[parent].lemma.lower() if parent >= 0 else "^"
    above_tag = tokens[parent].tag if parent >= 0 else ""
    before = words[i - 1] if i else "^"
    after = words[i + 1] if i + 1 < len(words) else "$"
    shape = skeleton.describe_arguments(i)
    clause = _find_clause(skeleton, i) + ("?" if skeleton.is_asked else "")
    general = (
        f"t{token.tag}",
        f"d{token.pos}{label}",
        f"l{lemma}",
        f"b{before}",
        f"a{after}",
        f"h{above}",
        f"s{token.tag}{shape}",
        f"g{above_tag}{label}",
        f"e{lemma[-3:]}{token.pos}",
        f"c{token.tag}{clause}",
    )
    exact = (
        f"L{lemma}",
        f"D{lemma}|{label}",
        f"T{lemma}|{token.tag}",
        f"B{lemma}|{before}",
        f"A{lemma}|{after}",
        f"S{lemma}|{shape}",
        f"H{lemma}|{above}",
        f"Q{lemma}|{clause}",
        *(
            f"C{lemma}|{words[c]}"
            for c in skeleton.children[i]
            if skeleton.labels[c] in _TELLING
        ),
    )
    return _Contexts(general, exact)


def _find_clause(skeleton: Skeleton, i: int) -> str:
    """Return the label of the nearest subordinate clause around a token."""
    while i >= 0:
        if skeleton.labels[i] in _CLAUSES:
            return skeleton.labels[i]
        i = skeleton.parents[i]
    return "main"


def _describe_memory(
    token: Token, label: str, kind: str, remembered: Mapping[str, float]
) -> list[str]:
    """Return features of one candidate: how the corpora remember it."""
    share = _name_share(remembered.get(label, 0.0), sum(remembered.values()))
    return [
        f"{kind}|{share}",
        f"{kind}|{token.pos}|{share}",
        f"{kind}|F{is_frame(label)}{token.pos}",
        f"{label}|C",
    ]


def _name_share(count: float, total: float) -> str:
    """Name the size of a word's memory and the share of a label in it."""
    if total < 0.5:
        return "new"
    size = "1" if total < 1.5 else "3" if total < 4 else "9" if total < 10 else "M"
    return f"{size}{int(4.999 * count / total) if count > 0.25 else -1}"
