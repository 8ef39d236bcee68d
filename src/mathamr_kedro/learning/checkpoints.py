"""Checkpoints: everything that a training needs to resume to the same weights.

::

    out/
      checkpoint.pt   weights, optimizer, step, epoch, best loss, history
      model/          the best model so far (see mathamr_kedro.model.weights)
      history.json    one record per epoch
      training.json   number of pairs, settings
      seals.json      size and checksum of the checkpoint

Files are written beside their place and renamed: a killed training leaves whole ones.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from mathamr_kedro.base.checksums import check_file, replace_checked_file
from mathamr_kedro.base.errors import ConfigurationError, MalformedInputError
from mathamr_kedro.learning.history import Record

VERSION = 1
CHECKPOINT = "checkpoint.pt"
MODEL = "model"
HISTORY = "history.json"


def read_checkpoint(path: Path) -> dict[str, Any] | None:
    """Read a checkpoint; ``None`` if there is none. Code that it holds is not run.

    Raises:
        MalformedInputError: the file is no checkpoint.
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
    """How far a training is; everything but the weights."""

    epoch: int = 0
    """Epochs that are done."""
    step: int = 0
    """Steps that are done of the next epoch."""
    seconds: float = 0.0
    """Time spent in the next epoch so far."""
    best_epoch: int = 0
    best_loss: float = float("inf")
    history: list[Record] = field(default_factory=list)
    measures: Tensor = field(default_factory=lambda: torch.zeros(0, 1))
    """(steps, measures) of the next epoch so far."""

    def is_finished(self, num_epochs: int, patience: int) -> bool:
        """Whether all epochs are done, or the last ones brought nothing."""
        if self.step > 0:
            return False
        stale = self.epoch - self.best_epoch
        return self.epoch >= num_epochs or (patience > 0 and stale >= patience)

    def save(self, path: Path, tensors: Mapping[str, Any], made_from: str) -> None:
        """Write a checkpoint atomically, with its checksum.

        Args:
            path: its file.
            tensors: weights and the state of the optimizer.
            made_from: says which training it belongs to.
        """
        values = {
            "version": VERSION,
            "made_from": made_from,
            "epoch": self.epoch,
            "step": self.step,
            "seconds": self.seconds,
            "best_epoch": self.best_epoch,
            "best_loss": self.best_loss,
            "history": [dict(record) for record in self.history],
            "measures": self.measures,
            "tensors": dict(tensors),
        }
        with replace_checked_file(path) as part, part.open("wb") as file:
            torch.save(values, file)  # a path would leave its name in the bytes

    @classmethod
    def load(
        cls,
        path: Path,
        take_over: Callable[[Mapping[str, Any]], None],
        made_from: str,
    ) -> TrainingState | None:
        """Continue from a checkpoint; ``None`` if there is none.

        Args:
            path: its file.
            take_over: is given the tensors.
            made_from: says which training it must belong to.

        Raises:
            ConfigurationError: the checkpoint belongs to another training.
            MalformedInputError: the file is no checkpoint of this version.
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
        take_over(values["tensors"])
        names = ("epoch", "step", "seconds", "best_epoch", "best_loss", "history")
        known = {name: values[name] for name in names}
        return cls(measures=values["measures"], **known)
