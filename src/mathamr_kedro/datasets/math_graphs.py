"""Math graphs: AMR graphs that get the trees of their formulas when they are read.

```
03_primary/math_graphs/
  _sources.json                 where the AMR graphs and the trees are
  _shards.json
  posts-00000-000.facts.json    what fusion made of a shard (graph/tally.py)
```
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from mathamr_kedro.base.checksums import read_json
from mathamr_kedro.base.errors import GraphError, MissingInputError
from mathamr_kedro.base.files import write_text
from mathamr_kedro.base.formatting import count_nouns
from mathamr_kedro.base.shards import ShardFolder, ShardItem, StartOfShards
from mathamr_kedro.datasets.formula_trees import FormulaTreesDataset
from mathamr_kedro.datasets.paths import ShardsDataset
from mathamr_kedro.datasets.penman_shards import PenmanShards
from mathamr_kedro.graph import FusedRecord, RecordFile, ShardFacts, StoredTrees

SUFFIX = ".facts.json"
TREES = "formula trees"
"""What the folder's list calls them."""
_SOURCES = "_sources.json"
_REMEDY = "run the stage 'graph_fusion' again"


@dataclass(eq=False)
class StartOfFusion(StartOfShards):
    """Says, before the first shard, what is fused."""

    amr_graphs: Path = Path()
    trees: Path = Path()
    """File of the store."""


class MathGraphs(ShardFolder):
    """Fused graph records in shards; nothing is fused before it is asked for."""

    def __init__(self, path: str | Path) -> None:
        super().__init__(path, SUFFIX)

    def __repr__(self) -> str:
        graphs = count_nouns(self.total("written"), "graph")
        return f"<{type(self).__name__}: {graphs}, in {self.path}>"

    @cached_property
    def _sources(self) -> dict[str, str]:
        file = self.path / _SOURCES
        if not file.is_file():
            raise MissingInputError(f"Expected {str(file)!r}; {_REMEDY}")
        found: dict[str, str] = read_json(file, _REMEDY)
        return found

    def note_sources(self, amr_graphs: Path, trees: Path) -> None:
        """Write where the graphs and the trees are."""
        places = {"amr_graphs": amr_graphs, "trees": trees}
        found = {n: Path(os.path.relpath(p, self.path)) for n, p in places.items()}
        self.path.mkdir(parents=True, exist_ok=True)
        text = json.dumps({name: path.as_posix() for name, path in found.items()})
        write_text(self.path / _SOURCES, text + "\n")

    @property
    def trees(self) -> Path:
        """File of the trees of formulas."""
        return self.path / self._sources["trees"]

    @cached_property
    def _amr(self) -> PenmanShards:
        return PenmanShards(self.path / self._sources["amr_graphs"])

    @cached_property
    def _find_trees(self) -> StoredTrees:
        return StoredTrees(self.trees)

    def facts(self) -> Iterator[ShardFacts]:
        """Yield what each shard came to, in order."""
        for file in self.files():
            values = read_json(self.check(file), _REMEDY)
            yield ShardFacts.of_values(values)

    def shards(self) -> Iterator[tuple[str, RecordFile]]:
        """Yield name and AMR records of each shard, those that could be fused.

        Raises:
            MissingInputError: AMR graphs or trees have changed since they were fused.
        """
        self._refuse_changes()
        for (name, file), facts in zip(self._amr.shards(), self.facts(), strict=True):
            yield name, RecordFile(file, frozenset(facts.dropped))

    def _refuse_changes(self) -> None:
        known = self.read_list()
        trees = FormulaTreesDataset(filepath=str(self.trees.parent)).load()
        for what, before, now in (
            ("AMR graphs", known.sources, self._amr.checksums()),
            (TREES, known.parts.get(TREES), trees.made_from),
        ):
            if before != now:
                raise MissingInputError(
                    f"Expected the {what} that {str(self.path)!r} was made from (got "
                    f"others); {_REMEDY}"
                )

    def records(self) -> Iterator[FusedRecord]:
        """Yield all records, fused."""
        for _, shard in self.shards():
            for record in shard:
                yield FusedRecord.read(record, self._find_trees)

    def find(self, graph_id: str) -> FusedRecord | None:
        """Return the fused record of a post or topic, or ``None``."""
        record = self._amr.find(graph_id)
        try:
            return FusedRecord.read(record, self._find_trees) if record else None
        except GraphError:  # the stage has told it
            return None


class MathGraphsDataset(ShardsDataset[MathGraphs]):
    """Saves what fusion comes to, shard by shard; loads :class:`MathGraphs`.

    A node yields a :class:`StartOfFusion` first; the rows of a shard are its
    :class:`~mathamr_kedro.graph.ShardFacts`. Example of a catalog entry::

        math_graphs:
          type: mathamr_kedro.datasets.math_graphs.MathGraphsDataset
          filepath: data/03_primary/math_graphs
    """

    @cached_property
    def _folder(self) -> MathGraphs:  # type: ignore[override]
        return MathGraphs(self._path)

    def save(self, data: ShardItem) -> None:
        """Write one shard; note the sources at the start, record the end."""
        if isinstance(data, StartOfFusion):
            self._folder.note_sources(data.amr_graphs, data.trees)
        super().save(data)

    def _write(self, rows: Any, path: Path) -> None:
        path.write_text(json.dumps(rows.to_values()), encoding="utf-8")
