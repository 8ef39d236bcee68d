"""How well a token accounts for a concept or a constant of a gold graph."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from mathamr_kedro.amr.builtin.syntax import Token
from mathamr_kedro.amr.builtin.words import (
    MODALS,
    NEGATIONS,
    PRONOUNS,
    QUESTION_WORDS,
    Lexicon,
    find_adjective,
    read_number,
    read_ordinal,
    strip_sense,
)

Associations = Mapping[tuple[str, str], float]
"""(lemma, concept) to how strongly they go together, 0 to 1."""

_CLOSED = {
    "contrast-01": {"but", "however", "yet", "nevertheless"},
    "cause-01": set("because so therefore why since thus hence as such".split()),
    "have-condition-91": {"if", "unless"},
    "resemble-01": {"like"},
    "and": {"and", "&", "&amp;", ",", ";"},
    "or": {"or"},
    "have-degree-91": {"more", "most", "less", "least", "than", "as", "too", "enough"},
    "possible-01": {"able", "perhaps", "maybe", "possibly", "possible"},
    "recommend-01": {"should", "ought", "better"},
    "obligate-01": {"have", "must", "need"},
    "include-91": {"of", "among"},
    "have-concession-91": {"although", "though", "but", "yet"},
    "instead-of-91": {"instead"},
    "ever": {"never"},
    "person": {"people", "everyone", "everybody", "someone", "who"},
    "equal-01": {"equal", "be", "="},
    "be-located-at-91": {"be"},
    "exist-01": {"there", "be"},
    "exemplify-01": {"example", "e.g."},
    "truth-value": {"whether", "if"},
    "mean-01": {"i.e."},
}


def score_match(
    concept: str, token: Token, lexicon: Lexicon, associations: Associations
) -> float:
    """Return how well a token accounts for a concept, 0 for not at all."""
    return next(filter(None, _list_scores(concept, token, lexicon, associations)), 0.0)


def _list_scores(
    concept: str, token: Token, lexicon: Lexicon, associations: Associations
) -> Iterator[float]:
    """Yield the scores of the ways to match; the first that is not 0 counts."""
    base = strip_sense(concept)
    lower, lemma = token.form.lower(), token.lemma.lower()
    is_verb_frame = base != concept and token.pos == "VERB"
    yield 3.5 * (concept == token.form)
    yield (3.0 + 0.3 * is_verb_frame) * (base in (lemma, lower))
    yield 3.0 * (PRONOUNS.get(lower) == concept)
    yield 2.9 * (token.tag == "MD" and MODALS.get(lower) == concept)
    yield _score_closed_class(concept, lower)
    yield 2.7 * (token.pos == "ADV" and find_adjective(lower) == base)
    yield 2.6 * (base in lexicon.derived.get(lemma, ()))
    yield 2.6 * (base in lexicon.actors.get(lemma, ()))
    first, *others = base.split("-")
    yield 2.2 * (bool(others) and lemma == first)
    yield 1.9 * (lemma in others)
    associated = associations.get((lemma, concept), 0.0)
    yield (1.0 + associated) * (associated > 0)
    yield _score_prefix(base, lemma)


def _score_closed_class(concept: str, lower: str) -> float:
    if concept == "amr-unknown":
        return 2.5 * (lower in QUESTION_WORDS)
    if lower not in _CLOSED.get(concept, ()):
        return 0.0
    return 2.3 if concept != "and" or lower == "and" else 0.6


def _score_prefix(base: str, lemma: str) -> float:
    shared = 0
    for a, b in zip(base, lemma, strict=False):
        if a != b:
            break
        shared += 1
    if shared >= 4 and shared >= 0.6 * max(len(base), len(lemma)):
        return 1.0 + shared / 20
    for prefix in ("un", "in", "im", "ir", "non"):
        if lemma.startswith(prefix) and lemma[len(prefix) :].lstrip("-") == base:
            return 1.8
    return 0.0


def says_value(token: Token, role: str, value: str) -> bool:
    """Tell whether a token says a constant: a number, a negation, politeness."""
    lower = token.form.lower()
    if role == "polarity" and value == "-":
        return lower in NEGATIONS
    if role == "polite":
        return lower == "please"
    return value in (read_number(lower), read_ordinal(lower), token.form)
