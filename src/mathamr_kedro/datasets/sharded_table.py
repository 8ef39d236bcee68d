"""Tables that can be large: Parquet shards, written one by one, read one by one."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from kedro_datasets._typing import TablePreview

from mathamr_kedro.base import records
from mathamr_kedro.base.errors import ConfigurationError, suggest
from mathamr_kedro.base.formatting import count_nouns
from mathamr_kedro.base.shards import ShardFolder
from mathamr_kedro.corpus import RecordTables
from mathamr_kedro.datasets.paths import ShardsDataset

if TYPE_CHECKING:
    import pandas as pd


class ShardedTable(ShardFolder):
    """A table in shards; nothing is read before it is asked for."""

    def __init__(self, path: str | Path, record: Any) -> None:
        super().__init__(path, ".parquet")
        self.record = record

    def __repr__(self) -> str:
        rows = count_nouns(self.total("written"), "row")
        name = f"{type(self).__name__} of {self.record.__name__}"
        return f"<{name}: {rows}, in {self.path}>"

    def empty(self) -> pa.Table:
        """Return a table of the same columns without rows."""
        return RecordTables(self.record).schema.empty_table()

    def read_file(self, file: Path, columns: Sequence[str] | None = None) -> pa.Table:
        """Return one shard as an Arrow table, with only the asked columns."""
        tables: RecordTables[Any] = RecordTables(self.record)
        wanted = list(columns) if columns else tables.schema.names
        file = self.check(file)
        # Not pq.read_table, which imports pandas.
        with pq.ParquetFile(file) as opened:
            known = [name for name in wanted if name in opened.schema_arrow.names]
            return tables.fill(opened.read(columns=known), wanted)

    def read_rows(self, file: Path, places: list[int] | None = None) -> Iterator[Any]:
        """Yield the records of one shard, or those at some places."""
        if places is not None and not places:
            return
        table = self.read_file(file)
        if places is not None:
            # Arrow imports pandas to see whether a list is one of its series.
            rows = pa.py_buffer(array("q", places))
            table = table.take(
                pa.Array.from_buffers(pa.int64(), len(places), [None, rows])
            )
        yield from RecordTables(self.record).read(table)

    def tables(self, columns: Sequence[str] | None = None) -> Iterator[pa.Table]:
        """Yield the shards as Arrow tables, with only the asked columns."""
        for file in self.files():
            yield self.read_file(file, columns)

    def records(self) -> Iterator[Any]:
        """Yield all rows as records."""
        for file in self.files():
            yield from self.read_rows(file)

    def count(self, column: str, values: Collection[str]) -> int:
        """Return how many rows have one of the values in a column."""
        wanted = pa.array(sorted(values), pa.string())
        tables = self.tables([column])
        found = (pc.sum(pc.is_in(table[column], wanted)).as_py() for table in tables)
        return sum(number or 0 for number in found)

    def find(self, column: str, value: str) -> Any | None:
        """Return the first row whose column has the value, or ``None``."""
        tables: RecordTables[Any] = RecordTables(self.record)
        for file in self.files():
            values = self.read_file(file, [column])[column].to_pylist()
            if value in values:
                found = self.read_file(file).slice(values.index(value), 1)
                return next(tables.read(found))
        return None

    def select(self, column: str, values: Iterable[str]) -> Iterator[Any]:
        """Yield the rows whose column has one of the values; one shard at a time."""
        wanted = sorted(set(values))
        for file in self.files() if wanted else ():
            found = pq.read_table(file, filters=[(column, "in", wanted)])
            yield from RecordTables(self.record).read(found)

    def find_all(self, column: str, values: Collection[str]) -> dict[str, Any]:
        """Return the first row of each existing value, shard by shard."""
        found: dict[str, Any] = {}
        for row in self.select(column, values):
            found.setdefault(getattr(row, column), row)
        return found

    def count_values(self, column: str) -> Counter[str]:
        """Count the rows by the value of a column, the most frequent first."""
        counts: Counter[str] = Counter()
        for table in self.tables([column]):
            counts.update(table[column].to_pylist())
        return Counter(dict(counts.most_common()))

    def to_pandas(self, columns: Sequence[str] | None = None) -> pd.DataFrame:
        """Return the whole table; for small ones and notebooks."""
        tables = list(self.tables(columns)) or [self.empty()]
        return pa.concat_tables(tables).to_pandas()


class RowFinder:
    """Finds rows by the values of one column, which is read once.

    Many rows cost one reading of each shard they are in, while
    :meth:`ShardedTable.find` reads on from the first shard for each of them. The last
    rows are kept: a search asks for the same ones again and again.
    """

    _KEPT = 1024

    def __init__(self, table: ShardedTable, column: str) -> None:
        self._table = table
        self._kept: dict[str, Any] = {}
        self._places = {
            value: (file, row)
            for file in table.files()
            for row, value in enumerate(
                table.read_file(file, [column])[column].to_pylist()
            )
        }

    def __call__(self, values: Iterable[str]) -> dict[str, Any]:
        """Return the existing rows, by value."""
        known = [v for v in dict.fromkeys(values) if v in self._places]
        known.sort(key=lambda value: self._places[value])
        found = {value: self._kept[value] for value in known if value in self._kept}
        missing = [value for value in known if value not in found]
        for file, group in groupby(missing, key=lambda value: self._places[value][0]):
            chosen = list(group)
            rows = [self._places[value][1] for value in chosen]
            found |= zip(chosen, self._table.read_rows(file, rows), strict=True)
        self._keep(found)
        return found

    def _keep(self, rows: Mapping[str, Any]) -> None:
        """Keep rows that were asked for, the last ones last; forget the oldest."""
        for value, row in rows.items():
            self._kept.pop(value, None)
            self._kept[value] = row
        for value in list(self._kept)[: max(0, len(self._kept) - self._KEPT)]:
            del self._kept[value]


class ShardedTableDataset(ShardsDataset[ShardedTable]):
    """Saves shards of records as they come; loads a :class:`ShardedTable`.

    Example of a catalog entry::

        posts:
          type: mathamr_kedro.datasets.sharded_table.ShardedTableDataset
          filepath: data/02_intermediate/posts
          record: Post
    """

    def __init__(
        self, *, filepath: str, record: str, metadata: dict[str, Any] | None = None
    ) -> None:
        super().__init__(filepath=filepath, metadata=metadata)
        self._folder = ShardedTable(filepath, _record_class(record))

    def _write(self, rows: Any, path: Path) -> None:
        is_table = isinstance(rows, pa.Table)
        table = rows if is_table else RecordTables(self._folder.record).write(rows)
        pq.write_table(table, path, compression="zstd")

    def preview(self, nrows: int = 40) -> TablePreview:
        """Show the first rows in Kedro-Viz."""
        table = next(self.load().tables(), self._folder.empty()).slice(0, nrows)
        cells = [[_short(cell) for cell in row.values()] for row in table.to_pylist()]
        index, columns = list(range(len(cells))), table.column_names
        return TablePreview({"index": index, "columns": columns, "data": cells})

    def _describe(self) -> dict[str, Any]:
        return {**super()._describe(), "record": self._folder.record.__name__}


def _record_class(name: str) -> Any:
    classes = {
        key: value
        for key, value in vars(records).items()
        if isinstance(value, type) and issubclass(value, tuple)
    }
    if name not in classes:
        raise ConfigurationError(
            f"Expected a record class (got {name!r}){suggest(name, classes)} "
            f"Known: {', '.join(classes)} (conf/<env>/catalog)"
        )
    return classes[name]


def _short(value: Any) -> Any:
    if isinstance(value, list):
        return (
            f"{len(value)} items"
            if value and isinstance(value[0], dict)
            else ", ".join(value)
        )
    return (
        value if not isinstance(value, str) or len(value) <= 160 else value[:159] + "…"
    )
