"""The order in which results are scored: ties, repeats, depth, visual ids.

trec_eval looks at the scores alone, rounded to single precision, and breaks ties by
document id, the *larger string* first; the rank column is ignored:

```
file                scored
A.1 Q0 17 1 0.5     A.1  9   0.5    '9' > '17' as strings
A.1 Q0 9  2 0.5     A.1  17  0.5
A.1 Q0 4  3 0.1     A.1  4   0.1
```
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from mathamr_kedro.metrics.runs import FloatArray, IntArray, Results
from mathamr_kedro.types import FormulaId, VisualId


class Ranking(NamedTuple):
    """One topic's documents in the order of scoring, and what was lost."""

    ids: list[str]
    scores: FloatArray
    num_repeats: int = 0
    """Results dropped because their document came before."""
    num_too_deep: int = 0
    """Results dropped because they stand below the depth."""
    unknown_ids: tuple[str, ...] = ()
    """Formula ids dropped because the index does not know them."""


def rank_documents(
    results: Results, depth: int | None = 1000, use_rank: bool = False
) -> Ranking:
    """Rank answers or formulas: a repeat loses against the earlier line of the file.

    Args:
        results: one topic's results.
        depth: how many count.
        use_rank: order by the rank column instead of trec_eval's rule.
    """
    kept = _drop_repeats(results)
    order = _order(kept, use_rank)[:depth]
    return Ranking(
        ids=[kept.ids[i] for i in order.tolist()],
        scores=kept.scores[order],
        num_repeats=len(results.ids) - len(kept.ids),
        num_too_deep=len(kept.ids) - order.size,
    )


def rank_visual_ids(
    results: Results,
    visual_ids: Mapping[FormulaId, VisualId] | None,
    depth: int | None = 1000,
    use_rank: bool = False,
) -> Ranking:
    """Rank visual ids: each has the place and score of its best instance.

    The depth counts formula instances, as in the organisers' script, so that 1000
    results may be far fewer visual ids.

    Args:
        results: one topic's results, formula ids or visual ids.
        visual_ids: visual id of each formula; absent when the results already hold
            visual ids.
        depth: how many instances count.
        use_rank: order by the rank column instead of the scores.
    """
    by_file = np.argsort(
        results.ranks if use_rank else -_single_precision(results.scores), kind="stable"
    )
    instances = _take(results, by_file[:depth])
    names: Sequence[str] = instances.ids
    unknown: tuple[str, ...] = ()
    if visual_ids is not None:
        unknown = tuple(i for i in instances.ids if i not in visual_ids)
        known = [n for n, i in enumerate(instances.ids) if i in visual_ids]
        instances = _take(instances, np.array(known, dtype=np.int64))
        names = [visual_ids[i] for i in instances.ids]
    visuals = _drop_repeats(instances._replace(ids=names))
    order = _order(visuals, use_rank)
    return Ranking(
        ids=[visuals.ids[i] for i in order.tolist()],
        scores=visuals.scores[order],
        num_repeats=len(names) - len(visuals.ids),
        num_too_deep=len(results.ids) - by_file[:depth].size,
        unknown_ids=unknown,
    )


def count_ties(scores: FloatArray) -> int:
    """Return how many results share their score, in single precision, with another.

    Each group of equal scores counts all its members but one.

    >>> count_ties(np.array([3.0, 2.0, 2.0, 2.0, 1.0]))
    2
    """
    return int(scores.size - np.unique(_single_precision(scores)).size)


def count_rounding_ties(scores: FloatArray) -> int:
    """Return how many results are tied only because scores are rounded.

    >>> count_rounding_ties(np.array([1.0, 1.0 + 1e-12, 0.5, 0.5]))
    1
    """
    return count_ties(scores) - int(scores.size - np.unique(scores).size)


def _order(results: Results, use_rank: bool) -> IntArray:
    if use_rank:
        return np.argsort(results.ranks, kind="stable")
    keys = -_single_precision(results.scores)
    order = np.argsort(keys, kind="stable")
    in_order = keys[order]
    if not np.any(in_order[1:] == in_order[:-1]):
        return order
    ids = results.ids
    by_id = np.array(sorted(range(len(ids)), key=ids.__getitem__, reverse=True))
    return by_id[np.argsort(keys[by_id], kind="stable")]


def _single_precision(scores: FloatArray) -> npt.NDArray[np.float32]:
    with np.errstate(over="ignore"):  # beyond 3e38 trec_eval reads infinity, too
        return scores.astype(np.float32)


def _drop_repeats(results: Results) -> Results:
    if len(set(results.ids)) == len(results.ids):
        return results
    first: dict[str, int] = {}
    for place, i in enumerate(results.ids):
        first.setdefault(i, place)
    return _take(results, np.fromiter(first.values(), dtype=np.int64))


def _take(results: Results, places: IntArray) -> Results:
    return Results(
        ids=[results.ids[i] for i in places.tolist()],
        scores=results.scores[places],
        ranks=results.ranks[places],
    )
