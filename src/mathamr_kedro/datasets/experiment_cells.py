"""Finished cells of experiments as a dataset: a folder for each."""

from __future__ import annotations

import logging

from mathamr_kedro.datasets.paths import PathDataset
from mathamr_kedro.experiments import CellOutputs, CellStore

logger = logging.getLogger(__name__)


class ExperimentCellsDataset(PathDataset[CellOutputs, CellStore]):
    """Writes the folder of a finished cell; loads the store of all of them.

    Example of a catalog entry::

        experiment_cells:
          type: mathamr_kedro.datasets.experiment_cells.ExperimentCellsDataset
          filepath: data/07_model_output/experiment_cells
    """

    def load(self) -> CellStore:
        """Return the store."""
        return CellStore(self._path)

    def save(self, data: CellOutputs) -> None:
        """Write the folder of a cell atomically."""
        logger.info("results are recorded in %s", self.load().save(data))

    def _exists(self) -> bool:
        return bool(self.load().list())
