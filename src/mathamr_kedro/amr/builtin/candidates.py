"""Labels: which fragment a token can give.

Labels are fragments in one-line form, ``""`` for nothing, or one of

- ``@formula``: a placeholder; ``@variable``: a letter that stands for a number;
- ``@name``: part of a name;
- ``@number``, ``@ordinal``: the number the token says;
- ``@-``, ``@+``: negative polarity, politeness; ``@-+ever``: that and a concept.

The *kind* of a candidate says how it was found: lemma, frame, derived noun, ...
"""

from __future__ import annotations

from collections.abc import Iterable

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

_MAX_SENSES = 3
_NEGATIVE_PREFIXES = ("un", "in", "im", "ir", "non-", "non", "dis")
_CONJUNCTIONS = {"and": "and", "or": "or", "but": "contrast-01"}


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
            stem = lemma.removeprefix(prefix)
            if stem != lemma and len(stem) > 2:
                for concept in (*lexicon.find_frames(stem)[:1], stem):
                    found.setdefault(f"({concept}* :polarity -)", "prefix")
