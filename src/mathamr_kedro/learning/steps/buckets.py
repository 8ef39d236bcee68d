"""Fixed sizes for batches of random graphs.

A captured CUDA graph needs fixed shapes, but the graphs of a batch have any size. A
bucket is a fixed size into which a batch fits; half of the batches fit into the first,
and a few more buckets, each some percent larger, take the rest. The more graphs a batch
has, the less batches differ, and the closer buckets are: room that is not filled costs
time. Buckets depend only on the data and the batches, so a training that resumes takes
the same ones.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mathamr_kedro.graph import BatchSize, GraphShards

LEVELS = 4
"""Buckets that hold all batches of the first epoch."""
_QUANTILE = 0.5
_GROWTH = (1.015, 1.6)
_MULTIPLE = 64


class Bucket(NamedTuple):
    """Room for one batch."""

    level: int
    size: BatchSize
    query_room: int
    """Vectors of all queries together."""


class Buckets:
    """Chooses the bucket of each batch."""

    def __init__(
        self, shards: GraphShards, batches: NDArray[Any], num_queries: int
    ) -> None:
        self._shards, self.num_queries = shards, num_queries
        sizes = self._measure(batches)
        self._base = np.quantile(sizes, _QUANTILE, axis=0)
        largest = (sizes / np.maximum(self._base, 1)).max()
        # The last level holds the largest of these batches.
        self._growth = float(np.clip(largest ** (1 / (LEVELS - 1)), *_GROWTH))

    def _measure(self, batches: NDArray[Any]) -> NDArray[np.int64]:
        """(batches, 6) sizes of whole batches, and the vectors of their queries."""
        whole = self._shards.measure(batches)
        queries = self._shards.measure(batches[:, : self.num_queries])
        return np.concatenate([whole, queries[:, -1:]], 1)

    def choose(self, batches: NDArray[Any]) -> list[Bucket]:
        """The smallest bucket that each batch fits into."""
        ratio = (self._measure(batches) / np.maximum(self._base, 1)).max(1)
        level = np.ceil(np.log(np.maximum(ratio, 1)) / np.log(self._growth) - 1e-9)
        return [self.bucket(int(k)) for k in level]

    def bucket(self, level: int) -> Bucket:
        """The bucket of one level."""
        room = np.ceil(self._base * self._growth**level / _MULTIPLE) + 1
        sizes = (room * _MULTIPLE).astype(int).tolist()
        return Bucket(level, BatchSize(*sizes[:-1]), sizes[-1])
