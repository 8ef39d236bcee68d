"""The order in which results are scored: ties, repeats, depth, visual ids.

trec_eval only uses the scores, rounded to single precision, and breaks ties by
document id, the *larger string* first; the rank column is ignored:

```
file                scored
A.1 Q0 17 1 0.5     A.1  9   0.5    '9' > '17' as strings
A.1 Q0 9  2 0.5     A.1  17  0.5
A.1 Q0 4  3 0.1     A.1  4   0.1
```
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from mathamr_kedro.base.hits import Hits
from mathamr_kedro.base.types import FormulaId, TopicId, VisualId
from mathamr_kedro.evaluation.metrics.protocols import Protocol
from mathamr_kedro.trec import Run, VisualIds

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]


class Rankings(NamedTuple):
    """Topics of a run in the order of scoring, and counts of dropped results."""

    lists: dict[TopicId, Hits]
    num_repeats: int
    """Results dropped because their document came before."""
    num_too_deep: int
    """Results dropped because they are below the depth."""
    unknown_ids: list[FormulaId]
    """Formula ids dropped because the index does not know them."""

    @classmethod
    def of(
        cls,
        run: Run,
        topics: Iterable[TopicId],
        protocol: Protocol,
        visual_ids: VisualIds | None = None,
    ) -> Rankings:
        """Sort the results of the given topics.

        In Task 2 each visual id has the place and score of its best instance. The depth
        counts formula instances, as in the organisers' script, so that 1000 results may
        be far fewer visual ids.
        """
        ranked: dict[TopicId, Ranked] = {}
        for topic in topics:
            if topic not in run.lists:
                continue
            hits = run.documents(topic)
            ranks = run.ranks_of(topic) if protocol.use_rank else None
            if protocol.task == "2":
                of_formula = visual_ids.of_formula if visual_ids is not None else None
                ranked[topic] = rank_visual_ids(hits, of_formula, protocol.depth, ranks)
            else:
                ranked[topic] = rank_documents(hits, protocol.depth, ranks)
        return cls(
            {topic: found.hits for topic, found in ranked.items()},
            sum(found.num_repeats for found in ranked.values()),
            sum(found.num_too_deep for found in ranked.values()),
            [i for found in ranked.values() for i in found.unknown_ids],
        )


def sort_as_trec_eval(hits: Hits) -> Hits:
    """Sort documents as trec_eval does; of repeats, the earlier line counts.

    >>> sort_as_trec_eval(Hits(["17", "9", "4"], np.array([0.5, 0.5, 0.7]))).ids
    ['4', '9', '17']
    """
    return rank_documents(hits).hits


def count_ties(scores: FloatArray) -> int:
    """Return how many results share their score, in single precision, with another.

    Each group of equal scores counts all its members but one.

    >>> count_ties(np.array([3.0, 2.0, 2.0, 2.0, 1.0]))
    2
    """
    return int(scores.size - np.unique(_single_precision(scores)).size)


class Ranked(NamedTuple):
    """One topic in the order of scoring; see :class:`Rankings`."""

    hits: Hits
    num_repeats: int = 0
    num_too_deep: int = 0
    unknown_ids: tuple[str, ...] = ()


def rank_documents(
    hits: Hits, depth: int | None = None, ranks: IntArray | None = None
) -> Ranked:
    """Rank documents by trec_eval's rule, or by their ranks if these are given."""
    kept = _first_places(hits.ids)
    ids = hits.ids if kept is None else [hits.ids[i] for i in kept.tolist()]
    scores = hits.scores if kept is None else hits.scores[kept]
    if kept is not None and ranks is not None:
        ranks = ranks[kept]
    order = _order(ids, scores, ranks)[:depth]
    return Ranked(
        Hits([ids[i] for i in order.tolist()], scores[order]),
        num_repeats=len(hits.ids) - len(ids),
        num_too_deep=len(ids) - order.size,
    )


def rank_visual_ids(
    hits: Hits,
    visual_ids: Mapping[FormulaId, VisualId] | None,
    depth: int | None = None,
    ranks: IntArray | None = None,
) -> Ranked:
    """Rank visual ids of formula instances, or visual ids as they are."""
    keys = -_single_precision(hits.scores) if ranks is None else ranks
    places = np.argsort(keys, kind="stable")[:depth]
    too_deep = len(hits.ids) - places.size
    names: Sequence[str] = [hits.ids[i] for i in places.tolist()]
    unknown: tuple[str, ...] = ()
    if visual_ids is not None:
        unknown = tuple(i for i in names if i not in visual_ids)
        known = np.array([i in visual_ids for i in names], dtype=np.bool_)
        places = places[known]
        names = [visual_ids[i] for i in names if i in visual_ids]
    instances = Hits(list(names), hits.scores[places])
    found = rank_documents(instances, None, None if ranks is None else ranks[places])
    return found._replace(num_too_deep=too_deep, unknown_ids=unknown)


def _order(ids: Sequence[str], scores: FloatArray, ranks: IntArray | None) -> IntArray:
    if ranks is not None:
        return np.argsort(ranks, kind="stable")
    keys = -_single_precision(scores)
    order = np.argsort(keys, kind="stable")
    # Sorting ids as strings is slow, and only needed if there are ties.
    in_order = keys[order]
    if not np.any(in_order[1:] == in_order[:-1]):
        return order
    by_id = np.array(sorted(range(len(ids)), key=ids.__getitem__, reverse=True))
    return by_id[np.argsort(keys[by_id], kind="stable")]


def _single_precision(scores: FloatArray) -> npt.NDArray[np.float32]:
    with np.errstate(over="ignore"):  # beyond 3e38 trec_eval reads infinity, too
        return scores.astype(np.float32)


def _first_places(ids: Sequence[str]) -> IntArray | None:
    """Return the first position of each id; ``None``: there are no repeats."""
    if len(set(ids)) == len(ids):
        return None
    first: dict[str, int] = {}
    for place, i in enumerate(ids):
        first.setdefault(i, place)
    return np.fromiter(first.values(), dtype=np.int64)
