r"""Contrastive training of StructEmb, from a table of graphs to weights.

The loss of N pairs of views :math:`z_i, z'_i` is InfoNCE in both directions:

.. math::
    L = -\frac{1}{2N} \sum_{i=1}^{N} \Big(
        \log \frac{\exp(\cos(z_i, z'_i) / \tau)}{\sum_j \exp(\cos(z_i, z'_j) / \tau)} +
        \log \frac{\exp(\cos(z_i, z'_i) / \tau)}{\sum_j \exp(\cos(z_j, z'_i) / \tau)}
        \Big)

Order and views of an epoch follow from the seed, the epoch and the step only: a stopped
training resumes to the same weights.
"""

from __future__ import annotations

import shutil
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812
from numpy.typing import NDArray
from torch import Tensor

from mathamr_kedro.base.checksums import checksum
from mathamr_kedro.base.errors import ConfigurationError
from mathamr_kedro.base.machines import Machine
from mathamr_kedro.learning.checkpoints import CHECKPOINT
from mathamr_kedro.learning.loop import VALIDATION_LOSS, ModuleLearner, Training
from mathamr_kedro.model import current_compute, info_nce
from mathamr_kedro.systems.base import Epochs
from mathamr_kedro.systems.folds import hold_out
from mathamr_kedro.systems.ssemb.graphs import (
    Draws,
    GraphBatch,
    GraphTable,
    make_view,
    read_labels,
)
from mathamr_kedro.systems.ssemb.network import StructureEncoder
from mathamr_kedro.systems.weights import save_weights

if TYPE_CHECKING:
    from mathamr_kedro.systems.ssemb.system import StructureConfig

GRAPHS, LABELS, WEIGHTS = "graphs.arrays", "labels.json", "weights.arrays"
_TEMPERATURE = 0.2
"""The paper names none, GraphCL has 0.2."""


class Batch(NamedTuple):
    """Graphs of a step."""

    rows: NDArray[np.int64]
    seed: int
    """Of both views."""


class StructureTraining:
    """One training, of the graphs in a folder.

    Raises:
        ConfigurationError: there are fewer than two graphs.
    """

    def __init__(self, config: StructureConfig, prepared: Path, seed: int) -> None:
        self.config, self._seed = config, seed
        self.table = GraphTable.read(prepared / GRAPHS)
        self._labels = prepared / LABELS
        self._count = len(read_labels(self._labels))
        if len(self.table) < 2:
            raise ConfigurationError(
                "Expected at least 2 graphs to train ssemb (got "
                f"{len(self.table)}); take a larger collection"
            )
        self._rows, self._held_out = hold_out(len(self.table), config.patience, seed)
        torch.manual_seed(seed)
        self.device = current_compute().choose_device()
        self.model = StructureEncoder(config.dimension, self._count).to(self.device)

    def run(self, folder: Path) -> Epochs:
        """Train, or resume; leave the weights in a folder and return the history."""
        config, table = self.config, self.table
        learner = ModuleLearner(
            name="ssemb",
            module=self.model,
            optimizer=torch.optim.Adam(self.model.parameters(), config.learning_rate),
            draw_batches=self.draw_batches,
            compute=self.compute,
            validate=self._validate if len(self._held_out) else None,
            keep_best=partial(save_weights, self.model, folder / WEIGHTS),
            facts={
                "graphs": len(table),
                "machine": asdict(Machine.find(str(self.device))),
            },
            batch_size=config.batch_size,
            unit="graphs",
        )
        sizes = [len(table), len(table.labels), self._count]
        made_from = checksum(asdict(config), self._seed, sizes)
        checkpoint = folder / CHECKPOINT
        shutil.copyfile(self._labels, folder / LABELS)
        history = Training(
            learner, checkpoint, made_from, config.num_epochs, config.patience
        ).run()
        checkpoint.unlink(missing_ok=True)
        return [dict(record) for record in history]

    def draw_batches(self, epoch: int) -> list[Batch]:
        """Return the batches of an epoch, of nearly equal size."""
        chance = np.random.default_rng([self._seed, epoch])
        return self._cut(chance.permutation(self._rows), epoch)

    def _cut(self, order: NDArray[np.int64], epoch: int) -> list[Batch]:
        number = max(1, round(len(order) / self.config.batch_size))
        return [
            Batch(rows, _mix(self._seed, epoch, step))
            for step, rows in enumerate(np.array_split(order, number))
        ]

    def _validate(self) -> dict[str, float]:
        """Return the loss of formulas that are not learnt from, in the same views."""
        losses = [float(self.compute(b)) for b in self._cut(self._held_out, 0)]
        return {VALIDATION_LOSS: float(np.mean(losses))}

    def compute(self, batch: Batch) -> Tensor:
        """Return the loss of a batch."""
        chance = torch.Generator().manual_seed(batch.seed)
        graphs = self.table.take(batch.rows).to(self.device)
        first, second = (self._encode_view(graphs, chance) for _ in range(2))
        return compare_views(first, second)

    def _encode_view(self, graphs: GraphBatch, chance: torch.Generator) -> Tensor:
        settings = self.config.augmentation
        draws = Draws.draw(graphs, len(settings.substitution), chance)
        vectors: Tensor = self.model.head(
            self.model(make_view(graphs, settings, draws))
        )
        return vectors


def compare_views(
    first: Tensor, second: Tensor, temperature: float = _TEMPERATURE
) -> Tensor:
    """Return the loss of (N, k) views; row i of both is the same formula."""
    scores = F.normalize(first, dim=1) @ F.normalize(second, dim=1).T
    return info_nce(scores, temperature, symmetric=True)


def _mix(seed: int, epoch: int, step: int) -> int:
    """Return a seed of its own for every step."""
    return int(np.random.SeedSequence([seed, epoch, step]).generate_state(1)[0])
