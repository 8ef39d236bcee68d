"""The loss of held-out pairs, without augmentation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from mathamr_kedro.base.ragged import RaggedVectors
from mathamr_kedro.graph import GraphBatch
from mathamr_kedro.learning.encoding import ShardSource
from mathamr_kedro.learning.pairs import TrainingPairs
from mathamr_kedro.learning.steps import TrainingStep


class _Means(NamedTuple):
    """Means over all held-out pairs."""

    loss: float
    accuracy: float


class Validation:
    """Held-out pairs in fixed batches, each pair against the others of its batch.

    Posts are encoded many batches at once: the vectors of a post do not depend on the
    posts beside it.
    """

    def __init__(
        self, pairs: TrainingPairs, source: ShardSource, batch_size: int
    ) -> None:
        count = max(1, round(len(pairs) / batch_size)) if len(pairs) else 0
        numbers = np.array_split(np.arange(len(pairs)), count) if count else []
        self._batches = [
            np.concatenate([pairs.queries[i], pairs.documents[i]]) for i in numbers
        ]
        self._source = source

    def __len__(self) -> int:
        return len(self._batches)

    @torch.no_grad()
    def run(self, step: TrainingStep) -> _Means:
        """Compute the loss; each process takes a part of the batches."""
        processes = step.processes
        mine = self._batches[processes.rank :: processes.count]
        groups = list(_group(mine, self._source.batch_size))
        parts = [np.concatenate(group) for group in groups]
        total = torch.zeros(3, dtype=torch.float64, device=step.learning_rate.device)
        for group, batch in zip(groups, self._source.batches(parts), strict=True):
            vectors = step.model.encode(batch, step.model.prepare(batch))
            for queries, documents in self._cut(group, batch, vectors):
                value, pairs = step.loss(queries, documents), len(queries)
                total += pairs * torch.stack(
                    [value.loss, value.accuracy, torch.ones_like(value.loss)]
                )
        loss, accuracy, count = processes.sum_values(total).tolist()
        return _Means(loss / count, accuracy / count)

    def _cut(
        self, group: list[NDArray[np.int64]], batch: GraphBatch, vectors: Tensor
    ) -> Iterator[tuple[RaggedVectors, RaggedVectors]]:
        """Take apart the vectors of several batches."""
        offsets = self._source.shards.offsets["representative"]
        positions = np.concatenate(group)
        # From the host, since asking the device would wait for it.
        ends = np.cumsum(offsets[positions + 1] - offsets[positions]).tolist()
        ptr = [0, *ends]
        first = 0
        for rows in group:
            middle, end = first + len(rows) // 2, first + len(rows)
            yield tuple(  # type: ignore[misc]
                _slice(batch, vectors, (a, b), (ptr[a], ptr[b]))
                for a, b in ((first, middle), (middle, end))
            )
            first = end


def _slice(
    batch: GraphBatch, vectors: Tensor, graphs: tuple[int, int], rows: tuple[int, int]
) -> RaggedVectors:
    span = slice(*rows)
    return RaggedVectors(
        vectors[span],
        batch.representative_ptr[graphs[0] : graphs[1] + 1] - rows[0],
        {
            "kind": batch.representative_kind[span],
            "label": batch.representative_label[span],
            "row": batch.representative_row[span],
        },
    )


def _group(
    batches: list[NDArray[np.int64]], size: int
) -> Iterator[list[NDArray[np.int64]]]:
    """Put batches together until they have ``size`` graphs."""
    group: list[NDArray[np.int64]] = []
    for rows in batches:
        if group and sum(map(len, group)) + len(rows) > size:
            yield group
            group = []
        group.append(rows)
    if group:
        yield group
