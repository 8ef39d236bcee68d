"""Training of the networks of both representations at once.

What a step sees follows from the seed, the epoch and the step only: a stopped training
resumes to the same weights.
"""

from __future__ import annotations

from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.optim import Adam

from mathamr_kedro.base.checksums import checksum
from mathamr_kedro.base.errors import TrainingError
from mathamr_kedro.base.ragged import RaggedVectors
from mathamr_kedro.learning.checkpoints import CHECKPOINT
from mathamr_kedro.learning.loop import VALIDATION_LOSS, ModuleLearner, Training
from mathamr_kedro.model import current_compute
from mathamr_kedro.systems.base import Epochs
from mathamr_kedro.systems.folds import hold_out
from mathamr_kedro.systems.formula_rgcn.config import PAIRINGS, RgcnConfig
from mathamr_kedro.systems.formula_rgcn.forest import Forest, Numbers
from mathamr_kedro.systems.formula_rgcn.losses import compare_graphs
from mathamr_kedro.systems.formula_rgcn.network import (
    fill_width,
    make_encoders,
    save_encoders,
)

_TEMPERATURE = 0.1
"""The τ of Eq. 2, as in the paper."""


class Batch(NamedTuple):
    """Formulas of a step."""

    rows: Numbers
    draws: Numbers
    """(representations, rows) what chooses their sub-expressions."""


class PairTraining:
    """One training.

    Args:
        config: what is trained.
        prepared: folder of the forests.
        seed: decides the first weights, the batches and the sub-expressions.

    Raises:
        TrainingError: there are fewer than two formulas.
    """

    def __init__(self, config: RgcnConfig, prepared: Path, seed: int) -> None:
        self.config, self._seed = config, seed
        self.forests = {kind: Forest.load(prepared, kind) for kind in config.kinds}
        self.count = len(next(iter(self.forests.values())))
        if self.count < 2:
            raise TrainingError(
                f"Expected at least two formulas with trees in {str(prepared)!r} (got "
                f"{self.count}); the others are its negatives"
            )
        self._rows, self._held_out = hold_out(self.count, config.patience, seed)
        vocabularies = {kind: f.vocabulary for kind, f in self.forests.items()}
        self.encoders = make_encoders(config, vocabularies, seed)
        self.device = current_compute().choose_device()

    def run(self, folder: Path) -> Epochs:
        """Train, or resume, with checkpoint and weights in a folder."""
        config = self.config
        networks = nn.ModuleDict(self.encoders).to(self.device)
        learner = ModuleLearner(
            name="formula_rgcn",
            module=networks,
            optimizer=Adam(networks.parameters(), lr=config.learning_rate),
            draw_batches=self.draw_batches,
            compute=self.compare,
            measures=("loss", "accuracy"),
            validate=self._validate if len(self._held_out) else None,
            keep_best=partial(save_encoders, self.encoders, folder),
            facts={"formulas": self.count},
            batch_size=config.batch_size,
            unit="formulas",
        )
        made_from = checksum(asdict(config), self._seed, self.count)
        checkpoint = folder / CHECKPOINT
        history = Training(
            learner, checkpoint, made_from, config.num_epochs, config.patience
        ).run()
        if not history:  # random weights, to compare with
            save_encoders(self.encoders, folder)
        checkpoint.unlink(missing_ok=True)
        return [dict(record) for record in history]

    def draw_batches(self, epoch: int) -> list[Batch]:
        """Return the batches of an epoch; a last batch of one formula is skipped."""
        random = np.random.default_rng([self._seed, epoch])
        return self._cut(random.permutation(self._rows), random)

    def _cut(self, order: Numbers, random: np.random.Generator) -> list[Batch]:
        draws = random.random((len(self.forests), self.count))
        size = self.config.batch_size
        parts = [order[a : a + size] for a in range(0, len(order), size)]
        return [Batch(rows, draws[:, rows]) for rows in parts if len(rows) > 1]

    def _validate(self) -> dict[str, float]:
        """Return the loss of formulas that are not learnt from, always cut alike."""
        batches = self._cut(self._held_out, np.random.default_rng(self._seed))
        losses = [float(self.compare(batch)[0]) for batch in batches]
        return {VALIDATION_LOSS: float(np.mean(losses))}

    def compare(self, batch: Batch) -> tuple[Tensor, Tensor]:
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
