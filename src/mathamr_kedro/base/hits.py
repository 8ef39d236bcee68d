"""Ranked lists: what a search of one query returns, and how ties are ordered.

======================  ====================================================
:class:`Hits`           posts (Task 1), or whatever else has ids and scores
:class:`FormulaHits`    formulas (Task 2), each with its visual id and post
======================  ====================================================

A run of a system is a mapping of topic ids to such lists.

Scores equal to nine decimals are ties: the shorter id comes first, then the smaller one
(``"9"`` before ``"17"``). Every engine, device and fusion follows this rule.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from mathamr_kedro.base.types import PostId, VisualId

H = TypeVar("H", bound="Hits")

DECIMALS = 9
"""Scores equal to so many decimals are ties."""


@dataclass(frozen=True, eq=False)
class Hits:
    """Results of one query, best first."""

    ids: list[str]
    """Of posts, or of formulas."""
    scores: NDArray[np.float64]

    @classmethod
    def rank(cls, ids: Iterable[str], scores: Iterable[float]) -> Hits:
        """Order scored ids, ties by the rule of this module.

        >>> Hits.rank(["17", "9", "4"], [0.5, 0.5, 0.7]).ids
        ['4', '9', '17']
        """
        pairs = [
            (i, round(float(s), DECIMALS)) for i, s in zip(ids, scores, strict=True)
        ]
        pairs.sort(key=lambda pair: (-pair[1], len(pair[0]), pair[0]))
        return cls([i for i, _ in pairs], np.array([s for _, s in pairs]))

    def __len__(self) -> int:
        return len(self.ids)

    def __iter__(self) -> Iterator[tuple[str, float]]:
        return zip(self.ids, self.scores.tolist(), strict=True)

    @property
    def judged_ids(self) -> list[str]:
        """The ids that the task judges: posts, or visual ids of formulas."""
        return self.ids

    def take(self: H, places: Sequence[int]) -> H:
        """Return the hits at ``places``, in that order."""
        chosen: dict[str, Any] = {
            name: [values[i] for i in places]
            for name, values in vars(self).items()
            if name != "scores"
        }
        return replace(self, scores=self.scores[list(places)], **chosen)

    def top(self: H, depth: int) -> H:
        """Return the first ``depth``."""
        return self if len(self) <= depth else self.take(range(depth))


@dataclass(frozen=True, eq=False)
class FormulaHits(Hits):
    """Formulas found for one query, best first: ``ids`` are those of formulas."""

    visual_ids: list[VisualId]
    post_ids: list[PostId]

    @property
    def judged_ids(self) -> list[str]:
        """Task 2 judges visual ids."""
        return self.visual_ids

    def first_instances(self) -> FormulaHits:
        """Keep the best instance of each visual id.

        >>> scores = np.array([0.9, 0.8, 0.7])
        >>> hits = FormulaHits(["1", "2", "3"], scores, ["70", "70", "71"], list("abc"))
        >>> hits.first_instances().ids
        ['1', '3']
        """
        first: dict[VisualId, int] = {}
        for place, visual in enumerate(self.visual_ids):
            first.setdefault(visual, place)
        return self.take(list(first.values()))


def merge_hits(lists: Sequence[H], depth: int) -> H:
    """Return the best of several ranked lists, ties by the rule of this module.

    >>> lists = [Hits(["17", "4"], np.array([0.7, 0.5])), Hits(["9"], np.array([0.7]))]
    >>> merge_hits(lists, depth=2).ids
    ['9', '17']
    """
    columns = {name: [v for hits in lists for v in getattr(hits, name)]
               for name in vars(lists[0]) if name != "scores"}  # fmt: skip
    scores = np.concatenate([hits.scores for hits in lists])
    joined = replace(lists[0], scores=scores, **columns)
    order = np.lexsort((rank_ids(joined.ids), -scores))
    return joined.take(order[:depth].tolist())


def rank_ids(ids: Sequence[str]) -> NDArray[np.int64]:
    """Return the rank of each id among equal scores.

    >>> rank_ids(["17", "9", "170"]).tolist()
    [1, 0, 2]
    """
    encoded = np.array([i.encode() for i in ids] or [b""])[: len(ids)]
    lengths = np.array([len(i) for i in ids], dtype=np.int64)
    ranks = np.empty(len(ids), dtype=np.int64)
    ranks[np.lexsort((encoded, lengths))] = np.arange(len(ids))
    return ranks
