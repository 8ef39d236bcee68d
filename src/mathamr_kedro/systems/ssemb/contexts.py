r"""The text around a formula, which SemEmb encodes.

::

    post      Let $p$ be a prime. … so $\sqrt p$ is irrational, since …
    windows   |─────────── 1,024 ────────────|
                        |─────────── 1,024 ────────────|     starts: multiples of 512
                                      |──────── …

A formula has the window whose middle is nearest to it; so formulas close to each other
share a text, and a post that is short has one text for all.
"""

from __future__ import annotations

from typing import NamedTuple

from mathamr_kedro.base.records import Post
from mathamr_kedro.base.types import FormulaId
from mathamr_kedro.systems.base import Query

_LENGTH = 1024
"""Characters of a context, as in the paper."""
_STEP = 512
"""Between the starts of two windows."""


class Contexts(NamedTuple):
    """Texts of one post."""

    by_formula: dict[FormulaId, str]
    beginning: str
    """For formulas whose place is not known, as in a comment."""

    @classmethod
    def read(cls, post: Post | Query) -> Contexts:
        """Return what is around each formula of a text, LaTeX between dollars."""
        parts: list[str] = []
        places: dict[FormulaId, int] = {}
        end = length = 0
        for mention in sorted(post.formula_map, key=lambda m: m.start):
            latex = f"${mention.latex}$"
            parts += [post.text[end : mention.start], latex]
            length += mention.start - end
            places.setdefault(mention.formula_id, length + len(latex) // 2)
            length += len(latex)
            end = mention.end
        text = "".join([*parts, post.text[end:]])
        found = {key: _cut(text, place) for key, place in places.items()}
        return cls(found, _cut(text, 0))

    def find(self, formula_id: FormulaId) -> str:
        """Return the text of a formula."""
        return self.by_formula.get(formula_id, self.beginning)


def _cut(text: str, place: int) -> str:
    """Return the window of a text whose middle is nearest to a place."""
    start = find_window(place, len(text), _LENGTH, _STEP)
    return text[start : start + _LENGTH]


def find_window(place: int, size: int, length: int, step: int) -> int:
    """Return where the window of a text starts whose middle is nearest to a place.

    Args:
        place: in the text.
        size: of the text.
        length: of a window.
        step: between the starts of two windows.

    >>> [find_window(place, 1000, 400, 200) for place in (0, 250, 350, 999)]
    [0, 0, 200, 600]
    """
    last = max(0, -(-(size - length) // step))  # number of the last window
    nearest = round((place - length / 2) / step)
    return step * min(max(nearest, 0), last)
