"""Tables of a catalog that are lists."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


class Rows(list[Any]):
    """A table, or a folder of graphs."""

    def select(self, column: str, values: Iterable[str]) -> list[Any]:
        """Return the rows whose column has one of the values."""
        wanted = {*values}
        return [row for row in self if getattr(row, column) in wanted]

    def find(self, key: str) -> Any:
        """Return the graph of a key, or ``None``."""
        return next((row for row in self if row.graph_id == key), None)
