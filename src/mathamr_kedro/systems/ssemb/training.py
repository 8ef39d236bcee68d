r"""Contrastive training of StructEmb, from a table of graphs to weights.

The loss of N pairs of views :math:`z_i, z'_i` is InfoNCE in both directions:

.. math::
    L = -\frac{1}{2N} \sum_{i=1}^{N} \Big(
        \log \frac{\exp(\cos(z_i, z'_i) / \tau)}{\sum_j \exp(\cos(z_i, z'_j) / \tau)} +
        \log \frac{\exp(\cos(z_i, z'_i) / \tau)}{\sum_j \exp(\cos(z_j, z'_i) / \tau)}
        \Big)
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812
from numpy.typing import NDArray
from torch import Tensor

from mathamr_kedro.model import info_nce
from mathamr_kedro.systems.formula_training import FormulaTraining
from mathamr_kedro.systems.ssemb.graphs import (
    Draws,
    GraphTable,
    make_view,
    read_labels,
)
from mathamr_kedro.systems.ssemb.network import StructureEncoder
from mathamr_kedro.systems.weights import save_weights

if TYPE_CHECKING:
    from mathamr_kedro.systems.ssemb.config import StructureConfig

GRAPHS, LABELS, WEIGHTS = "graphs.arrays", "labels.json", "weights.arrays"
_TEMPERATURE = 0.2
"""The paper names none, GraphCL has 0.2."""


class Batch(NamedTuple):
    """Graphs of a step."""

    rows: NDArray[np.int64]
    seed: int
    """Of both views."""


class StructureTraining(FormulaTraining[Batch]):
    """One training, of the graphs in a folder."""

    name, unit = "ssemb", "graphs"
    network: StructureEncoder

    def __init__(self, config: StructureConfig, prepared: Path, seed: int) -> None:
        self.config, self.table = config, GraphTable.read(prepared / GRAPHS)
        self._labels = read_labels(prepared / LABELS)
        super().__init__(config, len(self.table), seed)
        torch.manual_seed(seed)
        self.network = StructureEncoder(config.dimension, len(self._labels))

    def save(self, folder: Path) -> None:
        """Write the network and its labels."""
        self._labels.save(folder / LABELS)
        save_weights(self.network, folder / WEIGHTS)

    def cut(
        self, order: NDArray[np.int64], epoch: int, random: np.random.Generator
    ) -> list[Batch]:
        """Cut graphs into batches of nearly equal size, a seed for each."""
        number = max(1, round(len(order) / self.config.batch_size))
        return [
            Batch(rows, _mix(self._seed, epoch, step))
            for step, rows in enumerate(np.array_split(order, number))
        ]

    def compute(self, batch: Batch) -> tuple[Tensor]:
        """Return the loss of a batch."""
        chance = torch.Generator().manual_seed(batch.seed)
        graphs = self.table.take(batch.rows).to(self.device)
        settings = self.config.augmentation
        views = []
        for _ in range(2):
            draws = Draws.draw(graphs, len(settings.substitution), chance)
            vectors = self.network(make_view(graphs, settings, draws))
            views.append(self.network.head(vectors))
        return (compare_views(*views),)


def compare_views(
    first: Tensor, second: Tensor, temperature: float = _TEMPERATURE
) -> Tensor:
    """Return the loss of (N, k) views; row i of both is the same formula."""
    scores = F.normalize(first, dim=1) @ F.normalize(second, dim=1).T
    return info_nce(scores, temperature, symmetric=True)


def _mix(seed: int, epoch: int, step: int) -> int:
    """Return a seed of its own for every step."""
    return int(np.random.SeedSequence([seed, epoch, step]).generate_state(1)[0])
