r"""How close a post is to a query, from 0 to 1: the same scale for all queries.

.. math:: p = \sigma(w_0 + w_1 (k v + (1 - k) c) + w_2 c)

where :math:`v` is the mean similarity of the vectors, :math:`c` the share of the
query's words, rare ones counting more, that the post has (BM25 by its upper bound), and
:math:`k` the share of the query that the encoder knows: vectors of unknown words
resemble each other, so words stand in for them.
Weights were fitted so that :math:`p` is the chance that a post answers a query
(``python -m tools.closeness``, docs/results/closeness.md); fused scores cannot tell,
as the best post of any query has the best of them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from mathamr_kedro.systems.query import ScorePart

WEIGHTS = (-6.06, 6.84, 2.88)
"""Of 1, kv + (1 - k)c and c."""
FAR = 0.1
"""Below it nothing close was found: set on queries without an answer."""
SCALE = ((0.7, "the same"), (0.3, "close"), (FAR, "related"), (0.0, "far"))
"""From which closeness on what is said."""


def list_features(
    parts: Iterable[ScorePart], rarity: float, known: float
) -> tuple[float, float] | None:
    """Return kv + (1 - k)c and c of a post; ``None``: not both were asked.

    Args:
        parts: of its score, by words and by vectors.
        rarity: the upper bound of a score by words of the query.
        known: k.
    """
    leaves = [leaf for part in parts for leaf in part.leaves()]
    terms = next((leaf.terms for leaf in leaves if leaf.terms), ())
    words = [leaf for leaf in leaves if leaf.system.startswith("bm25")]
    if not terms or not words:
        return None
    weight = sum(term.weight for term in terms)
    similarity = sum(term.weight * term.similarity for term in terms) / weight
    own = sum(share.share for share in words[0].words)
    covered = own / rarity if rarity else 0.0
    return known * similarity + (1 - known) * covered, covered


def measure_closeness(features: tuple[float, float]) -> float:
    """Return the chance that a post answers the query."""
    v, c = features
    x = sum(w * f for w, f in zip(WEIGHTS, (1.0, v, c), strict=True))
    return round(1 / (1 + math.exp(-x)), 4)


def describe_closeness(closeness: float) -> str:
    """Say it in a word.

    >>> describe_closeness(0.9), describe_closeness(0.01)
    ('the same', 'far')
    """
    return next(word for bound, word in SCALE if closeness >= bound)
