"""What a training reports: one record per epoch, and its progress in between."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from mathamr_kedro.base.formatting import format_duration
from mathamr_kedro.base.machines import Machine

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class EpochRecord:
    """One epoch."""

    epoch: int
    """From 1."""
    step: int
    """Steps of the training so far."""
    train_loss: float
    """Mean over the steps of the epoch, with augmentation."""
    validation_loss: float | None
    """Without augmentation; ``None`` where no pairs are held out."""
    accuracy: float
    """How often the right document came first among those of the batch."""
    validation_accuracy: float | None
    temperature: float
    """At the last step."""
    learning_rate: float
    """At the last step."""
    grad_norm: float
    """Mean norm of all gradients together, before clipping."""
    seconds: float
    pairs_per_second: float
    memory_mib: float
    """Largest so far: reserved on the GPU, or resident on the host."""
    machine: Machine = field(default_factory=Machine)
    """Where this epoch ran; a stopped training may go on elsewhere."""

    @property
    def watched(self) -> float:
        """What early stopping looks at."""
        held_out = self.validation_loss
        return self.train_loss if held_out is None else held_out


class Progress(NamedTuple):
    """Where a training stands."""

    epoch: int
    epochs: int
    step: int
    """In this epoch."""
    steps: int
    """Of this epoch."""
    loss: float
    pairs_per_second: float
    seconds_left: float
    """To the last epoch; early stopping may come before."""
    history: tuple[EpochRecord, ...] = ()
    """Of the epochs that have ended."""

    @classmethod
    def of_ended_epoch(
        cls, history: Sequence[EpochRecord], epochs: int, steps: int
    ) -> Progress:
        """Return where a training stands after an epoch."""
        last = history[-1]
        left = (epochs - last.epoch) * last.seconds
        return cls(
            last.epoch, epochs, steps, steps, last.train_loss,
            last.pairs_per_second, left, tuple(history),
        )  # fmt: skip

    def log(self) -> None:
        """Log one line of self."""
        logger.info(
            "epoch %d/%d, step %d/%d: loss %.4f, %s pairs/s, %s left",
            self.epoch,
            self.epochs,
            self.step,
            self.steps,
            self.loss,
            f"{self.pairs_per_second:,.{0 if self.pairs_per_second >= 10 else 1}f}",
            format_duration(self.seconds_left),
        )


ProgressCallback: TypeAlias = Callable[[Progress], None]
