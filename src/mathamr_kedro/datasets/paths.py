"""Datasets at one path, and folders of shards among them."""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypeVar

from kedro.io import AbstractDataset

from mathamr_kedro.base.shards import ShardFolder, ShardItem

Saved = TypeVar("Saved")
Loaded = TypeVar("Loaded")
Folder = TypeVar("Folder", bound=ShardFolder)


class PathDataset(AbstractDataset[Saved, Loaded]):
    """A file or a folder."""

    def __init__(
        self, *, filepath: str, metadata: dict[str, Any] | None = None
    ) -> None:
        self._path = Path(filepath)
        self.metadata = metadata

    def _exists(self) -> bool:
        return self._path.exists()

    def _describe(self) -> dict[str, Any]:
        return {"filepath": str(self._path)}


class ShardsDataset(PathDataset[ShardItem, Folder]):
    """A folder of shards: saves them as they come, loads the folder.

    A generator node yields :class:`~mathamr_kedro.base.shards.Shard` objects and, last,
    an :class:`~mathamr_kedro.base.shards.EndOfShards`. One that can be resumed yields a
    :class:`~mathamr_kedro.base.shards.StartOfShards` first.
    """

    _folder: Folder

    def load(self) -> Folder:
        """Return the folder without reading it; refuse an unfinished one."""
        self._folder.files()
        return self._folder

    def save(self, data: ShardItem) -> None:
        """Write one shard; answer a start, record the end."""
        self._folder.save(data, self._write)

    def _write(self, rows: Any, path: Path) -> None:
        """Write the rows of a shard to a file."""
        raise NotImplementedError

    def _exists(self) -> bool:
        return self._folder.read_list().complete
