"""Training steps whose batches are assembled on the host: any device, any backend."""

from __future__ import annotations

from typing import Any

import torch
from numpy.typing import NDArray
from torch import Tensor

from mathamr_kedro.graph import GraphShards
from mathamr_kedro.learning.steps.step import MEASURES, TrainingStep


class HostSteps:
    """Runs the steps of an epoch, one kernel after another."""

    def __init__(
        self, step: TrainingStep, shards: GraphShards, num_queries: int
    ) -> None:
        self._step, self._shards, self._num_queries = step, shards, num_queries
        self._device = step.learning_rate.device

    def load_epoch(self, positions: NDArray[Any], keys: Tensor, rates: Tensor) -> None:
        """Keep what the steps of an epoch read; a row of each per step."""
        self._positions, self._keys, self._rates = positions, keys, rates
        self._measures = torch.zeros(len(keys), len(MEASURES), device=self._device)

    def run(self, number: int) -> None:
        """Do step ``number`` of the loaded epoch."""
        self._step.learning_rate.fill_(self._rates[number])
        batch = self._shards.assemble(self._positions[number])
        key = int(self._keys[number])
        self._measures[number] = self._step.run(
            batch.to(self._device), key, self._num_queries
        )

    def measures(self, count: int) -> Tensor:
        """(count, measures) of the first steps of the epoch, on the CPU."""
        return self._measures[:count].cpu()
