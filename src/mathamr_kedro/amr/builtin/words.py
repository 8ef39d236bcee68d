"""Linguistic knowledge of words: closed classes, forms, frames."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field

PRONOUNS = {
    "i": "i", "me": "i", "my": "i", "mine": "i", "myself": "i",
    "you": "you", "your": "you", "yours": "you", "yourself": "you",
    "yourselves": "you", "u": "you",
    "he": "he", "him": "he", "his": "he", "himself": "he",
    "she": "she", "her": "she", "hers": "she", "herself": "she",
    "it": "it", "its": "it", "itself": "it",
    "we": "we", "us": "we", "our": "we", "ours": "we", "ourselves": "we",
    "they": "they", "them": "they", "their": "they", "theirs": "they",
    "themselves": "they",
}  # fmt: skip
"""Surface of a personal pronoun to its concept."""

MODALS = {
    "can": "possible-01", "could": "possible-01", "ca": "possible-01",
    "may": "possible-01", "might": "possible-01", "must": "obligate-01",
    "should": "recommend-01", "ought": "recommend-01", "cannot": "possible-01",
}  # fmt: skip
"""Modal verbs that become a concept above their verb."""

QUESTION_WORDS = frozenset(
    "what who whom which how why where when whose whatever".split()
)  # fmt: skip
NEGATIONS = frozenset(
    "not n't no never without neither nor none n’t nobody nothing non cannot".split()
)  # fmt: skip

_UNITS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen "
    "fourteen fifteen sixteen seventeen eighteen nineteen"
).split()  # fmt: skip
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
NUMBERS = {
    **{word: n for n, word in enumerate(_UNITS)},
    **{word: 10 * n for n, word in enumerate(_TENS, start=2)},
    "dozen": 12, "hundred": 100, "thousand": 1000, "million": 10**6,
    "billion": 10**9,
}  # fmt: skip
_ORDINALS = (
    "zeroth first second third fourth fifth sixth seventh eighth ninth tenth eleventh "
    "twelfth thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth "
    "nineteenth twentieth"
).split()  # fmt: skip
ORDINALS = {word: n for n, word in enumerate(_ORDINALS)}

TIME_UNITS = frozenset(
    "second minute hour day week month year decade century millennium moment".split()
)  # fmt: skip

_SENSE = re.compile(r"-\d\d\d?$")
_DIGITS = re.compile(r"[+-]?\d[\d,]*(?:\.\d+)?")
_NUMBERED = re.compile(r"(\d+)(?:st|nd|rd|th)")


def strip_sense(concept: str) -> str:
    """Return a concept without its frame number.

    >>> strip_sense("come-across-21"), strip_sense("set")
    ('come-across', 'set')
    """
    return _SENSE.sub("", concept)


def is_frame(concept: str) -> bool:
    """Tell whether a concept is a PropBank frame, or one of AMR's own (``-91``)."""
    return _SENSE.search(concept) is not None


def is_variable(form: str) -> bool:
    """Tell whether a word is a single letter that is used as a variable.

    >>> [is_variable(form) for form in ("x", "N", "a", "I", "xy")]
    [True, True, False, False, False]
    """
    return len(form) == 1 and form.isalpha() and form not in "aAiI"


def find_adjective(adverb: str) -> str:
    """Return the adjective an adverb is derived from, or the word itself.

    >>> [find_adjective(w) for w in ("easily", "possibly", "basically", "clearly")]
    ['easy', 'possible', 'basic', 'clear']
    """
    if not adverb.endswith("ly") or len(adverb) < 5:
        return adverb
    if adverb.endswith("ically"):
        return adverb[:-4]
    if adverb.endswith("ily"):
        return adverb[:-3] + "y"
    if adverb.endswith(("ably", "ibly")):
        return adverb[:-1] + "e"
    return adverb[:-2]


def read_number(word: str) -> str | None:
    """Return the digits a number word stands for.

    >>> [read_number(w) for w in ("Three", "1,000", "2.50", "map", "hundred")]
    ['3', '1000', '2.50', None, '100']
    """
    lowered = word.lower()
    if lowered in NUMBERS:
        return str(NUMBERS[lowered])
    if _DIGITS.fullmatch(word):
        return word.replace(",", "").lstrip("+")
    return None


def read_ordinal(word: str) -> str | None:
    """Return the number of an ordinal.

    >>> [read_ordinal(w) for w in ("second", "21st", "map")]
    ['2', '21', None]
    """
    lowered = word.lower()
    if lowered in ORDINALS:
        return str(ORDINALS[lowered])
    match = _NUMBERED.fullmatch(lowered)
    return match.group(1) if match else None


@dataclass(frozen=True)
class Lexicon:
    """Frames and derivations of predicates.

    ``frames`` maps a frame to the digits of its core roles: ``{"prove-01": "012"}``.
    ``derived`` maps a noun to the verbs it is derived from, ``actors`` a noun to the
    verb whose ARG0 it is.
    """

    frames: Mapping[str, str]
    derived: Mapping[str, tuple[str, ...]]
    actors: Mapping[str, tuple[str, ...]]
    senses: Mapping[str, tuple[str, ...]] = field(init=False)
    """Lemma, or lemma and particle, to its frames in order of number."""

    def __post_init__(self) -> None:
        senses: dict[str, list[str]] = defaultdict(list)
        for frame in sorted(self.frames):
            senses[strip_sense(frame)].append(frame)
        object.__setattr__(
            self, "senses", {lemma: tuple(found) for lemma, found in senses.items()}
        )

    def find_frames(self, lemma: str, particle: str = "") -> tuple[str, ...]:
        """Return the frames of a verb, or of a verb with its particle."""
        return self.senses.get(f"{lemma}-{particle}" if particle else lemma, ())
