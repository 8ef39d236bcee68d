r"""Training of the networks of both representations at once.

Node pairs of the same formula are learnt against node pairs of different ones. For two
graphs of each formula of a batch, a node :math:`i` of the first graph is paired with
the node of largest cosine in the second graph of its own formula, :math:`z^+_j`, and in
that of each of the :math:`N - 1` others, :math:`z^-_k`:

.. math::
    \ell_i = -\log \frac{\exp(\text{sim}(z_i, z_j^+) / \tau)}
        {\sum_{k=1}^{N-1} \exp(\text{sim}(z_i, z_k^-) / \tau)} \quad (2)

    \mathcal{L} = \frac{1}{2} \left(\frac{1}{M^l} \sum_{i=1}^{M^l} \ell_i +
        \frac{1}{M^o} \sum_{i=1}^{M^o} \ell_i\right) \quad (3)

over the :math:`M^l` nodes of layout graphs and the :math:`M^o` of operator graphs. The
positive pair is no part of the denominator, so the loss may fall below 0. If a graph is
the first of several pairings, its :math:`\ell_i` is their mean: all pairings count the
same, as in Figure 3.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from mathamr_kedro.base.ragged import RaggedVectors
from mathamr_kedro.model import multi_positive_info_nce
from mathamr_kedro.model.maxsim import best_products
from mathamr_kedro.systems.formula_rgcn.config import PAIRINGS, RgcnConfig
from mathamr_kedro.systems.formula_rgcn.forest import Forest, Numbers
from mathamr_kedro.systems.formula_rgcn.network import (
    fill_width,
    make_encoders,
    save_encoders,
)
from mathamr_kedro.systems.formula_training import FormulaTraining

_TEMPERATURE = 0.1
"""The τ of Eq. 2, as in the paper."""


class PairLoss(NamedTuple):
    """The loss of a pairing, and the share of nodes whose positive is ranked first."""

    loss: Tensor
    accuracy: Tensor


def compare_graphs(
    first: RaggedVectors[Tensor], second: RaggedVectors[Tensor], temperature: float
) -> PairLoss:
    """Eq. 2, the mean over the nodes of the first graphs; both have the same order."""
    similar = best_products(first, second)  # (nodes, formulas)
    formula = torch.arange(len(first), device=similar.device)
    is_own = first.owners()[:, None] == formula
    loss = multi_positive_info_nce(similar, temperature, is_own, ~is_own)
    others = similar.masked_fill(is_own, -torch.inf).max(1).values
    is_right = similar[is_own] > others
    return PairLoss(loss, is_right.float().mean())


class Batch(NamedTuple):
    """Formulas of a step."""

    rows: Numbers
    draws: Numbers
    """(representations, rows) what chooses their sub-expressions."""


class PairTraining(FormulaTraining[Batch]):
    """One training, of the forests in a folder."""

    name, unit = "formula_rgcn", "formulas"
    measures = ("loss", "accuracy")

    def __init__(self, config: RgcnConfig, prepared: Path, seed: int) -> None:
        self.config = config
        self.forests = {kind: Forest.load(prepared, kind) for kind in config.kinds}
        super().__init__(config, len(next(iter(self.forests.values()))), seed)
        vocabularies = {kind: f.vocabulary for kind, f in self.forests.items()}
        self.encoders = make_encoders(config, vocabularies, seed)
        self.network = nn.ModuleDict(self.encoders)

    def save(self, folder: Path) -> None:
        """Write both networks."""
        save_encoders(self.encoders, folder)

    def cut(
        self, order: Numbers, epoch: int, random: np.random.Generator
    ) -> list[Batch]:
        """Cut formulas into batches; a last one of one formula is skipped."""
        draws = random.random((len(self.forests), self.count))
        size = self.config.batch_size
        parts = [order[a : a + size] for a in range(0, len(order), size)]
        return [Batch(rows, draws[:, rows]) for rows in parts if len(rows) > 1]

    def compute(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """Return the loss of a batch (Eq. 3), and how often the positive is first."""
        pairs = PAIRINGS[self.config.pairs]
        needed = {name for pair in pairs for name in pair}
        graphs: dict[str, RaggedVectors[Tensor]] = {}
        for (kind, forest), own in zip(self.forests.items(), batch.draws, strict=True):
            rows, count = batch.rows, len(batch.rows)
            has_parts = f"{kind}_sub" in needed
            joined = forest.pair(rows, own) if has_parts else forest.assemble(rows)
            vectors = fill_width(self.encoders[kind](joined.to(self.device)))
            ptr = joined.node_ptr.to(self.device).long()
            graphs[kind] = RaggedVectors(vectors, ptr[: count + 1])
            if has_parts:
                graphs[f"{kind}_sub"] = RaggedVectors(vectors, ptr[count:])
        found = [compare_graphs(graphs[a], graphs[b], _TEMPERATURE) for a, b in pairs]
        losses, accuracies = zip(*found, strict=True)
        return torch.stack(losses).mean(), torch.stack(accuracies).mean()
