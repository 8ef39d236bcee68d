"""Graphs as PENMAN text in shards, written one by one, read one by one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path

from mathamr_kedro.base.formatting import count_nouns
from mathamr_kedro.base.shards import ShardFolder
from mathamr_kedro.datasets.paths import ShardsDataset
from mathamr_kedro.graph import GraphRecord, RecordFile
from mathamr_kedro.graph.penman_records import SUFFIX


class PenmanShards(ShardFolder):
    """Graph records in shards; nothing is read before it is asked for."""

    def __init__(self, path: str | Path) -> None:
        super().__init__(path, SUFFIX)

    def __repr__(self) -> str:
        graphs = count_nouns(self.total("written"), "graph")
        return f"<{type(self).__name__}: {graphs}, in {self.path}>"

    def shards(self) -> Iterator[tuple[str, Path]]:
        """Yield name and file of each shard, in order."""
        for file in self.files():
            yield file.name.removesuffix(SUFFIX), self.check(file)

    def records(self) -> Iterator[GraphRecord]:
        """Yield all records."""
        for _, file in self.shards():
            yield from RecordFile(file)

    def find(self, graph_id: str) -> GraphRecord | None:
        """Return the record of a post or topic, or ``None``."""
        for _, file in self.shards():
            found = RecordFile(file).find(graph_id)
            if found is not None:
                return found
        return None


class PenmanShardsDataset(ShardsDataset[PenmanShards]):
    """Saves shards of graph records as they come; loads a :class:`PenmanShards`.

    The rows of a shard are :class:`~mathamr_kedro.graph.penman_records.GraphRecord`
    values, or the text of such records if a worker has already written it. Example of a
    catalog entry::

        amr_graphs:
          type: mathamr_kedro.datasets.penman_shards.PenmanShardsDataset
          filepath: data/03_primary/amr_graphs
    """

    @cached_property
    def _folder(self) -> PenmanShards:  # type: ignore[override]
        return PenmanShards(self._path)

    def _write(self, rows: str | Iterable[GraphRecord], path: Path) -> None:
        if isinstance(rows, str):
            path.write_text(rows, encoding="utf-8", newline="\n")
        else:
            RecordFile(path).write(rows)
