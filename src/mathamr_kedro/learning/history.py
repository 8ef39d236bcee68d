"""What a training reports: one record per epoch, and its progress in between."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

from mathamr_kedro.base.formatting import format_duration
from mathamr_kedro.base.machines import Machine

logger = logging.getLogger(__name__)

Record: TypeAlias = Mapping[str, Any]
"""One epoch: measures by their names."""


@dataclass(frozen=True)
class EpochRecord:
    """One epoch of MathAMR+."""

    epoch: int
    """From 1."""
    step: int
    """Steps of the training so far."""
    train_loss: float
    """Mean over the steps of the epoch, with augmentation."""
    validation_loss: float | None
    """Without augmentation; ``None`` if no pairs are held out."""
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
    """Where this epoch ran; a stopped training may resume elsewhere."""


class Progress(NamedTuple):
    """How far a training is."""

    epoch: int
    epochs: int
    step: int
    """In this epoch."""
    steps: int
    """Of this epoch."""
    loss: float
    items_per_second: float
    seconds_left: float
    """To the last epoch; early stopping may come before."""
    history: tuple[Record, ...] = ()
    """Of the epochs that have ended."""

    def log(self, name: str, unit: str) -> None:
        """Log one line of self: ``name`` is trained, with ``unit`` as items."""
        speed = self.items_per_second
        logger.info(
            "%s: epoch %d/%d, step %d/%d: loss %.4f, %s %s/s, %s left",
            name,
            self.epoch,
            self.epochs,
            self.step,
            self.steps,
            self.loss,
            f"{speed:,.{0 if speed >= 10 else 1}f}",
            unit,
            format_duration(self.seconds_left),
        )


ProgressCallback: TypeAlias = Callable[[Progress], None]
