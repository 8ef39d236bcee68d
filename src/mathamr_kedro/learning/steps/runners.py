"""Choosing how the steps of a training are launched.

==============  ====================================================================
``eager``       batches from the host, kernel by kernel: any device, many processes
``captured``    batches on the GPU, the whole step one CUDA graph
``compiled``    the same, with assembly and planning compiled first
==============  ====================================================================
"""

from __future__ import annotations

import logging
from typing import Any, Literal, Protocol, TypeAlias

import torch
from numpy.typing import NDArray
from torch import Tensor

from mathamr_kedro.base.errors import ConfigurationError
from mathamr_kedro.graph import GraphShards
from mathamr_kedro.learning.encoding import ShardSource
from mathamr_kedro.learning.pairs import EpochPlan
from mathamr_kedro.learning.steps.buckets import Buckets
from mathamr_kedro.learning.steps.resident import ResidentSteps
from mathamr_kedro.learning.steps.step import MEASURES, TrainingStep
from mathamr_kedro.model import can_use_triton

logger = logging.getLogger(__name__)

StepsMode: TypeAlias = Literal["auto", "eager", "captured", "compiled"]
"""How steps are launched."""


class Runner(Protocol):
    """Runs the steps of an epoch."""

    def load_epoch(self, positions: NDArray[Any], keys: Tensor, rates: Tensor) -> None:
        """Take what the steps read: a row, a key and a learning rate for each."""

    def run(self, number: int) -> None:
        """Do one step."""

    def measures(self, count: int) -> Tensor:
        """(count, measures) of the first steps."""


class _CapturedRunner:
    """Steps as CUDA graphs, each in the bucket that its batch fits into."""

    def __init__(
        self, step: TrainingStep, source: ShardSource, plan: EpochPlan, compiled: bool
    ) -> None:
        # Always from the first epoch, so that a training that resumes agrees.
        self._buckets = Buckets(source.shards, plan.epoch(0), plan.batch_size)
        self._steps = ResidentSteps(
            step,
            source.require_device(),
            plan.batch_size,
            capture=True,
            compile_plan=compiled,
        )

    def load_epoch(self, positions: NDArray[Any], keys: Tensor, rates: Tensor) -> None:
        """See :class:`Runner`."""
        buckets = self._buckets.choose(positions)
        self._steps.load_epoch(torch.from_numpy(positions), keys, rates, buckets)

    def run(self, number: int) -> None:
        """See :class:`Runner`."""
        self._steps.run(number)

    def measures(self, count: int) -> Tensor:
        """See :class:`Runner`."""
        return self._steps.measures(count)


def make_runner(
    mode: StepsMode, step: TrainingStep, source: ShardSource, plan: EpochPlan
) -> Runner:
    """Make the runner of a mode; ``auto`` takes the fastest that can run."""
    obstacle = _find_obstacle(step, source)
    if mode in ("captured", "compiled") and obstacle:
        raise ConfigurationError(
            f"Expected {obstacle} for steps {mode!r}; use steps 'auto'"
        )
    if mode == "eager" or obstacle:
        if mode == "auto" and step.learning_rate.device.type == "cuda":
            logger.warning("steps are not captured: that needs %s", obstacle)
        return _HostSteps(step, source.shards, plan.batch_size // step.processes.count)
    return _CapturedRunner(step, source, plan, compiled=mode != "captured")


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
