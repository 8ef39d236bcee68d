"""One training step: augment, encode, compare, learn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from mathamr_kedro.base.parameters import check_range
from mathamr_kedro.base.ragged import RaggedVectors
from mathamr_kedro.graph import GraphBatch
from mathamr_kedro.learning.augmentation import AugmentationConfig, augment
from mathamr_kedro.learning.losses import ContrastiveLoss, LossValue
from mathamr_kedro.learning.processes import Processes
from mathamr_kedro.model import MathAMRPlus

MEASURES = ("loss", "accuracy", "grad_norm", "temperature")
"""What a step returns, in this order."""
_CLIP_NORM = 1.0
"""Norm of all gradients together, at most (Table 4.5)."""


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


def split_pairs(
    batch: GraphBatch, vectors: Tensor, num_queries: int, query_room: int | None = None
) -> tuple[RaggedVectors, RaggedVectors]:
    """Take apart the vectors of a batch: queries first, then all documents.

    Args:
        batch: queries first.
        vectors: (P, k) of its representatives.
        num_queries: how many graphs are queries.
        query_room: vectors of all queries together at most, if the batch has
            a fixed size; asked from the device otherwise.
    """
    ptr = batch.representative_ptr
    room = int(ptr[num_queries]) if query_room is None else query_room
    everything = RaggedVectors(
        vectors,
        ptr[num_queries:],
        {
            "kind": batch.representative_kind,
            "label": batch.representative_label,
            "row": batch.representative_row,
        },
    )
    first = {name: column[:room] for name, column in everything.columns.items()}
    queries = RaggedVectors(vectors[:room], ptr[: num_queries + 1], first)
    return queries, everything


class TrainingStep:
    """The model, the loss and the optimizer, and how they work together."""

    def __init__(
        self,
        model: MathAMRPlus,
        loss: ContrastiveLoss,
        optimizer_config: OptimizerConfig,
        augmentation: AugmentationConfig,
        processes: Processes | None = None,
    ) -> None:
        self.model, self.loss, self.augmentation = model, loss, augmentation
        self.processes = processes or Processes()
        self.parameters = [
            p for m in (model, loss) for p in m.parameters() if p.requires_grad
        ]
        device = self.parameters[0].device
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
        posts = split_pairs(batch, vectors, num_queries, query_room)
        return self.loss(*self.processes.gather_pairs(*posts))

    def learn(
        self,
        batch: GraphBatch,
        graph: Any,
        num_queries: int,
        query_room: int | None = None,
    ) -> Tensor:
        """Do one step on an arranged batch; returns :data:`MEASURES`."""
        value = self.compare(batch, graph, num_queries, query_room)
        self.optimizer.zero_grad(set_to_none=True)
        value.loss.backward()
        self.processes.sum_gradients(
            list(self.model.parameters()), list(self.loss.parameters())
        )
        norm = self.clip()
        temperature = self.loss.temperature.detach()
        self.optimizer.step()
        return torch.stack([value.loss.detach(), value.accuracy, norm, temperature])

    def clip(self) -> Tensor:
        """Clip the gradients; returns their norm before."""
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
