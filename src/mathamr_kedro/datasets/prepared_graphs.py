"""Prepared graphs as a dataset: a folder for each configuration."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

from kedro.io import AbstractDataset
from kedro_datasets._typing import TablePreview

from mathamr_kedro.datasets.previews import list_rows
from mathamr_kedro.graph import Preparation, PreparedStore

logger = logging.getLogger(__name__)


class PreparedGraphsDataset(AbstractDataset[Preparation, PreparedStore]):
    """Writes the folder of a configuration; loads the store of all of them.

    Example of a catalog entry::

        prepared_graphs:
          type: mathamr_kedro.datasets.prepared_graphs.PreparedGraphsDataset
          filepath: data/05_model_input/prepared_graphs
    """

    def __init__(
        self, *, filepath: str, metadata: dict[str, Any] | None = None
    ) -> None:
        self._store = PreparedStore(Path(filepath))
        self.metadata = metadata

    def load(self) -> PreparedStore:
        """Return the store; a configuration is opened with its parameters."""
        return self._store

    def save(self, data: Preparation) -> None:
        """Write the folder of a configuration, unless it is there already."""
        folder = self._store.folder(data.parameters)
        if self._store.save(data):
            logger.info("prepared graphs are in %s", folder)
        else:
            logger.info("graphs were prepared already in %s", folder)

    def preview(self) -> TablePreview:
        """Show the configurations in Kedro-Viz."""
        rows = [
            [
                graphs.folder.name,
                *graphs.configuration["graph"].values(),
                graphs.report.get("posts", 0),
                graphs.report.get("train_pairs", 0),
            ]
            for graphs in self._store.list()
        ]
        columns = [
            "folder", "formula_mode", "structure", "auxiliary_edges", "posts",
            "train_pairs",
        ]  # fmt: skip
        return list_rows(columns, rows)

    def _exists(self) -> bool:
        return bool(self._store.list())

    def _describe(self) -> dict[str, Any]:
        return {"filepath": str(self._store.base)}
