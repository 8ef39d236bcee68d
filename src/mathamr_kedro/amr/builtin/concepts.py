"""Which fragment each token gives: candidates and the contexts that speak for them.

Labels are fragments in one-line form, ``""`` for nothing, or one of

- ``@formula``: a placeholder; ``@variable``: a letter that stands for a number;
- ``@name``: part of a name;
- ``@number``, ``@ordinal``: the number the token says;
- ``@-``, ``@+``: negative polarity, politeness; ``@-+ever``: that and a concept.

A candidate is scored by its *kind* (how it was found: lemma, frame, derived noun, ...)
and, where the corpora had the word, by the label itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from mathamr_kedro.amr.builtin.lexicon import Lexicon
from mathamr_kedro.amr.builtin.skeleton import Skeleton
from mathamr_kedro.amr.builtin.syntax import Token
from mathamr_kedro.amr.builtin.words import (
    MODALS,
    NEGATIONS,
    PRONOUNS,
    QUESTION_WORDS,
    TIME_UNITS,
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
"""Labels that become constants of other nodes, not nodes."""

Memory = Mapping[str, Mapping[str, float]]
"""Word (see :func:`make_key`) to its labels in the corpora, with weighted counts."""

_COARSE = {"VERB": "V", "AUX": "X", "NOUN": "N", "PROPN": "N", "ADJ": "A", "ADV": "R"}
_MAX_SENSES = 3
_NEGATIVE_PREFIXES = ("un", "in", "im", "ir", "non-", "non", "dis")
_CONJUNCTIONS = {"and": "and", "or": "or", "but": "contrast-01"}
_TELLING = frozenset({"prep", "prt", "agent", "mark", "advmod", "det", "aux"})


def make_key(token: Token) -> str:
    """Return lemma and coarse part of speech, the key of :data:`Memory`."""
    return f"{token.lemma.lower()}|{_COARSE.get(token.pos, 'O')}"


def find_candidates(
    skeleton: Skeleton, i: int, lexicon: Lexicon, remembered: Iterable[str]
) -> dict[str, str]:
    """Return the labels token ``i`` can have, with the kind of each.

    Args:
        skeleton: the sentence.
        i: position of the token.
        lexicon: frames and derivations.
        remembered: labels of the word in the corpora.
    """
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
            rest = lemma.removeprefix(prefix)
            if rest != lemma and len(rest) > 2:
                for concept in (*lexicon.find_frames(rest)[:1], rest):
                    found.setdefault(f"({concept}* :polarity -)", "prefix")


class Contexts(NamedTuple):
    """What surrounds a token, as names of features."""

    general: tuple[str, ...]
    """Speak for kinds."""
    exact: tuple[str, ...]
    """Speak for labels; each holds the lemma."""


def describe_context(skeleton: Skeleton, i: int) -> Contexts:
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
    clause = skeleton.find_clause(i) + ("?" if skeleton.is_asked else "")
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
    return Contexts(general, exact)


def describe_memory(
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


def list_features(
    token: Token,
    contexts: Contexts,
    candidates: Mapping[str, str],
    remembered: Mapping[str, float],
) -> list[list[str]]:
    """Return all features of each candidate, for learning."""
    return [
        [f"{context}\t{kind}" for context in contexts.general]
        + [f"{context}\t{label}" for context in contexts.exact]
        + describe_memory(token, label, kind, remembered)
        for label, kind in candidates.items()
    ]


class ConceptModel(NamedTuple):
    """Learned weights: of outcomes in contexts, and of remembered candidates."""

    outcomes: Mapping[str, Mapping[str, float]]
    memories: Mapping[str, float]

    def score(
        self,
        token: Token,
        contexts: Contexts,
        candidates: Mapping[str, str],
        remembered: Mapping[str, float],
    ) -> list[float]:
        """Return the score of each candidate."""
        get = self.memories.get
        scores = [
            sum([get(f, 0.0) for f in describe_memory(token, label, kind, remembered)])
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


def make_concept_model(weights: Mapping[str, float]) -> ConceptModel:
    """Arrange the weights of :func:`list_features` by context."""
    outcomes: dict[str, dict[str, float]] = {}
    memories: dict[str, float] = {}
    for name, weight in weights.items():
        context, tab, outcome = name.rpartition("\t")
        if tab:
            outcomes.setdefault(context, {})[outcome] = weight
        else:
            memories[name] = weight
    return ConceptModel(outcomes, memories)
