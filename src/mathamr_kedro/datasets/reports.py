"""Reports as datasets: pages and metrics, as Kedro-Viz shows them.

Figures are in a module of their own: who looks at scores need not wait for Plotly.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import PurePosixPath
from typing import Any

from kedro_datasets._typing import HTMLPreview, TablePreview
from kedro_datasets.json import JSONDataset
from kedro_datasets.text import TextDataset

from mathamr_kedro.datasets.previews import list_rows, render_markdown

_PICTURE = re.compile(r"[\w.-]+\.png")


class ReportDataset(TextDataset):
    """A Markdown page; Kedro-Viz shows it with its tables and figures."""

    def preview(self) -> HTMLPreview:
        """Return the page as HTML that needs no other file."""
        text = self.load.__wrapped__(self)
        return HTMLPreview(render_markdown(text, self._read_picture))

    def _read_picture(self, name: str) -> bytes | None:
        path = str(PurePosixPath(self._get_load_path()).parent / name)
        if _PICTURE.fullmatch(name) is None or not self._fs.exists(path):
            return None
        content: bytes = self._fs.cat_file(path)
        return content


class MetricsDataset(JSONDataset):
    """A list of records in JSON; Kedro-Viz shows it as a table."""

    def preview(self, nrows: int = 200) -> TablePreview:
        """Return the first records, a column for each of their keys."""
        rows = self.load.__wrapped__(self)[:nrows]
        columns = list(dict.fromkeys(key for row in rows for key in row))
        cells: list[list[Any]] = [[row.get(key) for key in columns] for row in rows]
        return list_rows(columns, cells)


class FactsDataset(JSONDataset):
    """Facts of a stage in JSON; Kedro-Viz shows a row for each."""

    def preview(self, nrows: int = 200) -> TablePreview:
        """Return the first facts, those inside of others by their path."""
        rows = list(islice(_flatten("", self.load.__wrapped__(self)), nrows))
        return list_rows(["fact", "value"], rows)


class ResultDataset(JSONDataset):
    """The result of an experiment in JSON; Kedro-Viz shows its tables."""

    def preview(self) -> HTMLPreview:
        """Return the tables as HTML."""
        tables = self.load.__wrapped__(self).get("tables", {})
        return HTMLPreview(render_markdown("\n\n".join(tables.values())))


def _flatten(path: str, value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping) and value:
        for key, inner in value.items():
            yield from _flatten(f"{path}.{key}" if path else str(key), inner)
    elif isinstance(value, list):
        yield path, ", ".join(map(str, value))
    else:
        yield path, value
