"""What a training tells: one record per epoch, and its progress in between."""

from __future__ import annotations

import json
import logging
import resource
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NamedTuple, TypeAlias

import torch

from mathamr_kedro.files import write_text

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


ProgressCallback: TypeAlias = Callable[[Progress], None]


def log_progress(progress: Progress) -> None:
    """Log one line of progress."""
    logger.info(
        "epoch %d/%d, step %d/%d: loss %.4f, %s pairs/s, %s left",
        progress.epoch,
        progress.epochs,
        progress.step,
        progress.steps,
        progress.loss,
        f"{progress.pairs_per_second:,.0f}",
        format_duration(progress.seconds_left),
    )


def format_duration(seconds: float) -> str:
    """Say a duration for a person.

    >>> [format_duration(s) for s in (8, 150, 9000)]
    ['8 s', '2 min 30 s', '2 h 30 min']
    """
    minutes, rest = divmod(round(seconds), 60)
    if minutes == 0:
        return f"{rest} s"
    if minutes < 60:
        return f"{minutes} min {rest} s"
    return f"{minutes // 60} h {minutes % 60} min"


def write_history(path: Path, records: Sequence[EpochRecord]) -> None:
    """Write all records as a JSON list; the file is replaced whole."""
    text = json.dumps([asdict(r) for r in records], indent=2) + "\n"
    write_text(path, text)


def write_facts(path: Path, facts: Mapping[str, object]) -> None:
    """Write what a training was given, for people and for the card of its encoder."""
    text = json.dumps(facts, indent=2) + "\n"
    write_text(path, text)


def largest_memory(device: torch.device) -> float:
    """Most memory of this process so far in MiB, on the device or on the host."""
    if device.type == "cuda":
        return torch.cuda.max_memory_reserved(device) / 2**20
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10
