"""Training steps from shards that are on the device, captured as CUDA graphs.

A step at batch size 32 is some hundred kernels of a few microseconds each; launching
them one by one takes longer than running them. A CUDA graph launches all at once:
assembly, augmentation, both passes, clipping and AdamW. Compiling assembly and planning
first (``torch.compile``) fuses many of those kernels.

All graphs share one pool of memory. The largest is captured first, so the others fit
into what it has taken. Warm-ups come before all of that: their memory goes back to the
device before the pool takes any.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Any

import torch
from numpy.typing import NDArray
from torch import Tensor

from mathamr_kedro.graph import DeviceShards, GraphBatch
from mathamr_kedro.learning.steps.buckets import LEVELS, Bucket, Buckets
from mathamr_kedro.learning.steps.step import MEASURES, TrainingStep

logger = logging.getLogger(__name__)

_WARM_UP = 2


class ResidentSteps:
    """Runs the steps of an epoch from data that is on the device already.

    ::

        steps.load_epoch(positions, keys, rates)   # a row of each per step
        for i in range(len(keys)):
            steps.run(i)
        measures = steps.measures(len(keys))

    Args:
        step: what is done.
        shards: on the device.
        buckets: choose the room of each batch.
        capture: whether steps become CUDA graphs.
        compile_plan: whether assembly and planning are compiled before.
    """

    def __init__(
        self,
        step: TrainingStep,
        shards: DeviceShards,
        buckets: Buckets,
        *,
        capture: bool,
        compile_plan: bool = False,
    ) -> None:
        self._step, self._shards, self._choice = step, shards, buckets
        self._device = step.learning_rate.device
        self._graphs: dict[int, torch.cuda.CUDAGraph] = {}
        self._capture_levels = LEVELS if capture else 0
        self._pool = torch.cuda.graph_pool_handle() if capture else None
        self._number = torch.zeros(1, dtype=torch.int64, device=self._device)
        self._room = 0
        self._compile = compile_plan
        if compile_plan:  # torch compiles one function for a few trainings only
            torch.compiler.reset()
        self._arrange: dict[int, Callable[..., tuple[GraphBatch, object]]] = {}
        self._buckets: Sequence[Bucket] = ()

    def load_epoch(self, positions: NDArray[Any], keys: Tensor, rates: Tensor) -> None:
        """Copy what the steps of an epoch read to the device.

        Args:
            positions: (steps, graphs) positions in the shards, queries first.
            keys: (steps,) keys of the augmentation.
            rates: (steps,) learning rates.
        """
        self._buckets = self._choice.choose(positions)
        count, rows = len(positions), torch.from_numpy(positions)
        if count > self._room:  # graphs hold addresses: new tensors need new graphs
            self._graphs.clear()
            self._room = count
            self._positions, self._keys, self._rates = (
                t.to(self._device, copy=True) for t in (rows, keys, rates)
            )
            self._measures = self._rates.new_zeros(count, len(MEASURES))
        else:
            self._positions[:count] = rows.to(self._device)
            self._keys[:count] = keys.to(self._device)
            self._rates[:count] = rates.to(self._device)

    def run(self, number: int) -> None:
        """Do step ``number`` of the loaded epoch."""
        bucket = self._buckets[number]
        if bucket.level >= self._capture_levels:
            self._number.fill_(number)
            self._do_step(bucket)
            return
        if bucket.level not in self._graphs and not self._try_capture():
            self.run(number)
            return
        self._number.fill_(number)
        self._graphs[bucket.level].replay()

    def measures(self, count: int) -> Tensor:
        """(count, measures) of the first steps of the epoch, on the CPU."""
        return self._measures[:count].cpu()

    def _do_step(self, bucket: Bucket) -> None:
        step, n = self._step, self._number
        step.learning_rate.copy_(self._rates.index_select(0, n)[0])
        batch, graph = self._arranged(bucket)
        queries = self._choice.num_queries
        measures = step.learn(batch, graph, queries, bucket.query_room)
        self._measures.index_copy_(0, n, measures[None])

    def _arranged(self, bucket: Bucket) -> tuple[GraphBatch, object]:
        # Indexing by a tensor of one element would ask the device for its value.
        row = [
            t.index_select(0, self._number)[0] for t in (self._positions, self._keys)
        ]
        if bucket.level in self._arrange:
            return self._arrange[bucket.level](*row)
        arrange = _make_arrange(self._step, self._shards, bucket)
        if self._compile and bucket.level < self._capture_levels:
            compiled = torch.compile(arrange, dynamic=False)
            try:
                arranged: tuple[GraphBatch, object] = compiled(*row)
            except Exception as exc:  # compilers and drivers fail in many ways
                reason = str(exc).strip().split("\n")[0]
                logger.warning("steps are captured uncompiled: %s", reason)
                self._compile = False
            else:
                self._arrange[bucket.level] = compiled
                return arranged
        self._arrange[bucket.level] = arrange
        return arrange(*row)

    def _try_capture(self) -> bool:
        """Capture what is missing; whether that worked.

        Weights, optimizer and measures are as before afterwards.
        """
        saved, measures = _snapshot(self._step), self._measures.clone()
        try:
            self._capture_missing()
        except torch.OutOfMemoryError:
            raise
        except RuntimeError as exc:  # some operation cannot be captured
            reason = str(exc).strip().split("\n")[0]
            logger.warning("steps run without CUDA graphs: %s", reason)
            self._capture_levels = 0
        _restore(self._step, saved)
        self._measures.copy_(measures)
        return self._capture_levels > 0

    def _capture_missing(self) -> None:
        """Capture all buckets of the loaded epoch, the largest first."""
        first = {b.level: (i, b) for i, b in reversed(list(enumerate(self._buckets)))}
        missing = [
            first[level]
            for level in sorted(first, reverse=True)
            if level < self._capture_levels and level not in self._graphs
        ]
        for number, bucket in missing:
            self._warm_up(number, bucket)
        for _, bucket in missing:
            self._graphs[bucket.level] = self._capture(bucket)

    def _warm_up(self, number: int, bucket: Bucket) -> None:
        """Compile what the steps of a bucket need; gives back all memory."""
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(_WARM_UP):
                self._number.fill_(number)
                self._do_step(bucket)
        torch.cuda.current_stream().wait_stream(side)
        self._step.optimizer.zero_grad(set_to_none=True)
        torch.cuda.synchronize()
        torch.cuda.empty_cache()

    def _capture(self, bucket: Bucket) -> torch.cuda.CUDAGraph:
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, pool=self._pool):
            self._do_step(bucket)
        # Gradients live in the pool; free them for the next capture.
        self._step.optimizer.zero_grad(set_to_none=True)
        return graph


def _make_arrange(
    step: TrainingStep, shards: DeviceShards, bucket: Bucket
) -> Callable[..., tuple[GraphBatch, object]]:
    """Assembly and planning of one bucket.

    It knows nothing of the steps that keep it, so that they, and the memory of their
    graphs, are given back as soon as a training ends.
    """

    def arrange(positions: Tensor, key: Tensor) -> tuple[GraphBatch, object]:
        return step.arrange(shards.assemble(positions, bucket.size), key)

    return arrange


def _tensors(step: TrainingStep) -> list[Tensor]:
    """Parameters and the state of the optimizer, in a fixed order."""
    state = step.optimizer.state
    inner = [
        state[p][name]
        for p in step.parameters
        for name in ("step", "exp_avg", "exp_avg_sq")
        if p in state
    ]
    return [p.data for p in step.parameters] + inner


def _snapshot(step: TrainingStep) -> list[Tensor]:
    return [t.clone() for t in _tensors(step)]


def _restore(step: TrainingStep, saved: list[Tensor]) -> None:
    """Write values back in place, so that captured addresses stay right."""
    tensors = _tensors(step)
    saved += [torch.zeros_like(t) for t in tensors[len(saved) :]]  # fresh optimizer
    for tensor, value in zip(tensors, saved, strict=True):
        tensor.copy_(value)
