"""Formulas that only name what a noun before them says are hidden from the parser.

```
read by a person     Show that the series FORMULA_0 converges.
read by the parser   Show that the series           converges.
```

Dependency parsers take ``the series FORMULA_0 converges`` for a pile of nouns. Without
the formula they read plain English; the formula is then put back below its noun.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from mathamr_kedro.amr.builtin.stand_ins import is_command
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


class Hidden(NamedTuple):
    """Tokens to put back after the token that ends at ``offset``."""

    offset: int
    words: tuple[str, ...]


def hide_appositions(text: str) -> tuple[str, list[Hidden]]:
    """Take formulas out of ``text`` that stand right after a noun they name.

    Args:
        text: words and marks apart from placeholders by single blanks.

    >>> hide_appositions("the series FORMULA_0 converges")
    ('the series converges', [Hidden(offset=10, words=('FORMULA_0',))])
    >>> hide_appositions("in this case FORMULA_0 converges")
    ('in this case FORMULA_0 converges', [])
    """
    pieces: list[str] = []
    hidden: list[Hidden] = []
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
        hidden.append(Hidden(length, tuple(formulas.split())))
        position = end + 1 + len(formulas.strip())
    pieces.append(text[position:])
    return "".join(pieces), hidden


def _is_barred(noun: str, before: str) -> bool:
    """Tell whether the noun is none, or already named.

    "Factor FORMULA_0", "in this case FORMULA_0", "how many solutions FORMULA_0"
    """
    words = before.lower().split()[-2:]
    if not words and is_command(noun):
        return True
    if words and words[-1] in _ARTICLES:
        return False
    return bool(_POINTERS.intersection(words))
