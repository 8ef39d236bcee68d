"""How the steps of a training are launched.

From a GPU that holds the graphs, each step is one CUDA graph, compiled before if that
works (:mod:`.resident`); elsewhere, and with several processes, batches come from the
host and kernels are launched one by one.
"""

from __future__ import annotations

import logging
from typing import Any, Protocol

import torch
from numpy.typing import NDArray
from torch import Tensor

from mathamr_kedro.graph import GraphShards
from mathamr_kedro.learning.encoding import ShardSource
from mathamr_kedro.learning.pairs import EpochPlan
from mathamr_kedro.learning.steps.buckets import Buckets
from mathamr_kedro.learning.steps.resident import ResidentSteps
from mathamr_kedro.learning.steps.step import MEASURES, TrainingStep
from mathamr_kedro.model import can_use_triton

logger = logging.getLogger(__name__)


class Runner(Protocol):
    """Runs the steps of an epoch."""

    def load_epoch(self, positions: NDArray[Any], keys: Tensor, rates: Tensor) -> None:
        """Take what the steps read: a row, a key and a learning rate for each."""

    def run(self, number: int) -> None:
        """Do one step."""

    def measures(self, count: int) -> Tensor:
        """(count, measures) of the first steps."""


def make_runner(step: TrainingStep, source: ShardSource, plan: EpochPlan) -> Runner:
    """Return the fastest way to run the steps that works here."""
    obstacle = _find_obstacle(step, source)
    if obstacle is None and source.on_device is not None:
        # Always from the first epoch, so that a training that resumes agrees.
        buckets = Buckets(source.shards, plan.epoch(0), plan.batch_size)
        on_device = source.on_device
        return ResidentSteps(step, on_device, buckets, capture=True, compile_plan=True)
    if step.learning_rate.device.type == "cuda":
        logger.warning("steps are not captured: that needs %s", obstacle)
    return _HostSteps(step, source.shards, plan.batch_size // step.processes.count)


def _find_obstacle(step: TrainingStep, source: ShardSource) -> str | None:
    """What capturing steps needs and does not have."""
    device, model = step.learning_rate.device, step.model
    needs = {
        "a CUDA device": device.type == "cuda",
        "one process": step.processes.count == 1,
        "the Triton backend": model.backend.name == "triton",
        "a projection_dim that Triton knows": device.type != "cuda"
        or can_use_triton(device, model.config.projection_dim),
        "graphs that fit on the GPU": source.on_device is not None,
    }
    return next((name for name, is_met in needs.items() if not is_met), None)


class _HostSteps:
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
