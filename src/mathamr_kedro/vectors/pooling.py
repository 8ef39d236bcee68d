"""Near-equal vectors of a post as one: fewer vectors to scan.

The formulas of a post are often the same, or nearly so, and sentences repeat each
other. Each vector of a post, in its order, joins the nearest of the earlier ones that
stand for a group, if the cosine of the two is at least a bound; otherwise it stands for
a group of its own. A group becomes the mean of its members, scaled to length 1 ("token
pooling", Clavié et al. 2024, with a bound in place of a number of groups)::

    post    F0 0°   F1 5°   S1 90°   D 50°          bound .9: up to 26°
    groups  F0 F1           S1       D
    pooled  2.5°            90°      50°
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mathamr_kedro.base.errors import ConfigurationError
from mathamr_kedro.base.ragged import RaggedVectors

_AT_ONCE = 8192
"""Vectors compared at once."""


class PooledVectors(NamedTuple):
    """Posts of fewer vectors."""

    posts: RaggedVectors[NDArray[Any]]
    loss: float
    """Distance of a vector from the one that stands for it, at most; as queries have
    length 1, MaxSim changes by no more."""


def check_pooling(bound: float | None) -> None:
    """Refuse bounds that are no cosines of similar vectors.

    Raises:
        ConfigurationError: it is not above 0 and at most 1.
    """
    if bound is not None and not 0 < bound <= 1:
        raise ConfigurationError(
            f"Expected pooling above 0 and at most 1, or null (got {bound!r}): the "
            "cosine from which on two vectors of a post become one"
        )


def pool_vectors(
    posts: RaggedVectors[NDArray[Any]], bound: float | None
) -> PooledVectors:
    """Put the vectors of each post together whose cosine is at least ``bound``.

    The type of the vectors stays; ``None`` leaves all as it is. Columns are dropped.
    """
    if bound is None or not len(posts) or posts.longest == 1:
        return PooledVectors(RaggedVectors(posts.vectors, posts.ptr), 0.0)
    leaders = _find_leaders(posts, bound)
    first, last = int(posts.ptr[0]), int(posts.ptr[-1])
    own = leaders[first:last]
    stands = own == np.arange(first, last)
    count = np.concatenate([[0], np.cumsum(stands)])
    group = count[own - first]  # of each vector
    by_group = np.argsort(group, kind="stable")
    rows = posts.vectors[first:last]
    starts = np.searchsorted(group[by_group], np.arange(count[-1]))
    sums = np.add.reduceat(rows[by_group].astype(np.float32), starts)
    pooled = sums / np.linalg.norm(sums, axis=1, keepdims=True)
    pooled = pooled.astype(posts.vectors.dtype)
    loss = 0.0
    for a in range(0, len(rows), _AT_ONCE):
        some = slice(a, a + _AT_ONCE)
        apart = rows[some].astype(np.float32) - pooled[group[some]]
        loss = max(loss, float(np.linalg.norm(apart, axis=1).max()))
    return PooledVectors(RaggedVectors(pooled, count[posts.ptr - first]), loss)


def _find_leaders(
    posts: RaggedVectors[NDArray[Any]], bound: float
) -> NDArray[np.int64]:
    """(P,) the row that stands for the group of each row."""
    leaders = np.arange(len(posts.vectors))
    lengths = posts.lengths
    order = np.argsort(lengths, kind="stable")  # of one length: no padding
    first = 0
    while first < len(order):
        longest = int(lengths[order[first]])
        last = int(np.searchsorted(lengths[order], longest, side="right"))
        last = min(last, first + max(1, _AT_ONCE // longest))
        rows = posts.ptr[order[first:last], None] + np.arange(longest)  # (n, longest)
        found = _lead(posts.vectors[rows].astype(np.float32), bound)
        leaders[rows] = np.take_along_axis(rows, found, 1)
        first = last
    return leaders


def _lead(vectors: NDArray[np.float32], bound: float) -> NDArray[np.int64]:
    """(n, m) for posts of m vectors: the place that stands for each vector."""
    similar = vectors @ vectors.transpose(0, 2, 1)
    count, longest = similar.shape[:2]
    found = np.zeros((count, longest), dtype=np.int64)
    leads = np.full((count, longest), -np.inf, dtype=np.float32)  # 0 where it does
    leads[:, 0] = 0.0
    for place in range(1, longest):
        known = similar[:, place, :place] + leads[:, :place]
        nearest = known.argmax(1)
        joins = known[np.arange(count), nearest] >= bound
        found[:, place] = np.where(joins, nearest, place)
        leads[~joins, place] = 0.0
    return found
