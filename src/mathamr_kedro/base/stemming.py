"""Stems of English words by Porter's algorithm.

M.F. Porter, *An algorithm for suffix stripping*, Program 14(3), 1980, with the changes
that NLTK made to it (words of two letters stay, ``dying`` is ``die``, ``enjoy`` keeps
its ``y``). Its stems are identical to those of NLTK, which takes seconds to load.

A word is [C](VC){m}[V], where C is a sequence of consonants and V one of vowels; m is
its measure. Each step strips or replaces at most one suffix, if what comes before
the suffix is long enough::

    generalizations   1a generalization   2 generalize   3 general   4 gener
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

_IRREGULAR = {
    "sky": "sky", "skies": "sky", "dying": "die", "lying": "lie", "tying": "tie",
    "news": "news", "innings": "inning", "inning": "inning", "outings": "outing",
    "outing": "outing", "cannings": "canning", "canning": "canning", "howe": "howe",
    "proceed": "proceed", "exceed": "exceed", "succeed": "succeed",
}  # fmt: skip
_STEP_2 = (
    ("ational", "ate"), ("tional", "tion"), ("enci", "ence"), ("anci", "ance"),
    ("izer", "ize"), ("bli", "ble"), ("alli", "al"), ("entli", "ent"), ("eli", "e"),
    ("ousli", "ous"), ("ization", "ize"), ("ation", "ate"), ("ator", "ate"),
    ("alism", "al"), ("iveness", "ive"), ("fulness", "ful"), ("ousness", "ous"),
    ("aliti", "al"), ("iviti", "ive"), ("biliti", "ble"), ("fulli", "ful"),
)  # fmt: skip
_STEP_3 = (
    ("icate", "ic"), ("ative", ""), ("alize", "al"), ("iciti", "ic"), ("ical", "ic"),
    ("ful", ""), ("ness", ""),
)  # fmt: skip
_STEP_4 = (
    "al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent",
    "ion", "ou", "ism", "ate", "iti", "ous", "ive", "ize",
)  # fmt: skip
_MEASURED = re.compile("v+c+")


@lru_cache(maxsize=100_000)
def stem(word: str) -> str:
    """Return the stem of a word, in lower case.

    >>> [stem(w) for w in ("Functions", "continuity", "solved", "dying", "is")]
    ['function', 'continu', 'solv', 'die', 'is']
    """
    lower = word.lower()
    if lower in _IRREGULAR:
        return _IRREGULAR[lower]
    if len(word) <= 2:
        return lower
    found = _strip_verb_ending(_strip_plural(lower))
    if found.endswith("y") and len(found) > 2 and _sound(found)[-2] == "c":
        found = found[:-1] + "i"
    return _strip_e(_strip_suffix(_replace(_merge_suffixes(found), _STEP_3)))


def _sound(word: str) -> str:
    """Return ``c`` and ``v`` for consonants and vowels; ``y`` after one is a vowel.

    >>> _sound("syzygy")
    'cvcvcv'
    """
    kinds: list[str] = []
    for letter in word:
        is_vowel = letter in "aeiou" or (letter == "y" and kinds[-1:] == ["c"])
        kinds.append("v" if is_vowel else "c")
    return "".join(kinds)


def _measure(word: str) -> int:
    """Return m.

    >>> [_measure(w) for w in ("tree", "trouble", "oaten")]
    [0, 1, 2]
    """
    return len(_MEASURED.findall(_sound(word)))


def _ends_short(word: str) -> bool:
    """Tell whether a word ends as ``hop`` or ``at`` do, so that an e belongs to it."""
    kinds = _sound(word)
    return kinds == "vc" or (kinds.endswith("cvc") and word[-1] not in "wxy")


def _replace(word: str, rules: Iterable[tuple[str, str]]) -> str:
    """Apply the first rule whose suffix fits, if a syllable comes before it."""
    for suffix, replacement in rules:
        if word.endswith(suffix):
            before = word[: len(word) - len(suffix)]
            return before + replacement if _measure(before) > 0 else word
    return word


def _strip_plural(word: str) -> str:
    """Step 1a."""
    if word.endswith("ies") and len(word) == 4:
        return word[:-1]
    if word.endswith(("sses", "ies")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


def _strip_verb_ending(word: str) -> str:
    """Step 1b."""
    if word.endswith("ied"):
        return word[:-1] if len(word) == 4 else word[:-2]
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    for suffix in ("ed", "ing"):
        before = word[: len(word) - len(suffix)]
        if word.endswith(suffix) and "v" in _sound(before):
            return _restore(before)
    return word


def _restore(word: str) -> str:
    """Restore a word from what came before -ed or -ing."""
    if word.endswith(("at", "bl", "iz")):
        return word + "e"
    if len(word) > 1 and word[-1] == word[-2] and _sound(word)[-1] == "c":
        return word if word[-1] in "lsz" else word[:-1]
    return word + "e" if _measure(word) == 1 and _ends_short(word) else word


def _merge_suffixes(word: str) -> str:
    """Step 2."""
    if word.endswith("alli") and _measure(word[:-4]) > 0:
        return _merge_suffixes(word[:-2])
    found = _replace(word, _STEP_2)
    if found == word and word.endswith("logi") and _measure(word[:-3]) > 0:
        return word[:-1]
    return found


def _strip_suffix(word: str) -> str:
    """Step 4."""
    for suffix in _STEP_4:
        if word.endswith(suffix):
            before = word[: len(word) - len(suffix)]
            fits = suffix != "ion" or before.endswith(("s", "t"))
            return before if fits and _measure(before) > 1 else word
    return word


def _strip_e(word: str) -> str:
    """Step 5."""
    if word.endswith("e"):
        measure = _measure(word[:-1])
        if measure > 1 or (measure == 1 and not _ends_short(word[:-1])):
            word = word[:-1]
    return word[:-1] if word.endswith("ll") and _measure(word[:-1]) > 1 else word
