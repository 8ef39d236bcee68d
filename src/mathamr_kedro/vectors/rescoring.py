"""The best of many scores in the true order, from scores that are nearly right.

A scan in single precision is off by at most some *slack*. Two posts nearer to each
other than twice that are scored again in double precision; all others are in the
right order already::

    scan, slack 0.1    a .90   b .72   c .61   d .20        (depth 2)
    again              a .90   b .65   c .66   -            b and c were too near
    result             a c

Ties are ordered by the rule of :mod:`mathamr_kedro.base.hits`.

A scan of codes is off by more. It says that its slack is infinite: then a fixed number
of its best are scored again, and are in the true order; what it ranked lower is lost.

All queries of a batch are ordered together on the device; only the result leaves
the device, and only ties in it need the ids.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import accumulate, pairwise
from typing import NamedTuple, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from mathamr_kedro.base.hits import DECIMALS
from mathamr_kedro.model.host_copy import HostCopy

_TRUSTED = {"cpu": 2e-5, "cuda": 1e-5}
"""Scores that may be off by more are all computed again, not only near ones: a GPU does
that sooner than it tells which are near."""

RESCORED = 2000
"""Items that are scored again if the slack is infinite, or twice the depth if that is
more: none of the true best 100 was missing (docs/results/scale.md)."""

_SHORTEST_COLUMN = 8
"""Columns of fewer scores are not worth a second selection."""

Rescore: TypeAlias = Callable[[Tensor, Tensor], Tensor]
"""(M,) query numbers, rising, and (M,) items to (M,) true scores in float64."""

Rank: TypeAlias = Callable[[NDArray[np.int64]], NDArray[np.int64]]
"""(M,) items to their ranks among each other if scores are equal."""


Names: TypeAlias = NDArray[np.object_]
"""Ids of items."""

Best: TypeAlias = tuple[NDArray[np.int64], NDArray[np.float64]]
"""The best items of one query, best first, and their scores."""


class Choice:
    """The ``depth`` best items of each query in the true order, on their way.

    A device works on it from the start; only :meth:`finish` waits for it. Meanwhile
    the host may start another one, or finish an older one.

    Args:
        scores: (Q, N) nearly right scores; ``-inf`` for what may not be returned.
        items: (N,) number of the item at each place.
        depth: how many.
        slack: how far a score may be from the true one; infinite if that is unknown.
        rescore: gives true scores.
        rank: decides ties.
        ordered: whether the order counts, or only which items are the best: then the
            true scores of those around the last place are enough.
    """

    def __init__(
        self,
        scores: Tensor,
        items: Tensor,
        depth: int,
        slack: float,
        rescore: Rescore,
        rank: Rank,
        ordered: bool = True,
    ) -> None:
        count, size = scores.shape
        depth = min(depth, size)
        is_bounded = slack < torch.inf
        self._scores, self._items = scores, items
        self._order = _TrueOrder(depth, slack, rescore, rank, ordered)
        if depth == 0:
            return
        spare = max(32, depth // 16) if is_bounded else max(RESCORED - depth, depth)
        taken = min(size, depth + spare)
        top, places = select_top(scores, taken)
        self._floor = top[:, depth - 1] - 2 * slack
        # If even the last one taken may belong to the best, more must be compared.
        last = top[:, -1]
        unsure = (last >= self._floor) & (last > -torch.inf) & (taken < size)
        unsure &= is_bounded
        which = torch.arange(count, device=scores.device)
        self._ordered = self._order.start(top, items[places], which)
        self._unsure = HostCopy(unsure)

    def finish(self) -> list[Best]:
        """Wait for the device and decide what is left."""
        scores, items = self._scores, self._items
        if self._order.depth == 0:
            none = np.zeros(0, dtype=np.int64), np.zeros(0)
            return [none] * len(scores)
        results = self._order.finish(self._ordered)
        for q in self._unsure.wait().nonzero().flatten().tolist():
            near = (scores[q] >= self._floor[q]).nonzero().flatten()
            falling, order = torch.sort(scores[q, near], descending=True)
            which = torch.tensor([q], device=scores.device)
            ordered = self._order.start(falling[None], items[near[order]][None], which)
            results[q] = self._order.finish(ordered)[0]
        return results


def select_top(scores: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """(Q, count) best scores, falling, and their places.

    Columns of scores are chosen by their maxima first::

        scores    3 9 4 5      maxima  3 9 8 5      (count 2)
                  1 2 8 0      chosen    9 4        best    9 8
                                         2 8

    A score outside of the ``count`` columns with the best maxima is no better than any
    of these maxima, so the best scores are inside. Two short selections take the place
    of one over all scores, which are read once.
    """
    total = scores.shape[1]
    size = 1 << int(math.log2(max(1.0, total / count)) / 2)  # about sqrt(total / count)
    if size < _SHORTEST_COLUMN:
        top, places = torch.topk(scores, count, dim=1)
        return top, places
    end = total - total % size
    table = scores[:, :end].unflatten(1, (size, -1))  # (Q, size, columns)
    chosen = torch.topk(table.amax(1), count, dim=1, sorted=False).indices
    row = torch.arange(len(scores), device=scores.device)[:, None]
    # Columns are strided, so that a device reads whole rows for their maxima.
    near = torch.cat([table[row, :, chosen].flatten(1), scores[:, end:]], 1)
    top, at = torch.topk(near, count, dim=1)
    column = chosen.gather(1, (at // size).clamp(max=count - 1))
    places = at % size * table.shape[2] + column
    return top, torch.where(at < count * size, places, at - count * size + end)


class _TrueOrder(NamedTuple):
    depth: int
    slack: float
    rescore: Rescore
    rank: Rank
    ordered: bool

    def start(self, top: Tensor, items: Tensor, which: Tensor) -> HostCopy:
        """Order (R, M) falling scores of the queries ``which`` (R,)."""
        exact = self._rescore(top, items, which)
        exact, order = exact.round(decimals=DECIMALS).sort(dim=1, descending=True)
        return HostCopy(torch.stack([exact.view(torch.int64), items.gather(1, order)]))

    def finish(self, ordered: HostCopy) -> list[Best]:
        """Order what is tied, and cut what was taken beyond the depth."""
        both = ordered.wait()
        exact, items = both[0].view(torch.float64), both[1]
        _order_ties(exact.numpy(), items.numpy(), self.rank)
        exact, items = exact[:, : self.depth], items[:, : self.depth]
        kept = (exact > -torch.inf).sum(1).tolist()
        found = zip(items.numpy(), exact.numpy(), kept, strict=True)
        return [(i[:n], e[:n]) for i, e, n in found]

    def _rescore(self, top: Tensor, items: Tensor, which: Tensor) -> Tensor:
        """(R, M) true scores of all, or of those that are near to others."""
        exact = top.double()
        if self.ordered and self.slack > _TRUSTED[top.device.type]:
            # Without asking the device which: it would wait for the answer.
            queries = which.repeat_interleave(items.shape[1])
            true = self.rescore(queries, items.flatten()).view_as(exact)
            return torch.where(top > -torch.inf, true, exact)
        if self.ordered:
            near = _with_neighbours((top[:, :-1] - top[:, 1:]) <= 2 * self.slack)
        else:
            last = top[:, self.depth - 1 : self.depth]
            near = (top - last).abs() <= 2 * self.slack
        row, column = (near & (top > -torch.inf)).nonzero(as_tuple=True)
        if len(row):
            exact[row, column] = self.rescore(which[row], items[row, column])
        return exact


def _order_ties(
    scores: NDArray[np.float64], items: NDArray[np.int64], rank: Rank
) -> None:
    """Put items of equal scores, which fall along each row, in the order of ranks."""
    row, column = np.nonzero(scores[:, 1:] == scores[:, :-1])
    pairs = np.concatenate([row * scores.shape[1] + column + n for n in (0, 1)])
    row, column = np.divmod(np.unique(pairs), scores.shape[1])
    is_found = scores[row, column] > -np.inf
    row, column = row[is_found], column[is_found]
    if len(row):
        tied = items[row, column]
        order = np.lexsort((rank(tied), -scores[row, column], row))
        items[row, column] = tied[order]


def _with_neighbours(pairs: Tensor) -> Tensor:
    """(R, M) whether a place is one of a marked pair of neighbours (R, M - 1)."""
    pad = torch.nn.functional.pad
    return pad(pairs, (0, 1)) | pad(pairs, (1, 0))


def name_items(
    best: Sequence[Best], ids_of: Callable[[NDArray[np.int64]], Names]
) -> list[list[str]]:
    """Return the ids of the best items of each query, all looked up at once."""
    cuts = list(accumulate(len(items) for items, _ in best))
    if not cuts or not cuts[-1]:
        return [[] for _ in best]
    names = ids_of(np.concatenate([items for items, _ in best])).tolist()
    return [names[a:b] for a, b in pairwise([0, *cuts])]
