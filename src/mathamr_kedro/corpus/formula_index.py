"""The formula index of a collection: its rows by id, and which may be returned.

```
formula index ──┬─ ReturnableRule ──► returnable_formulas ──► vectors, baselines, scores
                └─ VisualIndex ─────► the row of a formula of a text
```

The rule of the lab: every formula of the index may be returned, those of comments too,
except those with an issue ``d`` (the formula is not in the XML). A collection without
an index returns the formulas of its texts.

Rows are in one SQLite file: 28 million formulas take some 2 GB on disk and, while posts
are read, only the pages that are touched in memory.
"""

from __future__ import annotations

import json
import sqlite3
from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from mathamr_kedro.base.checksums import check_folder, write_checksums
from mathamr_kedro.base.files import replace_folder
from mathamr_kedro.base.formatting import count_nouns
from mathamr_kedro.base.records import Comment, FormulaInstance, Post
from mathamr_kedro.corpus.delimiters import strip_delimiters
from mathamr_kedro.corpus.placeholders import FormulaRow
from mathamr_kedro.corpus.raw import is_number
from mathamr_kedro.corpus.scanning import unescape_latex

_FILE = "formulas.sqlite"

_TABLE = """
CREATE TABLE formulas (
    id INTEGER PRIMARY KEY, visual_id INTEGER, owner TEXT, latex BLOB
)
"""
FormulaPlace: TypeAlias = Literal["title", "question", "answer", "comment", "body"]
"""Where a formula occurs; ``body``: in a text other than a question or an answer."""


class VisualIndex:
    """Looks up the visual id, the LaTeX and the owner of a formula by its id."""

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
        """Return the row of a formula; ``None``: it is unknown."""
        if not is_number(formula_id):
            return None
        find = "SELECT visual_id, owner, latex FROM formulas WHERE id = ?"
        found = self._ask(find, int(formula_id))
        if found is None:
            return None
        visual_id, owner, cell = found
        latex = strip_delimiters(unescape_latex(cell.decode("utf-8", "surrogatepass")))
        return FormulaRow(str(visual_id), latex, owner)

    def count(self, column: Literal["id", "visual_id"], ids: Iterable[str]) -> int:
        """Count how many of the ids are formula ids or visual ids of this index."""
        asked = json.dumps([int(i) for i in set(ids) if is_number(i)])
        count = f"SELECT COUNT(DISTINCT {column}) FROM formulas WHERE {column} IN "
        return int(self._ask(f"{count}(SELECT value FROM json_each(?))", asked)[0])

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


@dataclass(frozen=True)
class ReturnableRule:
    """Which formulas may be returned; the default is the rule of the lab."""

    types: tuple[FormulaPlace, ...] = (
        "title", "question", "answer", "comment", "body",
    )  # fmt: skip
    """Places whose formulas may be returned."""
    issues_excluded: tuple[str, ...] = ("d", "dv")
    """Issues of the formula index whose formulas may not be returned."""

    def choose(self, formulas: pa.Table) -> pa.Table:
        """Return the rows of the formula index that may be returned.

        Args:
            formulas: with the columns ``place`` and ``issue``, and those of a
                :class:`~mathamr_kedro.base.records.FormulaInstance`.
        """
        is_placed = pc.is_in(formulas["place"], value_set=pa.array(self.types))
        issues = pa.array(self.issues_excluded, pa.string())
        has_issue = pc.is_in(formulas["issue"], value_set=issues)
        kept = formulas.filter(pc.and_(is_placed, pc.invert(has_issue)))
        return kept.select(list(FormulaInstance._fields))

    def choose_mentions(self, texts: Iterable[Post | Comment]) -> list[FormulaInstance]:
        """Return the formulas of texts, if there is no formula index."""
        return [
            FormulaInstance(
                mention.formula_id,
                mention.visual_id,
                text.post_id,
                mention.latex,
                text.comment_id if isinstance(text, Comment) else None,
            )
            for text in texts
            if _name_place(text) in self.types
            for mention in text.formula_map
        ]


def _name_place(text: Post | Comment) -> str:
    if isinstance(text, Comment):
        return "comment"
    if text.post_type == "example":  # to learn from; no search returns it
        return ""
    return text.post_type if text.post_type in ("question", "answer") else "body"


class FormulaIds:
    """A set of formula ids that numbers its members: 4 or 8 bytes for a numeric one.

    >>> ids = FormulaIds(["7", "primes.md:0", "12", "7"])
    >>> len(ids), ids.find(["12", "9", "primes.md:0", "07"]).tolist()
    (3, [1, -1, 2, -1])
    >>> ids[2], ids[0]
    ('primes.md:0', '7')
    """

    def __init__(self, ids: Iterable[str]) -> None:
        numbers, others = array("q"), dict[str, int]()
        for name in ids:
            if _is_number(name):
                numbers.append(int(name))
            else:
                others.setdefault(name, len(others))
        self._numbers = np.unique(np.array(numbers, dtype=np.int64))
        self._others = others
        self._names = list(others)

    def __len__(self) -> int:
        return len(self._numbers) + len(self._others)

    def __getitem__(self, place: int) -> str:
        if place < len(self._numbers):
            return str(self._numbers[place])
        return self._names[place - len(self._numbers)]

    def find(self, ids: Sequence[str]) -> NDArray[np.int64]:
        """Return the number of each id, -1 for one that is not in the set."""
        first = len(self._numbers)
        is_number = np.fromiter(map(_is_number, ids), np.bool_, len(ids))
        places = np.full(len(ids), -1, dtype=np.int64)
        wanted = np.array(
            [int(i) for i, number in zip(ids, is_number, strict=True) if number],
            dtype=np.int64,
        )
        if first:
            found = np.minimum(np.searchsorted(self._numbers, wanted), first - 1)
            known = self._numbers[found] == wanted
            places[is_number] = np.where(known, found, -1)
        for row in np.flatnonzero(~is_number).tolist():
            place = self._others.get(ids[row])
            places[row] = -1 if place is None else first + place
        return places


def _is_number(name: str) -> bool:
    """Tell whether a number would give the name back."""
    return is_number(name) and (name[0] != "0" or name == "0")
