"""The map from formula ids to visual ids as a dataset."""

from __future__ import annotations

from mathamr_kedro.base.errors import MissingInputError
from mathamr_kedro.corpus import VisualIndex
from mathamr_kedro.datasets.paths import PathDataset


class VisualIndexDataset(PathDataset[VisualIndex, VisualIndex]):
    """An SQLite file in a folder."""

    def load(self) -> VisualIndex:
        """Open the index."""
        if not self._exists():
            raise MissingInputError(
                f"{str(self._path)!r} is missing; run the stage 'ingestion'"
            )
        return VisualIndex.load(self._path)

    def save(self, data: VisualIndex) -> None:
        """Write the index."""
        data.save(self._path)

    def _exists(self) -> bool:
        return VisualIndex.is_saved(self._path)
