"""A folder whose parts a stage writes itself, as datasets of stores have it."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar, Protocol, TypeVar

from kedro.io import AbstractDataset

from mathamr_kedro.base.errors import ConfigurationError


class _Store(Protocol):
    base: Path


S = TypeVar("S", bound=_Store)


class StoreFolderDataset(AbstractDataset[None, S]):
    """Loads a store of what lies below a folder; it is never saved to.

    Subclasses name the class of the store, and who writes it.
    """

    STORE: ClassVar[Any]
    WRITTEN_BY: ClassVar[str] = "trainings"

    def __init__(
        self, *, filepath: str, metadata: dict[str, Any] | None = None
    ) -> None:
        self._store: S = self.STORE(Path(filepath))
        self.metadata = metadata

    def load(self) -> S:
        """Return the store."""
        return self._store

    def save(self, data: None) -> None:
        """Never called: whoever makes the parts writes them below the folder."""
        folder = str(self._store.base)
        raise ConfigurationError(f"{folder!r} is written by {self.WRITTEN_BY}")

    def _exists(self) -> bool:
        return True

    def _describe(self) -> dict[str, Any]:
        return {"filepath": str(self._store.base)}
