"""Common words that the dependency parser reads in place of words it misjudges.

```
read by a person     Compute FORMULA_0 and show that it is even.
read by the parser   Find    FORMULA_0 and show that it is odd.
```

News and talk, from which the parser was learned, hold no "Compute this", and "even"
there is an adverb. A stand-in takes the same place in a sentence; the word itself comes
back as soon as the tree is there.
"""

from __future__ import annotations

from collections.abc import Sequence

from mathamr_kedro.amr.graphs import PLACEHOLDER

_COMMANDS = {
    "apply": "take", "use": "take", "utilize": "take", "invoke": "take",
    "calculate": "find", "compute": "find", "differentiate": "find",
    "evaluate": "find", "expand": "find", "factor": "find", "integrate": "find",
    "invert": "find", "simplify": "find",
    "multiply": "divide", "partition": "divide",
    "plug": "put", "substitute": "put",
    "define": "take", "fix": "take", "set": "take",
}  # fmt: skip
_CLAIMS = frozenset(
    "conclude deduce justify notice observe prove show verify".split()
)  # fmt: skip
_CLAIM = "suppose"
"""The parser knows that a clause without "that" can follow it."""

_NOUNS_TOO = frozenset("factor fix partition plug set substitute".split())
"""A command only where a noun phrase follows for certain."""

_DETERMINERS = frozenset(
    "a all an any both each every its the these this your".split()
)  # fmt: skip
_NO_CLAIM = frozenset(
    "and by how if it me or that this us using what whether why your".split()
)  # fmt: skip
_OPENERS = frozenset({"then", "please", "first", "now", ":", ","})
_AFTER_PREDICATES = frozenset(
    "and but by for if iff in on or since then when whenever while".split()
)
_BE = frozenset("am are be been is was were".split())
_BEFORE_PREDICATES = _BE | frozenset("also always both either neither not".split())
_PREDICATES = {"even": "odd", "coprime": "equal"}
_VERBS = {
    "commutes": "exists", "converges": "exists", "diverges": "exists",
    "vanishes": "exists", "yields": "gives",
}  # fmt: skip
_KNOWN = frozenset({*_COMMANDS, *_CLAIMS, *_PREDICATES, *_VERBS})


def find_stand_ins(words: Sequence[str]) -> dict[int, str]:
    """Return the words to replace by position.

    >>> find_stand_ins("Compute FORMULA_0 .".split())
    {0: 'Find'}
    >>> find_stand_ins("Set theory is even cheap .".split())
    {}
    """
    lowered = [word.lower() for word in words]
    found: dict[int, str] = {}
    for i, word in enumerate(lowered):
        if word not in _KNOWN:
            continue
        before = lowered[i - 1] if i else ","
        after = lowered[i + 1] if i + 1 < len(lowered) else "."
        other = _choose(word, before, after)
        if other is not None:
            found[i] = other.capitalize() if words[i][0].isupper() else other
    return found


def _choose(word: str, before: str, after: str) -> str | None:
    is_formula_next = PLACEHOLDER.fullmatch(after.upper()) is not None
    if word in _PREDICATES:
        is_last = not after.isalpha() or after in _AFTER_PREDICATES
        is_adverb = word == "even" and not (before in _BEFORE_PREDICATES and is_last)
        return None if is_adverb else _PREDICATES[word]
    if word in _VERBS:
        return _VERBS[word] if PLACEHOLDER.fullmatch(before.upper()) else None
    if before not in _OPENERS:
        return None
    if word in _CLAIMS:
        is_claim = after not in _NO_CLAIM and (is_formula_next or after.isalpha())
        return _CLAIM if is_claim else None
    is_sure = is_formula_next or after in _DETERMINERS
    if is_sure or (word not in _NOUNS_TOO and after[0].isalpha() and after not in _BE):
        return _COMMANDS[word]
    return None


def is_command(word: str) -> bool:
    """Tell whether a word that opens a sentence before a formula is a command."""
    return word.lower() in _COMMANDS
