"""Labels of tokens: candidate fragments, and the choice among them.

Labels are fragments in one-line form, ``""`` for nothing, or one of

- ``@formula``: a placeholder; ``@variable``: a letter that stands for a number;
- ``@name``: part of a name;
- ``@number``, ``@ordinal``: the number the token says;
- ``@-``, ``@+``: negative polarity, politeness; ``@-+ever``: that and a concept.

The *kind* of a candidate says how it was found: lemma, frame, derived noun, ... A
linear model chooses: a candidate is scored by its kind and, if the word occurs in the
corpora, by the label itself, each in the contexts of the token, and by its frequency in
the corpora.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from mathamr_kedro.amr.builtin.skeleton import Skeleton
from mathamr_kedro.amr.builtin.syntax import Token
from mathamr_kedro.amr.builtin.words import (
    MODALS,
    NEGATIONS,
    PRONOUNS,
    QUESTION_WORDS,
    TIME_UNITS,
    Lexicon,
    find_adjective,
    is_frame,
    is_variable,
    read_number,
    read_ordinal,
)
from mathamr_kedro.amr.graphs import PLACEHOLDER
from mathamr_kedro.amr.penman_io import format_symbol

NOTHING = ""
FORMULA = "@formula"
VARIABLE = "@variable"
NAME = "@name"
NUMBER = "@number"
ORDINAL = "@ordinal"
NEGATIVE = "@-"
POLITE = "@+"
VALUES = frozenset({NEGATIVE, POLITE, NUMBER})
"""Labels that become constants of other nodes instead of nodes."""

_MAX_SENSES = 3
_NEGATIVE_PREFIXES = ("un", "in", "im", "ir", "non-", "non", "dis")
_CONJUNCTIONS = {"and": "and", "or": "or", "but": "contrast-01"}
_NOTHING_BIAS = 1.0
"""Penalty for dropping a content word: a lost node also costs its edges."""

_CONTENT = frozenset({"NOUN", "VERB", "ADJ", "ADV", "PROPN"})
_NOUNS = frozenset({"NOUN", "PROPN"})
_QUANTIFIERS = frozenset({"all", "any", "each", "every", "some"})
_CLAUSES = frozenset({"relcl", "advcl", "ccomp", "acl", "pcomp", "csubj", "clause"})
_TELLING = frozenset({"prep", "prt", "agent", "mark", "advmod", "det", "aux"})


def find_candidates(
    skeleton: Skeleton, i: int, lexicon: Lexicon, remembered: Iterable[str]
) -> dict[str, str]:
    """Return the labels token ``i`` can have, with the kind of each."""
    token = skeleton.tokens[i]
    lower = skeleton.words[i]
    if PLACEHOLDER.fullmatch(token.form):
        return {FORMULA: "formula"}
    if lower in PRONOUNS and PRONOUNS[lower] != "it" and token.pos == "PRON":
        return {PRONOUNS[lower]: "pronoun"}
    found: dict[str, str] = {NOTHING: "none"}
    if skeleton.labels[i] == "cc" and token.pos in ("CCONJ", "PUNCT"):
        return found
    if token.pos not in ("PUNCT", "SPACE"):
        lemma = format_symbol(token.lemma.lower())
        _add_closed_classes(found, token, lower)
        _add_frames(found, skeleton, i, lemma, lexicon)
        _add_adjectives(found, token, lower, lexicon)
        _add_made_words(found, token, lemma, lexicon)
        found.setdefault(lemma, "lemma")
        if lower != token.form:
            found.setdefault(NAME, "name")
    for label in remembered:
        found.setdefault(label, "seen")
    return found


def _add_closed_classes(found: dict[str, str], token: Token, lower: str) -> None:
    if lower in PRONOUNS:
        found[PRONOUNS[lower]] = "pronoun"
    if token.tag == "MD" and lower in MODALS:
        found[MODALS[lower]] = "modal"
    if lower in NEGATIONS:
        found[NEGATIVE] = "negative"
    if lower in QUESTION_WORDS:
        found["amr-unknown"] = "unknown"
    if read_number(lower) is not None:
        found[NUMBER] = "number"
    if read_ordinal(lower) is not None:
        found[ORDINAL] = "ordinal"
    if lower in _CONJUNCTIONS:
        found[_CONJUNCTIONS[lower]] = "conjunction"
    if is_variable(token.form):
        found[VARIABLE] = "variable"


def _add_frames(
    found: dict[str, str], skeleton: Skeleton, i: int, lemma: str, lexicon: Lexicon
) -> None:
    for child in skeleton.children[i]:
        if skeleton.labels[child] == "prt":
            frames = lexicon.find_frames(lemma, skeleton.words[child])
            _add_senses(found, frames, "particle")
    senses = lexicon.find_frames(lemma)
    _add_senses(found, senses, "frame")
    if skeleton.tokens[i].pos == "VERB" and not senses:
        found.setdefault(f"{lemma}-01", "made-frame")
    for verb in lexicon.derived.get(lemma, ()):
        _add_senses(found, lexicon.find_frames(verb), "derived")


def _add_senses(found: dict[str, str], senses: Iterable[str], kind: str) -> None:
    for n, frame in enumerate(senses):
        if n == _MAX_SENSES:
            break
        found.setdefault(frame, f"{kind}{n}")


def _add_adjectives(
    found: dict[str, str], token: Token, lower: str, lexicon: Lexicon
) -> None:
    if token.pos != "ADV" or (adjective := find_adjective(lower)) == lower:
        return
    found.setdefault(format_symbol(adjective), "adjective")
    _add_senses(found, lexicon.find_frames(adjective), "adjective-frame")


def _add_made_words(
    found: dict[str, str], token: Token, lemma: str, lexicon: Lexicon
) -> None:
    """Add actors (teacher), units (year), degrees (bigger) and negations (unequal)."""
    for verb in lexicon.actors.get(lemma, ()):
        for frame in lexicon.find_frames(verb)[:1]:
            found.setdefault(f"(person :ARG0-of ({frame}*))", "actor")
    if lemma in TIME_UNITS:
        found.setdefault(f"(temporal-quantity :unit ({lemma}*))", "unit")
    if token.tag in ("JJR", "JJS", "RBR", "RBS"):
        degree = "more" if token.tag.endswith("R") else "most"
        for concept in (*lexicon.find_frames(lemma)[:1], lemma):
            label = f"(have-degree-91 :ARG2 ({concept}*) :ARG3 ({degree}))"
            found.setdefault(label, "degree")
    if token.pos in ("ADJ", "ADV", "NOUN"):
        for prefix in _NEGATIVE_PREFIXES:
            stem = lemma.removeprefix(prefix)
            if stem != lemma and len(stem) > 2:
                for concept in (*lexicon.find_frames(stem)[:1], stem):
                    found.setdefault(f"({concept}* :polarity -)", "prefix")


@dataclass(frozen=True)
class ConceptModel:
    """The learned model of words and their labels."""

    lexicon: Lexicon
    memory: Mapping[str, Mapping[str, float]]
    """Word (:attr:`Token.key`) to its labels in the corpora, with weighted counts."""
    outcomes: Mapping[str, Mapping[str, float]]
    """Context to the weights of kinds and labels."""
    memories: Mapping[str, float]
    """Weights of features of a candidate's frequency."""

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
        """Frequent words that practically never give a fragment."""
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
            # Nothing to choose: no context has to be described, which takes the time.
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
        """Return the score of each candidate: the sum of its features' weights."""
        contexts = _describe_context(skeleton, i)
        token = skeleton.tokens[i]
        # Weights are grouped by context: a context that was never learned costs one
        # look-up for all candidates.
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
    """The context of a token, as names of features."""

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
