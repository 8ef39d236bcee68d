"""The map from formula ids to visual ids as a dataset."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from kedro.io import AbstractDataset

from mathamr_kedro.base.errors import MissingInputError
from mathamr_kedro.corpus import VisualIndex


class VisualIndexDataset(AbstractDataset[VisualIndex, VisualIndex]):
    """An SQLite file in a folder."""

    def __init__(
        self, *, filepath: str, metadata: dict[str, Any] | None = None
    ) -> None:
        self._folder = Path(filepath)
        self.metadata = metadata

    def load(self) -> VisualIndex:
        """Open the index."""
        if not self._exists():
            raise MissingInputError(
                f"{str(self._folder)!r} is missing; run the stage 'ingestion'"
            )
        return VisualIndex.load(self._folder)

    def save(self, data: VisualIndex) -> None:
        """Write the index."""
        data.save(self._folder)

    def _exists(self) -> bool:
        return VisualIndex.is_saved(self._folder)

    def _describe(self) -> dict[str, Any]:
        return {"filepath": str(self._folder)}
