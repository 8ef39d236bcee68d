r"""The text around a formula, which SemEmb encodes.

::

    post      Let $p$ be a prime. … so $\sqrt p$ is irrational, since …
    windows   |──────── context_length ────────|
                        |──────── context_length ────────|     starts: multiples of
                                      |──────── …              context_step

A formula has the window whose middle is nearest to it; so formulas that stand close
together share a text, and a post that is short has one text for all.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from mathamr_kedro.base.records import FormulaMention, Post
from mathamr_kedro.base.types import FormulaId
from mathamr_kedro.systems.base import Query
from mathamr_kedro.systems.ssemb.config import RankingConfig


class Window(NamedTuple):
    """A part of a text."""

    start: int
    end: int

    @classmethod
    def around(cls, place: int, size: int, length: int, step: int) -> Window:
        """Return the window of a text whose middle is nearest to a place.

        Args:
            place: in the text.
            size: of the text.
            length: of a window.
            step: between the starts of two windows.

        >>> [Window.around(p, 1000, 400, 200).start for p in (0, 250, 350, 999)]
        [0, 0, 200, 600]
        """
        last = max(0, -(-(size - length) // step))  # number of the last window
        nearest = round((place - length / 2) / step)
        start = step * min(max(nearest, 0), last)
        return cls(start, min(start + length, size))


class Contexts:
    """Texts around formulas, by the settings of a search."""

    def __init__(self, config: RankingConfig) -> None:
        self._length, self._step = config.context_length, config.context_step

    def read(self, post: Post | Query) -> Iterator[tuple[FormulaId, str]]:
        """Yield the formulas of a text with what stands around each."""
        text, places = _restore(post.text, post.formula_map)
        for formula_id, place in places.items():
            yield formula_id, self._cut(text, place)

    def read_first(self, post: Post | Query) -> str:
        """Return how a text begins: for formulas whose place is not known."""
        return self._cut(_restore(post.text, post.formula_map)[0], 0)

    def _cut(self, text: str, place: int) -> str:
        window = Window.around(place, len(text), self._length, self._step)
        return text[slice(*window)]


def _restore(
    text: str, formula_map: Iterable[FormulaMention]
) -> tuple[str, Mapping[FormulaId, int]]:
    """Return a text with its LaTeX, and where the middle of each formula is."""
    parts: list[str] = []
    places: dict[FormulaId, int] = {}
    end = length = 0
    for mention in sorted(formula_map, key=lambda m: m.start):
        latex = f"${mention.latex}$"
        parts += [text[end : mention.start], latex]
        length += mention.start - end
        places.setdefault(mention.formula_id, length + len(latex) // 2)
        length += len(latex)
        end = mention.end
    return "".join([*parts, text[end:]]), places
