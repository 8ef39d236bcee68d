"""Graphs as PENMAN text in shards, written one by one, read one by one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from kedro.io import AbstractDataset
from kedro_datasets._typing import TablePreview

from mathamr_kedro.graph import GraphRecord, RecordFile
from mathamr_kedro.graph.penman_records import SUFFIX
from mathamr_kedro.shards import Shard, ShardFolder, ShardItem
from mathamr_kedro.wording import count_nouns


class PenmanShards:
    """Graph records in shards; nothing is read before it is asked for."""

    def __init__(self, folder: ShardFolder) -> None:
        self._folder = folder

    def __repr__(self) -> str:
        graphs = count_nouns(self._folder.total("written"), "graph")
        return f"<{type(self).__name__}: {graphs}, in {self._folder.path}>"

    @property
    def fingerprint(self) -> str:
        """What stands for the graphs in fingerprints of what is made from them."""
        return self._folder.identity

    @property
    def made_from(self) -> str:
        """What the graphs were made from."""
        return self._folder.read_list().fingerprint

    @property
    def counts(self) -> dict[str, int]:
        """The account over all shards, e.g. ``{"read": 9, "written": 9}``."""
        totals: dict[str, int] = {}
        for shard in self.counts_by_shard.values():
            for name, count in shard.items():
                totals[name] = totals.get(name, 0) + count
        return totals

    @property
    def counts_by_shard(self) -> Mapping[str, Mapping[str, int]]:
        """The account of each shard."""
        return self._folder.read_list().counts

    def files(self) -> list[Path]:
        """Return the files of the shards, in order."""
        return self._folder.files()

    def shards(self) -> Iterator[tuple[str, Path]]:
        """Yield name and file of each shard, in order.

        Raises:
            DamagedFileError: the bytes of a shard were changed.
        """
        for file in self.files():
            yield file.name.removesuffix(SUFFIX), self._folder.check(file)

    def digests(self) -> dict[str, str]:
        """Return the digest of each shard by its name."""
        return self._folder.digests()

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


class PenmanShardsDataset(AbstractDataset[ShardItem, PenmanShards]):
    """Saves shards of graph records as they come; loads a :class:`PenmanShards`.

    A generator node yields :class:`~mathamr_kedro.shards.Shard` objects and, last, an
    :class:`~mathamr_kedro.shards.EndOfShards`. The rows of a shard are
    :class:`~mathamr_kedro.graph.penman_records.GraphRecord` values, or the text of such
    records where a worker has already written it. Example of a catalog entry::

        amr_graphs:
          type: mathamr_kedro.datasets.penman_shards.PenmanShardsDataset
          filepath: data/03_primary/amr_graphs
    """

    def __init__(
        self, *, filepath: str, metadata: dict[str, Any] | None = None
    ) -> None:
        self._folder = ShardFolder(filepath, SUFFIX)
        self.metadata = metadata

    def load(self) -> PenmanShards:
        """Return the graphs without reading them."""
        self._folder.files()  # refuses a missing or unfinished folder
        return PenmanShards(self._folder)

    def save(self, data: ShardItem) -> None:
        """Write one shard; tell at the start which are there, note the end."""
        if not isinstance(data, Shard):
            self._folder.mark(data)
            return
        rows = data.take_rows()

        def write(path: Path) -> None:
            if isinstance(rows, str):
                path.write_text(rows, encoding="utf-8", newline="\n")
            else:
                RecordFile(path).write(rows)

        self._folder.write(data.name, data.made_from, data.counts, write, data.source)

    def preview(self, nrows: int = 10) -> TablePreview:
        """Show the first graphs in Kedro-Viz."""
        rows: list[list[str]] = []
        for record in self.load().records():
            if len(rows) == nrows:
                break
            placeholders = ", ".join(m.placeholder for m in record.formula_map)
            rows.append([record.graph_id, record.post_type, placeholders, record.graph])
        columns = ["id", "post_type", "formulas", "graph"]
        return TablePreview(
            {"index": list(range(len(rows))), "columns": columns, "data": rows}
        )

    def _exists(self) -> bool:
        return self._folder.read_list().complete

    def _describe(self) -> dict[str, Any]:
        return {"filepath": str(self._folder.path)}
