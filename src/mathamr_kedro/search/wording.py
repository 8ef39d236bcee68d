"""Whether the index knows the words of a query: typos, unknown words, its language.

::

    Caucy-Schwarz            did you mean: cauchy-Schwarz
    best pizza in Naples     nothing in the index has the words: pizza, naples
    gibt es unendlich viele  this seems to be German; the index is in English
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple, TypeAlias

from mathamr_kedro.text import pair_terms

CountWord: TypeAlias = Callable[[str], int]
"""How many posts of the index have a word."""

_STOP_WORDS: Mapping[str, frozenset[str]] = {
    language: frozenset(words.split())
    for language, words in {
        "English": "the of and to is that it for on with are this as by be from or an "
        "which what how why when there not can if do does we a in you have has was",
        "German": "der die das und ist ein eine einer nicht mit von zu den dem des im "
        "für auf wie warum wann gibt es dass sich man wenn oder auch sind bei nach",
        "French": "le la les des et est un une que pour dans pas sur avec par au aux "
        "il elle qui ce cette sont comment pourquoi du ou si ne se plus tout de",
        "Spanish": "el la los las y es un una que de del para no con por se en al lo "
        "como cuando porque si su sus más hay qué cómo son o todo",
        "Italian": "il lo la gli le e è un una che di del della per non con si in al "
        "come quando perché se sono più c'è ogni dei delle nel o anche quale",
    }.items()
}
_LEAST_SHARE = 0.25
"""Of a query's words that are stop words of another language than the index's."""
_LEAST_LETTERS = 5
"""Of a word that may be misspelt: shorter ones are near to too many others."""
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


class Wording(NamedTuple):
    """What was found out about the words of a query."""

    warnings: tuple[str, ...] = ()
    did_you_mean: str | None = None
    """The query with its typos corrected."""


def check_wording(typed: str, words: str, count: CountWord) -> Wording:
    """Compare the words of a query with those of the index.

    Args:
        typed: as it was typed.
        words: the same without formulas.
        count: knows the index.
    """
    found = dict.fromkeys(word for _, word in pair_terms(words, ()) if word.isalpha())
    language = _name_language(list(found), count)
    if language:
        return Wording((language,))
    small = frozenset().union(*_STOP_WORDS.values())  # a short corpus may lack "that"
    asked = [word for word in found if len(word) > 1 and word not in small]
    unknown = [word for word in asked if not count(word) and not count(f"{word}'s")]
    corrected = typed
    for word in list(unknown):
        if best := _correct(word, count):
            corrected = re.sub(rf"\b{word}\b", best, corrected, flags=re.IGNORECASE)
            unknown.remove(word)
    told: tuple[str, ...] = ()
    if unknown:
        noun = "words" if len(unknown) > 1 else "word"
        told = (f"nothing in the index has the {noun}: {', '.join(unknown)}",)
    return Wording(told, corrected if corrected != typed else None)


def _name_language(words: list[str], count: CountWord) -> str:
    """Return a sentence if the language is not that of the index; else nothing."""
    if len(words) < 3:
        return ""

    def share(language: str) -> float:
        return sum(word in _STOP_WORDS[language] for word in words) / len(words)

    def frequency(language: str) -> int:
        return sum(map(count, sorted(_STOP_WORDS[language])))

    asked = max(_STOP_WORDS, key=share)
    indexed = max(_STOP_WORDS, key=frequency)
    if share(asked) < _LEAST_SHARE or share(asked) <= share(indexed):
        return ""
    return f"this seems to be {asked}; the index is in {indexed}"


def _correct(word: str, count: CountWord) -> str:
    """Return the most frequent word of the index that is one slip away; else nothing.

    Few slips are made in the first letter.
    """
    if len(word) < _LEAST_LETTERS:
        return ""
    near = {other: count(other) for other in sorted({*_list_slips(word)})}
    known = [other for other in near if near[other]]
    return max(known, key=lambda o: (o[0] == word[0], near[o]), default="")


def _list_slips(word: str) -> Iterator[str]:
    """Yield the word with a letter more, less, changed, or two of them swapped."""
    for i in range(len(word) + 1):
        head, tail = word[:i], word[i:]
        yield from (head + letter + tail for letter in _LETTERS)
        if tail:
            yield head + tail[1:]
            yield from (head + letter + tail[1:] for letter in _LETTERS)
        if len(tail) > 1:
            yield head + tail[1] + tail[0] + tail[2:]
