"""Finished cells of experiments as a dataset: a folder for each."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

from kedro.io import AbstractDataset

from mathamr_kedro.experiments import CellOutputs, CellStore

logger = logging.getLogger(__name__)


class ExperimentCellsDataset(AbstractDataset[CellOutputs, CellStore]):
    """Writes the folder of a finished cell; loads the store of all of them.

    Example of a catalog entry::

        experiment_cells:
          type: mathamr_kedro.datasets.experiment_cells.ExperimentCellsDataset
          filepath: data/07_model_output/experiment_cells
    """

    def __init__(
        self, *, filepath: str, metadata: dict[str, Any] | None = None
    ) -> None:
        self._store = CellStore(Path(filepath))
        self.metadata = metadata

    def load(self) -> CellStore:
        """Return the store."""
        return self._store

    def save(self, data: CellOutputs) -> None:
        """Write the folder of a cell atomically."""
        logger.info("results are recorded in %s", self._store.save(data))

    def _exists(self) -> bool:
        return bool(self._store.list())

    def _describe(self) -> dict[str, Any]:
        return {"filepath": str(self._store.base)}
