"""Checkpoints with everything that a training needs to resume; history, progress.

::

    out/
      checkpoint.pt   weights, optimizer, step, epoch, best loss, history
      model/          the best model so far (see mathamr_kedro.model.weights)
      history.json    one record per epoch
      training.json   number of pairs, settings
      seals.json      size and checksum of the checkpoint

Files are written atomically: a killed training leaves complete ones.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import torch
from torch import Tensor

from mathamr_kedro.base.checksums import check_file, replace_checked_file
from mathamr_kedro.base.errors import ConfigurationError, MalformedInputError
from mathamr_kedro.base.formatting import format_duration
from mathamr_kedro.base.machines import Machine

logger = logging.getLogger(__name__)

VERSION = 1
CHECKPOINT = "checkpoint.pt"
MODEL = "model"
HISTORY = "history.json"


Record: TypeAlias = Mapping[str, Any]
"""One epoch: values by name."""


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
    """How often the right document was ranked first in its batch."""
    validation_accuracy: float | None
    temperature: float
    """At the last step."""
    learning_rate: float
    """At the last step."""
    grad_norm: float
    """Mean global norm of the gradients before clipping."""
    seconds: float
    pairs_per_second: float
    memory_mib: float
    """Peak so far: reserved on the GPU, or resident on the host."""
    machine: Machine = field(default_factory=Machine)
    """Where this epoch ran; a training may resume elsewhere."""


class Progress(NamedTuple):
    """Progress of a training."""

    epoch: int
    epochs: int
    step: int
    """In this epoch."""
    steps: int
    """Of this epoch."""
    loss: float
    items_per_second: float
    seconds_left: float
    """Until the last epoch; early stopping may end the training before."""
    history: tuple[Record, ...] = ()
    """Records of the finished epochs."""

    def log(self, name: str, unit: str) -> None:
        """Log it as one line: ``name`` is trained, with ``unit`` as items."""
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


def read_checkpoint(path: Path) -> dict[str, Any] | None:
    """Read a checkpoint; ``None`` if there is none. Code in it is not run.

    Raises:
        MalformedInputError: the file is not a checkpoint.
        DamagedFileError: it is not what was written.
    """
    if not path.is_file():
        return None
    check_file(path, "delete it to start again")
    try:
        values: dict[str, Any] = torch.load(path, map_location="cpu", weights_only=True)
        values["made_from"]
    except Exception as exc:
        raise MalformedInputError(
            f"Expected a checkpoint in {str(path)!r} ({exc}); delete it to start again"
        ) from exc
    return values


@dataclass
class TrainingState:
    """State of a training, without the weights."""

    epoch: int = 0
    """Finished epochs."""
    step: int = 0
    """Finished steps of the next epoch."""
    seconds: float = 0.0
    """Time spent in the next epoch so far."""
    best_epoch: int = 0
    best_loss: float = float("inf")
    history: list[dict[str, Any]] = field(default_factory=list)
    measures: Tensor = field(default_factory=lambda: torch.zeros(0, 1))
    """(steps, measures) of the next epoch so far."""

    def is_finished(self, num_epochs: int, patience: int) -> bool:
        """Whether all epochs are done, or ``patience`` is exhausted."""
        if self.step > 0:
            return False
        stale = self.epoch - self.best_epoch
        return self.epoch >= num_epochs or (patience > 0 and stale >= patience)

    def save(self, path: Path, tensors: Mapping[str, Any], made_from: str) -> None:
        """Write a checkpoint atomically, with its checksum."""
        known = {"version": VERSION, "made_from": made_from, "tensors": dict(tensors)}
        values = known | vars(self)
        with replace_checked_file(path) as part, part.open("wb") as file:
            torch.save(values, file)  # a path would leave its name in the bytes

    @classmethod
    def load(
        cls,
        path: Path,
        load_tensors: Callable[[Mapping[str, Any]], None],
        made_from: str,
    ) -> TrainingState | None:
        """Continue from a checkpoint; ``None`` if there is none.

        Raises:
            ConfigurationError: the checkpoint belongs to another training.
            MalformedInputError: the file is not a checkpoint of this version.
            DamagedFileError: it is not what was written.
        """
        values = read_checkpoint(path)
        if values is None:
            return None
        if (version := values.get("version")) != VERSION:
            raise MalformedInputError(
                f"Expected a checkpoint of version {VERSION} in {str(path)!r} "
                f"(got {version!r}); delete it to start again"
            )
        if values["made_from"] != made_from:
            raise ConfigurationError(
                f"Expected the checkpoint in {str(path)!r} to be of the same training; "
                "data or parameters changed: delete it or choose another folder"
            )
        load_tensors(values["tensors"])
        return cls(**{field.name: values[field.name] for field in fields(cls)})
