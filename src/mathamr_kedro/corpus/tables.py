"""Arrow tables of the records, built column by column (row by row is too slow)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Generic, TypeVar, get_type_hints

import pyarrow as pa

from mathamr_kedro.base.records import FormulaMention
from mathamr_kedro.base.types import PostType

R = TypeVar("R", bound=tuple)

_MENTION = pa.struct(
    [
        ("placeholder", pa.string()),
        ("formula_id", pa.string()),
        ("visual_id", pa.string()),
        ("latex", pa.string()),
        ("start", pa.int32()),
        ("end", pa.int32()),
    ]
)
_ARROW_TYPES: dict[Any, pa.DataType] = {
    str: pa.string(),
    str | None: pa.string(),
    PostType: pa.string(),
    int: pa.int32(),
    int | None: pa.int32(),
    bool: pa.bool_(),
    float: pa.float64(),
    tuple[str, ...]: pa.list_(pa.string()),
    tuple[FormulaMention, ...]: pa.list_(_MENTION),
}


class RecordTables(Generic[R]):
    """Arrow tables of one record class."""

    def __init__(self, record: type[R]) -> None:
        self._record = record
        self._hints = get_type_hints(record)
        self.schema = pa.schema(
            [(name, _ARROW_TYPES[hint]) for name, hint in self._hints.items()]
        )

    def write(self, rows: Sequence[R]) -> pa.Table:
        """Return the records as a table."""
        columns: Iterable[Sequence[Any]] = (
            zip(*rows, strict=True) if rows else [()] * len(self.schema)
        )
        arrays = [
            _array(field, values)
            for field, values in zip(self.schema, columns, strict=True)
        ]
        return pa.Table.from_arrays(arrays, schema=self.schema)

    def fill(self, table: pa.Table, columns: Sequence[str]) -> pa.Table:
        """Return some columns of a table.

        A column that an earlier version did not write gets the record's default.
        """
        defaults = getattr(self._record, "_field_defaults", {})
        for name in columns:
            if name not in table.column_names and name in defaults:
                kind = self.schema.field(name).type
                values = pa.array([defaults[name]] * table.num_rows, type=kind)
                table = table.append_column(name, values)
        return table.select(list(columns))

    def read(self, table: pa.Table) -> Iterator[R]:
        """Yield the rows of a table as records; the inverse of :meth:`write`."""
        for row in table.select(list(self._hints)).to_pylist():
            for name, hint in self._hints.items():
                if hint == tuple[str, ...]:
                    row[name] = tuple(row[name])
                elif hint == tuple[FormulaMention, ...]:
                    mentions = (FormulaMention(**mention) for mention in row[name])
                    row[name] = tuple(mentions)
            yield self._record(**row)


def _array(field: pa.Field, values: Sequence[Any]) -> pa.Array:
    if field.type != pa.list_(_MENTION):
        return pa.array(values, type=field.type)
    offsets = [0]
    for mentions in values:
        offsets.append(offsets[-1] + len(mentions))
    flat = [mention for mentions in values for mention in mentions]
    columns: Iterable[Sequence[Any]] = zip(*flat, strict=True) if flat else [()] * 6
    parts = [
        pa.array(column, type=part.type)
        for part, column in zip(_MENTION, columns, strict=True)
    ]
    items = pa.StructArray.from_arrays(parts, fields=list(_MENTION))
    return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), items)
