"""What the dependency parser reads in place of a sentence that it would misjudge.

It was trained on news and conversation. Two things are changed before it reads a
sentence, and undone in the tree.

A formula that only names what the noun before it says is hidden, since ``the series
FORMULA_0 converges`` looks like a compound of nouns:

```
read by a person     Show that the series FORMULA_0 converges.
read by the parser   Show that the series           converges.
```

A common word replaces one that is rare in such texts, or has another part of
speech there:

```
read by a person     Compute FORMULA_0 and show that it is even.
read by the parser   Find    FORMULA_0 and show that it is odd.
```
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from mathamr_kedro.amr.graphs import PLACEHOLDER

_KINDS = (
    "algebra angle arc area automorphism axis ball base basis bound category chain "
    "circle class coefficient condition cone congruence conjecture constant "
    "coordinate cube curve cycle degree density derivative determinant diagram "
    "digit dimension disc disk distribution divisor domain edge eigenvalue "
    "eigenvector element ellipse endomorphism entry equality equation estimate "
    "event expansion exponent expression extension factor family fibration field "
    "form formula fraction function functional functor generator graph group "
    "homomorphism hyperplane hypothesis ideal identity index inequality integer "
    "integral integrand interval isomorphism kernel length limit line logarithm "
    "manifold map mapping matrix measure metric module modulus morphism "
    "neighborhood neighbourhood node norm notation number object operation operator "
    "order pair parabola parameter partition path permutation plane point pole "
    "polygon polynomial position power prime probability process product "
    "proposition quantity quotient radius range rank ratio rectangle recurrence "
    "region relation remainder residue result ring root rule scalar segment "
    "sequence series set side singularity solution space sphere square statement "
    "string subfield subgroup subset subspace substitution sum surface symbol "
    "system tensor term theorem topology torus transform transformation triangle "
    "triple tuple unit universe value variable variety vector vertex volume weight "
    "word zero"
).split()  # fmt: skip
_PLURALS = {
    "matrix": "matrices", "vertex": "vertices", "index": "indices", "axis": "axes",
    "basis": "bases", "series": "series", "hypothesis": "hypotheses",
    "radius": "radii", "modulus": "moduli", "torus": "tori",
}  # fmt: skip


def _make_plural(noun: str) -> str:
    if noun in _PLURALS:
        return _PLURALS[noun]
    if noun.endswith("y") and noun[-2] not in "aeiou":
        return noun[:-1] + "ies"
    return noun + ("es" if noun.endswith(("s", "x", "ch", "sh")) else "s")


_SINGULAR = frozenset(_KINDS)
_PLURAL = frozenset(map(_make_plural, _KINDS))
_FORMULA = PLACEHOLDER.pattern
_NAMED = re.compile(
    rf"\b([A-Za-z]+)( {_FORMULA}(?:(?: ,| and| or| , and)+ {_FORMULA})*)(?! [-’'])"
)
_POINTERS = frozenset("this that these those many which what whose".split())
_ARTICLES = frozenset("the a an every each all some any no".split())

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
"""A command only if a noun phrase follows for certain."""

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


def hide_appositions(text: str) -> tuple[str, dict[int, tuple[str, ...]]]:
    """Take formulas out of ``text`` right after a noun they name.

    Args:
        text: words, marks and placeholders separated by single blanks.

    Returns:
        The text without them, and the words to put back after the token that ends at
        an offset.

    >>> hide_appositions("the series FORMULA_0 converges")
    ('the series converges', {10: ('FORMULA_0',)})
    >>> hide_appositions("in this case FORMULA_0 converges")
    ('in this case FORMULA_0 converges', {})
    """
    pieces: list[str] = []
    hidden: dict[int, tuple[str, ...]] = {}
    length = position = 0
    for match in _NAMED.finditer(text):
        noun, formulas = match.group(1).lower(), match.group(2)
        if noun in _SINGULAR and not noun.endswith("s"):
            formulas = formulas.split()[0]
        elif noun not in _PLURAL:
            continue
        if _is_barred(noun, text[: match.start()]):
            continue
        end = match.end(1)
        pieces.append(text[position:end])
        length += end - position
        hidden[length] = tuple(formulas.split())
        position = end + 1 + len(formulas.strip())
    pieces.append(text[position:])
    return "".join(pieces), hidden


def _is_barred(noun: str, before: str) -> bool:
    """Tell whether the word is no noun here, or is named already.

    "Factor FORMULA_0", "in this case FORMULA_0", "how many solutions FORMULA_0"
    """
    words = before.lower().split()[-2:]
    if not words and noun in _COMMANDS:
        return True
    if words and words[-1] in _ARTICLES:
        return False
    return bool(_POINTERS.intersection(words))


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
