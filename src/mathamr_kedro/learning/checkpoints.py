"""Checkpoints: everything that a training needs to go on to the same weights.

::

    out/
      checkpoint.pt   weights, optimizer, step, epoch, best loss, history
      model/          the best model so far (see mathamr_kedro.model.weights)
      history.json    one record per epoch
      training.json   number of pairs, settings
      seals.json      size and digest of the checkpoint

Files are written beside their place and renamed: a killed training leaves whole ones.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path

import torch
from torch import Tensor

from mathamr_kedro.errors import ConfigurationError, MalformedInputError
from mathamr_kedro.learning.history import EpochRecord
from mathamr_kedro.learning.steps import MEASURES, TrainingStep
from mathamr_kedro.parameters import read_parameters
from mathamr_kedro.sealing import check_sealed, replace_sealed

VERSION = 1
CHECKPOINT = "checkpoint.pt"


@dataclass
class TrainingState:
    """Where a training stands, beside the weights."""

    epoch: int = 0
    """Epochs that are done."""
    step: int = 0
    """Steps that are done of the next epoch."""
    seconds: float = 0.0
    """Time spent in the next epoch so far."""
    best_epoch: int = 0
    best_loss: float = float("inf")
    history: list[EpochRecord] = field(default_factory=list)
    measures: Tensor = field(default_factory=lambda: torch.zeros(0, len(MEASURES)))
    """(steps, measures) of the next epoch so far."""

    def is_finished(self, num_epochs: int, patience: int) -> bool:
        """Whether all epochs are done, or the last ones brought nothing."""
        if self.step > 0:
            return False
        stale = self.epoch - self.best_epoch
        return self.epoch >= num_epochs or (patience > 0 and stale >= patience)

    def save(self, folder: Path, step: TrainingStep, made_from: str) -> None:
        """Write a checkpoint; ``made_from`` says which training it belongs to."""
        values = {
            "version": VERSION,
            "made_from": made_from,
            "epoch": self.epoch,
            "step": self.step,
            "seconds": self.seconds,
            "best_epoch": self.best_epoch,
            "best_loss": self.best_loss,
            "history": [asdict(record) for record in self.history],
            "measures": self.measures,
            "tensors": step.export_state(),
        }
        with replace_sealed(folder / CHECKPOINT) as part, part.open("wb") as file:
            torch.save(values, file)  # a path would leave its name in the bytes

    @classmethod
    def load(
        cls, folder: Path, step: TrainingStep, made_from: str
    ) -> TrainingState | None:
        """Continue from the checkpoint in a folder; ``None`` where there is none.

        Raises:
            ConfigurationError: the checkpoint belongs to another training.
            MalformedInputError: the file is no checkpoint of this version.
            DamagedFileError: it is not what was written.
        """
        path = folder / CHECKPOINT
        if not path.is_file():
            return None
        check_sealed(path, "delete it to start anew")
        try:
            values = torch.load(path, map_location="cpu", weights_only=True)
            version = values["version"]
        except Exception as exc:
            raise MalformedInputError(
                f"Expected a checkpoint in {str(path)!r} ({exc}); delete it to start "
                "anew"
            ) from exc
        if version != VERSION:
            raise MalformedInputError(
                f"Expected a checkpoint of version {VERSION} in {str(path)!r} "
                f"(got {version!r}); delete it to start anew"
            )
        if values["made_from"] != made_from:
            raise ConfigurationError(
                f"Expected the checkpoint in {str(path)!r} to be of the same training; "
                "pairs, graphs or parameters changed: delete it or choose another "
                "folder"
            )
        step.import_state(values["tensors"])
        history = [
            read_parameters(EpochRecord, r, where="history") for r in values["history"]
        ]
        names = ("epoch", "step", "seconds", "best_epoch", "best_loss", "measures")
        return cls(history=history, **{name: values[name] for name in names})
