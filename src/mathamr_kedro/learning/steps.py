"""Training steps, and how they are launched.

::

    TrainingStep    augment, encode, compare, learn; the optimizer
    make_runner     the fastest way that works here, for all steps of an epoch
    ├── batches from the host, kernel by kernel, on any device
    └── ResidentSteps   batches on the GPU, the whole step one CUDA graph
        └── Buckets         fixed sizes for batches, since a CUDA graph needs them
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from mathamr_kedro.base.parameters import check_range
from mathamr_kedro.base.ragged import RaggedVectors
from mathamr_kedro.graph import BatchSize, DeviceShards, GraphBatch, GraphShards
from mathamr_kedro.learning.augmentation import AugmentationConfig, augment
from mathamr_kedro.learning.encoding import ShardSource
from mathamr_kedro.learning.losses import ContrastiveLoss, LossValue
from mathamr_kedro.learning.pairs import EpochPlan
from mathamr_kedro.model import MathAMRPlus, can_use_triton

logger = logging.getLogger(__name__)

LEVELS = 4
"""Number of buckets, enough for all batches of the first epoch."""
_QUANTILE = 0.5
_GROWTH = (1.015, 1.6)
_MULTIPLE = 64
_WARM_UP = 2

MEASURES = ("loss", "accuracy", "grad_norm", "temperature")
"""Values of a step, in this order."""
_CLIP_NORM = 1.0
"""Maximum global norm of the gradients (Table 4.5)."""


@dataclass(frozen=True)
class OptimizerConfig:
    """AdamW with a cosine schedule; the defaults are Table 4.5's."""

    learning_rate: float = 1e-4
    min_learning_rate: float = 1e-5
    weight_decay: float = 1e-3

    def __post_init__(self) -> None:
        check_range(self, "min_learning_rate", least=0, most=self.learning_rate)
        check_range(self, "weight_decay", least=0)

    def schedule(self, first: int, count: int, total: int) -> NDArray[np.float64]:
        r"""(count,) learning rates of the steps from ``first`` on, of ``total`` steps.

        .. math::
            \eta_t = \eta_{min} + \tfrac{1}{2} (\eta - \eta_{min})
                     \left(1 + \cos\frac{\pi t}{T}\right)

        >>> config = OptimizerConfig(learning_rate=1.0, min_learning_rate=0.0)
        >>> config.schedule(0, 5, 5).round(3).tolist()
        [1.0, 0.854, 0.5, 0.146, 0.0]
        """
        low, high = self.min_learning_rate, self.learning_rate
        share = np.arange(first, first + count) / max(total - 1, 1)
        return low + 0.5 * (high - low) * (1 + np.cos(np.pi * np.minimum(share, 1.0)))


def list_vectors(batch: GraphBatch, vectors: Tensor) -> RaggedVectors:
    """Return the vectors of a batch by graph, with the columns that the loss reads."""
    columns = {
        "kind": batch.representative_kind,
        "label": batch.representative_label,
        "row": batch.representative_row,
    }
    return RaggedVectors(vectors, batch.representative_ptr, columns)


def split_pairs(
    batch: GraphBatch, vectors: Tensor, num_queries: int, query_room: int | None = None
) -> tuple[RaggedVectors, RaggedVectors]:
    """Split the vectors of a batch into those of queries and of documents."""
    posts = list_vectors(batch, vectors)
    room = int(posts.ptr[num_queries]) if query_room is None else query_room
    first = {name: column[:room] for name, column in posts.columns.items()}
    queries = RaggedVectors(vectors[:room], posts.ptr[: num_queries + 1], first)
    return queries, replace(posts, ptr=posts.ptr[num_queries:])


class TrainingStep:
    """One step of training: model, loss and optimizer."""

    def __init__(
        self,
        model: MathAMRPlus,
        loss: ContrastiveLoss,
        optimizer_config: OptimizerConfig,
        augmentation: AugmentationConfig,
    ) -> None:
        self.model, self.loss, self.augmentation = model, loss, augmentation
        self.parameters = [
            p for m in (model, loss) for p in m.parameters() if p.requires_grad
        ]
        device = self.parameters[0].device
        # A tensor, as a captured graph reads its value at each replay; it would keep
        # that of a float.
        self.learning_rate = torch.tensor(
            optimizer_config.learning_rate, device=device, dtype=torch.float32
        )
        self.optimizer = torch.optim.AdamW(
            self.parameters,
            lr=self.learning_rate,
            weight_decay=optimizer_config.weight_decay,
            fused=True,
            capturable=device.type == "cuda",
        )

    def arrange(self, batch: GraphBatch, key: Tensor) -> tuple[GraphBatch, Any]:
        """Augment a batch and prepare it for the backend."""
        batch, keep = augment(batch, self.augmentation, key)
        return batch, self.model.prepare(batch, keep)

    def compare(
        self, batch: GraphBatch, graph: Any, num_queries: int, query_room: int | None
    ) -> LossValue:
        """Encode an arranged batch and compute its loss."""
        vectors = self.model.encode(batch, graph)
        return self.loss(*split_pairs(batch, vectors, num_queries, query_room))

    def learn(
        self,
        batch: GraphBatch,
        graph: Any,
        num_queries: int,
        query_room: int | None = None,
    ) -> Tensor:
        """Run one step on an arranged batch; return :data:`MEASURES`."""
        value = self.compare(batch, graph, num_queries, query_room)
        self.optimizer.zero_grad(set_to_none=True)
        value.loss.backward()
        norm = self.clip()
        temperature = self.loss.temperature.detach()
        self.optimizer.step()
        return torch.stack([value.loss.detach(), value.accuracy, norm, temperature])

    def clip(self) -> Tensor:
        """Clip the gradients; return their norm before."""
        return nn.utils.clip_grad_norm_(self.parameters, _CLIP_NORM)

    def run(self, batch: GraphBatch, key: int, num_queries: int) -> Tensor:
        """Augment a batch of any size and learn from it."""
        device = batch.node_type.device
        arranged = self.arrange(batch, torch.tensor(key, device=device))
        return self.learn(*arranged, num_queries)

    def export_state(self) -> dict[str, Any]:
        """Weights and the state of the optimizer, on the CPU."""
        state = self.optimizer.state
        return {
            "model": _copy_to_cpu(self.model.state_dict()),
            "loss": _copy_to_cpu(self.loss.state_dict()),
            "optimizer": [_copy_to_cpu(state.get(p, {})) for p in self.parameters],
        }

    def import_state(self, values: Mapping[str, Any]) -> None:
        """Continue from an exported state, before any step was captured."""
        self.model.load_state_dict(values["model"])
        self.loss.load_state_dict(values["loss"])
        for p, state in zip(self.parameters, values["optimizer"], strict=True):
            self.optimizer.state[p] = {n: v.to(p.device) for n, v in state.items()}


def _copy_to_cpu(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    return {name: t.detach().cpu().clone() for name, t in tensors.items()}


class Bucket(NamedTuple):
    """Fixed size of one batch."""

    level: int
    size: BatchSize
    query_room: int
    """Number of vectors of all queries."""


class Buckets:
    """Fixed sizes for batches of random graphs, and the choice for each batch.

    A captured CUDA graph needs fixed shapes. Half of the batches fit into the first
    bucket, and a few more, each some percent larger, take the rest. The more graphs a
    batch has, the less batches differ, and the closer buckets are: padding costs time.
    Buckets depend only on the data and the batches, so a resumed training has the same
    ones.
    """

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
        """(batches, 6) sizes of batches, and the number of vectors of their queries."""
        whole = self._shards.measure(batches)
        queries = self._shards.measure(batches[:, : self.num_queries])
        return np.concatenate([whole, queries[:, -1:]], 1)

    def choose(self, batches: NDArray[Any]) -> list[Bucket]:
        """The smallest bucket that each batch fits into."""
        ratio = (self._measure(batches) / np.maximum(self._base, 1)).max(1)
        # Less the rounding of logarithms: a batch of exactly a bucket's size fits into
        # it.
        level = np.ceil(np.log(np.maximum(ratio, 1)) / np.log(self._growth) - 1e-9)
        return [self.bucket(int(k)) for k in level]

    def bucket(self, level: int) -> Bucket:
        """The bucket of one level."""
        room = np.ceil(self._base * self._growth**level / _MULTIPLE) + 1
        sizes = (room * _MULTIPLE).astype(int).tolist()
        return Bucket(level, BatchSize(*sizes[:-1]), sizes[-1])


class ResidentSteps:
    """Runs the steps of an epoch on data that is on the device.

    ::

        steps.load_epoch(positions, keys, rates)   # a row of each per step
        for i in range(len(keys)):
            steps.run(i)
        measures = steps.measures(len(keys))

    A step at batch size 32 is some hundred kernels of a few microseconds each;
    launching them one by one takes longer than running them. A CUDA graph launches all
    at once: assembly, augmentation, both passes, clipping and AdamW. Compiling assembly
    and planning first (``torch.compile``) fuses many of those kernels.

    All graphs share one pool of memory. The largest is captured first, so the others
    fit into its memory. Warm-ups come before, and return their memory to the device
    before the pool takes any.

    Args:
        step: what is run.
        shards: on the device.
        buckets: sizes of the batches.
        capture: whether steps become CUDA graphs.
        compile_plan: whether assembly and planning are compiled.
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
        """Copy the inputs of an epoch to the device, a row for each step."""
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
        """Capture missing graphs; return whether that worked.

        Weights, optimizer and measures are restored afterwards.
        """
        # Warm-ups and captures are real steps, which the training must not notice.
        saved = [tensor.clone() for tensor in _tensors(self._step)]
        measures = self._measures.clone()
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
        # Reversed, so that the first step of each level remains.
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
        """Compile the steps of a bucket; return all memory to the device."""
        # PyTorch asks for warm-ups on another stream before a capture.
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

    It does not refer to its :class:`ResidentSteps`, so that their graphs' memory is
    freed as soon as a training ends.
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


def _restore(step: TrainingStep, saved: list[Tensor]) -> None:
    """Restore values in place, so that captured addresses stay valid."""
    tensors = _tensors(step)
    saved += [torch.zeros_like(t) for t in tensors[len(saved) :]]  # fresh optimizer
    for tensor, value in zip(tensors, saved, strict=True):
        tensor.copy_(value)


def make_runner(
    step: TrainingStep, source: ShardSource, plan: EpochPlan
) -> ResidentSteps | HostSteps:
    """Return the fastest runner that works on this machine."""
    obstacle = _find_obstacle(step, source)
    if obstacle is None and source.on_device is not None:
        # Always from the first epoch, so that a training that resumes agrees.
        buckets = Buckets(source.shards, plan.epoch(0), plan.batch_size)
        on_device = source.on_device
        return ResidentSteps(step, on_device, buckets, capture=True, compile_plan=True)
    if step.learning_rate.device.type == "cuda":
        logger.warning("steps are not captured: that needs %s", obstacle)
    return HostSteps(step, source.shards, plan.batch_size)


def _find_obstacle(step: TrainingStep, source: ShardSource) -> str | None:
    """Return an unmet requirement of captured steps, if any."""
    device, model = step.learning_rate.device, step.model
    needs = {
        "a CUDA device": device.type == "cuda",
        "the Triton backend": model.backend.name == "triton",
        "a projection_dim that Triton knows": device.type != "cuda"
        or can_use_triton(device, model.config.projection_dim),
        "graphs that fit on the GPU": source.on_device is not None,
    }
    return next((name for name, is_met in needs.items() if not is_met), None)


class HostSteps:
    """Runs the steps of an epoch, one kernel after another."""

    def __init__(
        self, step: TrainingStep, shards: GraphShards, num_queries: int
    ) -> None:
        self._step, self._shards, self._num_queries = step, shards, num_queries
        self._device = step.learning_rate.device

    def load_epoch(self, positions: NDArray[Any], keys: Tensor, rates: Tensor) -> None:
        """Keep the inputs of an epoch, a row for each step."""
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
