"""Contrastive training of a network over prepared formulas, of any system.

What a step sees follows from the seed, the epoch and the step only: a stopped training
resumes to the same weights.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeAlias, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from mathamr_kedro.base.checksums import checksum, remove_checked_file
from mathamr_kedro.base.errors import TrainingError
from mathamr_kedro.base.machines import Machine
from mathamr_kedro.base.parameters import check_range
from mathamr_kedro.learning.checkpoints import CHECKPOINT
from mathamr_kedro.learning.loop import VALIDATION_LOSS, ModuleLearner, Training
from mathamr_kedro.model import current_compute
from mathamr_kedro.systems.base import Epochs

Batch = TypeVar("Batch")

Rows: TypeAlias = NDArray[np.int64]

_HELD_OUT, _MOST_HELD_OUT = 0.05, 2560
"""Share, and greatest number, of the formulas that say when to stop."""


@dataclass(frozen=True)
class FormulaTrainingConfig:
    """How long, how fast and on what a network is trained."""

    batch_size: int = 256
    """Formulas of a step: the others are the negatives of each."""
    num_epochs: int = 5
    """0: random weights, to compare with."""
    learning_rate: float = 3e-4
    patience: int = 0
    """Epochs without a lower loss of held-out formulas before training ends, with the
    best epoch; 0: learn from all of them, ``num_epochs`` times."""
    max_formulas: int = 0
    """Different formulas to learn from, a random sample; 0: all of the collection."""

    def __post_init__(self) -> None:
        check_range(self, "max_formulas", "patience", "num_epochs", least=0)
        check_range(self, "batch_size", least=2)
        check_range(self, "learning_rate", above=0)


class FormulaTraining(ABC, Generic[Batch]):
    """One training; a subclass cuts batches, computes their loss and writes weights.

    Raises:
        TrainingError: there are fewer than two formulas.
    """

    name: ClassVar[str]
    unit: ClassVar[str]
    """What the rows are: formulas, graphs."""
    measures: ClassVar[tuple[str, ...]] = ("loss",)
    network: nn.Module

    def __init__(self, config: FormulaTrainingConfig, count: int, seed: int) -> None:
        if count < 2:
            raise TrainingError(
                f"Expected at least 2 {self.unit} to train {self.name} (got {count}): "
                "each is the negative of others; take a larger collection"
            )
        self.count, self._seed, self._config = count, seed, config
        held_out = min(max(2, round(count * _HELD_OUT)), _MOST_HELD_OUT)
        number = held_out if config.patience else 0
        rows = np.random.default_rng([seed, count]).permutation(count)
        self._rows, self._held_out = np.sort(rows[number:]), np.sort(rows[:number])
        self.device: torch.device = current_compute().choose_device()

    @abstractmethod
    def cut(self, order: Rows, epoch: int, random: np.random.Generator) -> list[Batch]:
        """Cut rows, in their order, into batches."""

    @abstractmethod
    def compute(self, batch: Batch) -> Sequence[Tensor]:
        """Return the loss of a batch, and further measures."""

    @abstractmethod
    def save(self, folder: Path) -> None:
        """Write the weights, and what they are read with."""

    def draw_batches(self, epoch: int) -> list[Batch]:
        """Return the batches of an epoch."""
        random = np.random.default_rng([self._seed, epoch])
        return self.cut(random.permutation(self._rows), epoch, random)

    def run(self, folder: Path) -> Epochs:
        """Train, or resume; leave the weights in a folder and return the history."""
        config, network = self._config, self.network.to(self.device)
        learner: ModuleLearner[Any] = ModuleLearner(
            name=self.name,
            module=network,
            optimizer=torch.optim.Adam(network.parameters(), config.learning_rate),
            draw_batches=self.draw_batches,
            compute=self.compute,
            measures=self.measures,
            validate=self._validate if len(self._held_out) else None,
            keep_best=partial(self.save, folder),
            facts={
                self.unit: self.count,
                "machine": asdict(Machine.find(str(self.device))),
            },
            batch_size=config.batch_size,
            unit=self.unit,
        )
        made_from = checksum(asdict(config), self._seed, self.count)
        checkpoint = folder / CHECKPOINT
        history = Training(
            learner, checkpoint, made_from, config.num_epochs, config.patience
        ).run()
        if not history:
            self.save(folder)
        remove_checked_file(checkpoint)
        return history

    def _validate(self) -> dict[str, float]:
        """Return the loss of formulas that are not learnt from, always cut alike."""
        batches = self.cut(self._held_out, 0, np.random.default_rng(self._seed))
        losses = [float(self.compute(batch)[0]) for batch in batches]
        return {VALIDATION_LOSS: float(np.mean(losses))}
