"""Graphs as PENMAN text in shards, written one by one, read one by one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from kedro.io import AbstractDataset
from kedro_datasets._typing import HTMLPreview

from mathamr_kedro.base.formatting import count_nouns
from mathamr_kedro.base.shards import ShardFolder, ShardItem, Shards
from mathamr_kedro.datasets.previews import embed_picture, write_text
from mathamr_kedro.graph import (
    GraphRecord,
    RecordFile,
    draw_math_graph,
    read_math_graph,
)
from mathamr_kedro.graph.drawing.page import write_key
from mathamr_kedro.graph.penman_records import SUFFIX

_LOOKED_AT = 200
"""Graphs among which a preview chooses."""
_DRAWN = 20
"""Graphs of which it shows those that make the narrowest drawings."""
_LETTERS = 900
"""Of the text of a graph that can be read as a drawing beside the pipeline."""


class PenmanShards(Shards):
    """Graph records in shards; nothing is read before it is asked for."""

    def __repr__(self) -> str:
        graphs = count_nouns(self._folder.total("written"), "graph")
        return f"<{type(self).__name__}: {graphs}, in {self._folder.path}>"

    def shards(self) -> Iterator[tuple[str, Path]]:
        """Yield name and file of each shard, in order.

        Raises:
            DamagedFileError: the bytes of a shard were changed.
        """
        for file in self.files():
            yield file.name.removesuffix(SUFFIX), self._folder.check(file)

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

    A generator node yields :class:`~mathamr_kedro.base.shards.Shard` objects and, last,
    an :class:`~mathamr_kedro.base.shards.EndOfShards`. The rows of a shard are
    :class:`~mathamr_kedro.graph.penman_records.GraphRecord` values, or the text of such
    records if a worker has already written it. Example of a catalog entry::

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
        """Write one shard; answer a start, record the end."""
        self._folder.save(data, _write)

    def preview(self, graphs: int = 3) -> HTMLPreview:
        """Draw some graphs of a readable size in Kedro-Viz."""
        records = islice(self.load().records(), _LOOKED_AT)
        fitting = [_Drawn(r) for r in sorted(records, key=_rate)[:_DRAWN]]
        narrow = sorted(fitting, key=_Drawn.rate)[:graphs]
        return HTMLPreview(write_key() + "".join(d.write() for d in narrow))

    def _exists(self) -> bool:
        return self._folder.read_list().complete

    def _describe(self) -> dict[str, Any]:
        return {"filepath": str(self._folder.path)}


def _write(rows: str | Iterable[GraphRecord], path: Path) -> None:
    if isinstance(rows, str):
        path.write_text(rows, encoding="utf-8", newline="\n")
    else:
        RecordFile(path).write(rows)


def _rate(record: GraphRecord) -> tuple[bool, int]:
    """Return how far a graph is from one to show; graphs with formulas come first."""
    return not record.formula_map, abs(len(record.graph) - _LETTERS)


class _Drawn:
    """A record and its drawing."""

    def __init__(self, record: GraphRecord) -> None:
        graph = read_math_graph(record.graph)
        self._record, self._nodes = record, graph.num_nodes
        self._drawing = draw_math_graph(graph)

    def rate(self) -> tuple[bool, int]:
        """Return the width in pixels; what is narrow need not be made smaller."""
        found = re.search(r'width="(\d+)"', self._drawing)
        return not self._record.formula_map, int(found[1]) if found else 0

    def write(self) -> str:
        """Return drawing and formulas as HTML."""
        record = self._record
        title = f"{record.post_type} {record.graph_id}"
        rows = "".join(
            f"<tr><td>{write_text(m.placeholder)}</td><td>{write_text(m.latex)}</td>"
            "</tr>"
            for m in record.formula_map
        )
        picture = embed_picture(self._drawing.encode(), "image/svg+xml", title)
        head = f"<h3>{write_text(title)}: {count_nouns(self._nodes, 'node')}</h3>"
        return head + picture + (f"<table>{rows}</table>" if rows else "")
