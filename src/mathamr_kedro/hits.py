"""Ranked lists: what a search of one query returns, and how ties are ordered.

Scores equal to nine decimals are ties: the shorter id comes first, then the smaller one
(``"9"`` before ``"17"``). Every engine, device and fusion follows this rule.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mathamr_kedro.types import FormulaId, PostId, VisualId

DECIMALS = 9
"""Scores equal to so many decimals are ties."""


class Hits(NamedTuple):
    """Posts found for one query, best first."""

    keys: list[PostId]
    scores: NDArray[np.float64]


class FormulaHits(NamedTuple):
    """Formulas found for one query, best first."""

    formula_ids: list[FormulaId]
    visual_ids: list[VisualId]
    post_ids: list[PostId]
    scores: NDArray[np.float64]


def make_hits(keys: Sequence[PostId], scores: Iterable[float]) -> Hits:
    """Order posts by score, ties by the rule.

    >>> make_hits(["17", "9"], [0.5, 0.5]).keys
    ['9', '17']
    """
    ordered = sort_hits(keys, scores)
    return Hits([k for k, _ in ordered], np.array([s for _, s in ordered]))


def rank_ids(ids: Sequence[str]) -> NDArray[np.int64]:
    """Return the rank of each id where scores are equal.

    >>> rank_ids(["17", "9", "170"]).tolist()
    [1, 0, 2]
    """
    encoded = np.array([i.encode() for i in ids] or [b""])[: len(ids)]
    lengths = np.array([len(i) for i in ids], dtype=np.int64)
    ranks = np.empty(len(ids), dtype=np.int64)
    ranks[np.lexsort((encoded, lengths))] = np.arange(len(ids))
    return ranks


def sort_hits(ids: Iterable[str], scores: Iterable[float]) -> list[tuple[str, float]]:
    """Order scored ids by the rule of this module.

    >>> sort_hits(["17", "9", "4"], [0.5, 0.5, 0.7])
    [('4', 0.7), ('9', 0.5), ('17', 0.5)]
    """
    pairs = ((i, round(float(s), DECIMALS)) for i, s in zip(ids, scores, strict=True))
    return sorted(pairs, key=lambda pair: (-pair[1], len(pair[0]), pair[0]))
