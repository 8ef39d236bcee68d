"""Formula id to its row in the formula index: one SQLite file.

28 million formulas take some 2 GB on disk and, while posts are read, only the pages
that are touched in memory.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa

from mathamr_kedro.base.checksums import check_folder, write_checksums
from mathamr_kedro.base.files import replace_folder
from mathamr_kedro.base.formatting import count_nouns
from mathamr_kedro.corpus.delimiters import strip_delimiters
from mathamr_kedro.corpus.formula_rows import FormulaRow
from mathamr_kedro.corpus.raw import is_number
from mathamr_kedro.corpus.scanning import unescape_latex

_FILE = "formulas.sqlite"
_TABLE = """
CREATE TABLE formulas (
    id INTEGER PRIMARY KEY, visual_id INTEGER, owner TEXT, latex BLOB
)
"""


class VisualIndex:
    """Looks up the visual id of a formula id, its LaTeX and whose formula it is.

    Args:
        connection: to a database with the table of the formulas.
    """

    COLUMNS = ("formula_id", "visual_id", "post_id", "comment_id", "latex")
    """What the index is built from; all but the first two may be missing."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    @classmethod
    def build(cls, tables: Iterable[pa.Table]) -> VisualIndex:
        """Build the index, in a temporary file, from tables with :attr:`COLUMNS`."""
        index = cls(sqlite3.connect("", check_same_thread=False))
        index._connection.execute(_TABLE)
        insert = "INSERT OR IGNORE INTO formulas VALUES (?, ?, ?, ?)"
        with index._connection:
            for table in tables:
                index._connection.executemany(insert, _list_rows(table))
        return index

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {count_nouns(len(self), 'formula')}>"

    def __len__(self) -> int:
        return int(self._ask("SELECT COUNT(*) FROM formulas")[0])

    def __call__(self, formula_id: str) -> str | None:
        """Return the visual id, or ``None`` for an unknown formula."""
        row = self.find_row(formula_id)
        return None if row is None else row.visual_id

    def find_row(self, formula_id: str) -> FormulaRow | None:
        """Return what the index says about a formula; ``None``: it is unknown."""
        if not is_number(formula_id):
            return None
        find = "SELECT visual_id, owner, latex FROM formulas WHERE id = ?"
        found = self._ask(find, int(formula_id))
        if found is None:
            return None
        visual_id, owner, cell = found
        latex = strip_delimiters(unescape_latex(cell.decode("utf-8", "surrogatepass")))
        return FormulaRow(str(visual_id), latex, owner)

    def count_visual_ids(self, visual_ids: Iterable[str]) -> int:
        """Count how many of the ids are visual ids of this index."""
        return self._count_known("visual_id", visual_ids)

    def count_formula_ids(self, formula_ids: Iterable[str]) -> int:
        """Count how many of the ids are formula ids of this index."""
        return self._count_known("id", formula_ids)

    def save(self, folder: Path) -> None:
        """Write the index into a folder."""
        with replace_folder(folder) as part:
            written = sqlite3.connect(part / _FILE)
            self._connection.backup(written)
            written.close()
            write_checksums(part)

    @classmethod
    def load(cls, folder: Path) -> VisualIndex:
        """Open the index of a folder.

        Raises:
            DamagedFileError: it is not what was written.
        """
        check_folder(folder, "run the stage 'ingestion' again", whole=True)
        uri = f"{(folder / _FILE).absolute().as_uri()}?mode=ro&immutable=1"
        return cls(sqlite3.connect(uri, uri=True, check_same_thread=False))

    @staticmethod
    def is_saved(folder: Path) -> bool:
        """Tell whether an index is in the folder."""
        return (folder / _FILE).is_file()

    def _ask(self, query: str, *values: Any) -> Any:
        return self._connection.execute(query, values).fetchone()

    def _count_known(self, column: str, ids: Iterable[str]) -> int:
        asked = json.dumps([int(i) for i in set(ids) if is_number(i)])
        count = f"SELECT COUNT(DISTINCT {column}) FROM formulas WHERE {column} IN "
        return int(self._ask(f"{count}(SELECT value FROM json_each(?))", asked)[0])


def _list_rows(table: pa.Table) -> Iterator[tuple[int, int, str, bytes]]:
    """Yield the rows whose ids are numbers."""
    empty = [""] * table.num_rows
    columns = [
        table[c].to_pylist() if c in table.column_names else empty
        for c in VisualIndex.COLUMNS
    ]
    for formula_id, visual_id, post, comment, cell in zip(*columns, strict=True):
        if is_number(formula_id) and is_number(visual_id):
            owner = comment or post or ""
            owner = ("c" if comment else "") + owner if is_number(owner) else ""
            latex = cell.encode("utf-8", "surrogatepass")
            yield int(formula_id), int(visual_id), owner, latex
