"""Trained encoders as a dataset: a folder for each training."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from kedro_datasets._typing import TablePreview

from mathamr_kedro.base.checksums import check_file, checksum, replace_checked_file
from mathamr_kedro.base.errors import MissingInputError
from mathamr_kedro.base.formatting import count_nouns
from mathamr_kedro.datasets.previews import list_rows
from mathamr_kedro.datasets.store_folder import StoreFolderDataset
from mathamr_kedro.learning.trainer import HISTORY, MODEL
from mathamr_kedro.model.mathamr_plus import MathAMRPlus
from mathamr_kedro.model.weights import load_model


class EncoderStore:
    """All trained encoders below one folder.

    A training has a folder of its own, named by a hash of what decides its weights:
    the same parameters on the same graphs find their checkpoint, others
    start another one.
    """

    def __init__(self, base: Path) -> None:
        self.base = Path(base)

    def __repr__(self) -> str:
        trained = len(list(self.base.glob(f"*/{MODEL}")))
        what = count_nouns(trained, "trained encoder")
        return f"<{type(self).__name__}: {what}, in {self.base}>"

    def folder(self, settings: Mapping[str, Any], graphs: str) -> Path:
        """Return the folder of a training, whether it is there or not.

        Args:
            settings: what decides the weights, of the training's configuration.
            graphs: name and checksum of the prepared graphs.
        """
        return self.base / checksum(settings, graphs)

    def write_file(self, path: Path, write: Callable[[Path], None]) -> str:
        """Write a file beside a training, whole or not at all; return its path.

        Args:
            path: the file, in the folder of the training; replaced if it is there.
            write: writes it to the path it is given.
        """
        with replace_checked_file(path) as part:
            write(part)
        return str(path)

    def complete_file(self, path: Path, write: Callable[[Path], None]) -> str:
        """Have a file that takes long written, unless it is there; return its path.

        Args:
            path: the file, in the folder of the training.
            write: resumes where it was stopped, and checksums the file.
        """
        if not path.is_file():
            write(path)
        check_file(path, "delete it and run the stage 'training' again")
        return str(path)

    def list_trainings(self) -> list[list[Any]]:
        """Return folder, epochs, best loss and seconds, the last training first."""
        found = self.base.glob(f"*/{MODEL}")
        folders = sorted((f.parent for f in found), key=_read_time, reverse=True)
        rows: list[list[Any]] = []
        for folder in folders:
            path = folder / HISTORY
            epochs = json.loads(path.read_text("utf-8")) if path.is_file() else []
            # As early stopping does: the validation loss, if pairs are held out.
            held_out = [e["validation_loss"] for e in epochs]
            losses = [e["train_loss"] for e in epochs] if None in held_out else held_out
            best = min(losses, default=None)
            seconds = sum(e["seconds"] for e in epochs)
            rows.append([folder.name, len(epochs), best, round(seconds, 1)])
        return rows

    def open(self, name: str) -> MathAMRPlus:
        """Load the best model of a training, for encoding."""
        folder = self.base / name / MODEL
        if not folder.is_dir():
            raise MissingInputError(
                f"No trained encoder in {str(folder)!r}; run the stage 'training'"
            )
        return load_model(folder)


class EncodersDataset(StoreFolderDataset[EncoderStore]):
    """The folder of all trained encoders; trainings write below it themselves."""

    STORE = EncoderStore

    def preview(self) -> TablePreview:
        """List the trainings in Kedro-Viz, the last one first."""
        columns = ["folder", "epochs", "best loss", "seconds"]
        return list_rows(columns, self._store.list_trainings())


def _read_time(folder: Path) -> float:
    return folder.stat().st_mtime
