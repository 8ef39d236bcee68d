"""Stores as datasets: folders of things that are named by what they were made from."""

from __future__ import annotations

from functools import cached_property
from typing import Any, Protocol

from kedro.utils import load_obj

from mathamr_kedro.datasets.paths import PathDataset


class Store(Protocol):
    """What a folder of such things can do."""

    def save(self, data: Any) -> object:
        """Make and write what was asked for, or resume; nothing if it exists."""

    def list(self) -> list[Any]:
        """Return all that exist."""


class StoreDataset(PathDataset[Any, Store]):
    """Adds to a store when it is saved; loads the store, of which nothing is read yet.

    Several configurations share the store of a data root. Example of a catalog entry::

        experiment_cells:
          type: mathamr_kedro.datasets.stores.StoreDataset
          store: mathamr_kedro.experiments.CellStore      # made of the path
          filepath: data/07_model_output/experiment_cells
    """

    def __init__(
        self, *, filepath: str, store: str, metadata: dict[str, Any] | None = None
    ) -> None:
        super().__init__(filepath=filepath, metadata=metadata)
        self._kind = store

    @cached_property
    def _store(self) -> Store:
        package, _, name = self._kind.rpartition(".")
        store: Store = load_obj(name, package)(self._path)
        return store

    def load(self) -> Store:
        """Return the store."""
        return self._store

    def save(self, data: Any) -> None:
        """Add to the store."""
        self._store.save(data)

    def _exists(self) -> bool:
        return bool(self._store.list())
