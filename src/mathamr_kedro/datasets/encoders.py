"""Trained encoders as a dataset: a folder for each training."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from mathamr_kedro.datasets.store_folder import StoreFolderDataset
from mathamr_kedro.errors import MissingInputError
from mathamr_kedro.files import fingerprint
from mathamr_kedro.learning.trainer import MODEL
from mathamr_kedro.model.mathamr_plus import MathAMRPlus
from mathamr_kedro.model.weights import load_model
from mathamr_kedro.sealing import check_sealed, replace_sealed
from mathamr_kedro.wording import count_nouns


class EncoderStore:
    """All trained encoders below one folder.

    A training has a folder of its own, named by a hash of what decides its weights:
    the same parameters on the same graphs find their checkpoint, others start anew.
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
            graphs: name and fingerprint of the prepared graphs.
        """
        return self.base / fingerprint(settings, graphs)

    def write_file(self, path: Path, write: Callable[[Path], None]) -> str:
        """Write a file beside a training, whole or not at all; return its path.

        Args:
            path: the file, in the folder of the training; replaced if it is there.
            write: writes it to the path it is given.
        """
        with replace_sealed(path) as part:
            write(part)
        return str(path)

    def complete_file(self, path: Path, write: Callable[[Path], None]) -> str:
        """Have a file that takes long written, unless it is there; return its path.

        Args:
            path: the file, in the folder of the training.
            write: goes on where it was stopped, and seals the file.
        """
        if not path.is_file():
            write(path)
        check_sealed(path, "delete it and run the stage 'training' again")
        return str(path)

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
