"""The formula-tree store: millions of formulas on disk, any of them in one look-up.

```
trees (one row per visually distinct formula)    visual id │ SLT │ OPT │ sources │ ...
                                                   "17"     [V!x..] [O!SUP..] pmml cmml
batches: the names of the batches that are whole
```

One SQLite file. A batch is one transaction that also notes its name, so a run that was
killed leaves whole batches only, and the next run skips those. A formula whose worker
died or took too long is among the failures, and its batch is not noted: the next run
tries that formula again. Nothing is held in
memory but SQLite's page cache. Trees are bracket strings, deflated with a dictionary of
what every tree says; a store keeps its own copy of it.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from mathamr_kedro.base.checksums import check_file
from mathamr_kedro.base.errors import InputError, MalformedInputError, MissingInputError
from mathamr_kedro.base.formatting import count_nouns
from mathamr_kedro.base.records import FormulaInstance
from mathamr_kedro.base.types import VisualId
from mathamr_kedro.formula.tree import FormulaTrees
from mathamr_kedro.formula.tree_rows import DICTIONARY, SOURCES, TreeRow, find_trees

_VERSION = 1
_CACHE_MEBIBYTES = 64

_SCHEMA = """
CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value BLOB) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS batches (name TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS trees (
    visual_id PRIMARY KEY NOT NULL,
    formula_id NOT NULL,
    slt BLOB,
    opt BLOB,
    slt_source INTEGER NOT NULL,
    opt_source INTEGER NOT NULL,
    deviations TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS failures (visual_id PRIMARY KEY NOT NULL) WITHOUT ROWID;
"""
_ADD_TREES = """
INSERT INTO trees VALUES (?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (visual_id) DO UPDATE SET
    slt = excluded.slt, opt = excluded.opt, slt_source = excluded.slt_source,
    opt_source = excluded.opt_source, deviations = excluded.deviations
WHERE visual_id IN failures
"""
_NOTE_FAILURE = "INSERT OR IGNORE INTO failures VALUES (?)"
_FORGET_FAILURE = "DELETE FROM failures WHERE visual_id = ?"
_FIND_TREES = "SELECT * FROM trees WHERE visual_id = ?"


class TreeStore:
    """Formula trees on disk, found by visual id.

    Args:
        path: the file; made, with its folder, unless ``read_only``.
        read_only: open only for reading, e.g. in several processes at once.
        made_from: checksum of the formulas, if the caller knows.

    Raises:
        MissingInputError: ``read_only``, and there is no such file.
        MalformedInputError: the file is not a store of this version.
    """

    def __init__(
        self, path: str | Path, read_only: bool = False, made_from: str = ""
    ) -> None:
        self.path = Path(path)
        self.made_from = made_from
        self._read_only = read_only
        if read_only and not self.path.is_file():
            raise MissingInputError(
                f"No formula-tree store at {str(self.path)!r}; run the ingestion first"
            )
        self.path.parent.mkdir(parents=True, exist_ok=True)
        mode = "ro" if read_only else "rwc"
        self._connection = sqlite3.connect(
            f"{self.path.absolute().as_uri()}?mode={mode}",
            uri=True,
            isolation_level=None,
            check_same_thread=False,
        )
        try:
            self._prepare()
        except sqlite3.DatabaseError as exc:
            self._connection.close()
            raise MalformedInputError(
                f"Expected a formula-tree store at {str(self.path)!r} ({exc})"
            ) from exc
        except MalformedInputError:
            self._connection.close()
            raise

    def _prepare(self) -> None:
        run = self._connection.execute
        run(f"PRAGMA cache_size = -{_CACHE_MEBIBYTES * 1024}")
        version = run("PRAGMA user_version").fetchone()[0]
        if version not in (0, _VERSION) or (self._read_only and version == 0):
            raise MalformedInputError(
                f"Expected a formula-tree store of version {_VERSION} at "
                f"{str(self.path)!r} (got version {version}); rebuild it"
            )
        if not self._read_only:
            run("PRAGMA journal_mode = WAL")
            run("PRAGMA synchronous = NORMAL")
            self._connection.executescript(
                f"BEGIN IMMEDIATE;{_SCHEMA};PRAGMA user_version = {_VERSION};COMMIT;"
            )
            run("INSERT OR IGNORE INTO meta VALUES ('dictionary', ?)", (DICTIONARY,))
        self._dictionary: bytes = run(
            "SELECT value FROM meta WHERE key = 'dictionary'"
        ).fetchone()[0]

    def check(self) -> None:
        """Refuse a file whose bytes were changed; it is read once in a process.

        Raises:
            DamagedFileError: it is not what was written.
        """
        check_file(self.path, "run the stage 'ingestion' again, it rebuilds it")

    def add_batch(self, name: str, rows: Iterable[TreeRow]) -> None:
        """Write a whole batch, or nothing of it.

        Args:
            name: of the batch; it must be new.
            rows: trees; of a visual id that is already there the first row stays,
                unless it is a failure.

        Raises:
            InputError: a batch of this name is already there.
        """
        run = self._connection.execute
        run("BEGIN IMMEDIATE")
        try:
            if run("SELECT 1 FROM batches WHERE name = ?", (name,)).fetchone():
                raise InputError(
                    f"Expected a new batch name (got {name!r}, which is already in "
                    f"{str(self.path)!r}); skip finished_batches()"
                )
            failures = 0
            for row in rows:
                packed = row.pack(self._dictionary)
                keys = _to_key(row.visual_id), _to_key(row.formula_id)
                run(_ADD_TREES, (*keys, *packed))
                run(_NOTE_FAILURE if row.may_pass else _FORGET_FAILURE, keys[:1])
                failures += row.may_pass
            if not failures:
                run("INSERT INTO batches VALUES (?)", (name,))
        except BaseException:
            run("ROLLBACK")
            raise
        run("COMMIT")

    def __repr__(self) -> str:
        what = f"trees of {count_nouns(len(self), 'distinct formula')}"
        return f"<{type(self).__name__}: {what}, in {self.path}>"

    def finished_batches(self) -> set[str]:
        """Return the names of the batches that are whole."""
        found = self._connection.execute("SELECT name FROM batches")
        return {name for (name,) in found}

    def missing_visuals(self, visual_ids: Iterable[VisualId]) -> set[VisualId]:
        """Return the visual ids whose trees are not here yet, or have failed."""
        find = "SELECT 1 FROM trees WHERE visual_id = ?"
        asked, failed = set(visual_ids), set(self.list_failures())
        return asked.intersection(failed) | {
            visual_id
            for visual_id in asked - failed
            if not self._connection.execute(find, (_to_key(visual_id),)).fetchone()
        }

    def list_failures(self) -> list[VisualId]:
        """Return the visual ids that another try may read, in their order."""
        find = "SELECT visual_id FROM failures ORDER BY 1"
        with suppress(sqlite3.OperationalError):  # written before they were noted
            return [str(visual_id) for (visual_id,) in self._connection.execute(find)]
        return []

    def trees(self, visual_id: VisualId) -> FormulaTrees | None:
        """Return the trees of a visually distinct formula, or None."""
        row = self.row(visual_id)
        return row.trees() if row is not None else None

    def find(self, formula: FormulaInstance) -> FormulaTrees | None:
        """Return the trees of a formula; its LaTeX is read for what is missing."""
        return find_trees(self, formula.visual_id, formula.latex)

    def row(self, visual_id: VisualId) -> TreeRow | None:
        """Return the row of a visually distinct formula, or None."""
        values = self._connection.execute(_FIND_TREES, (_to_key(visual_id),)).fetchone()
        return TreeRow.unpack(values, self._dictionary) if values is not None else None

    def __iter__(self) -> Iterator[TreeRow]:
        """Yield all rows, ordered by visual id."""
        with closing(self._connection.cursor()) as cursor:
            for values in cursor.execute("SELECT * FROM trees ORDER BY visual_id"):
                yield TreeRow.unpack(values, self._dictionary)

    def __len__(self) -> int:
        """Return the number of visually distinct formulas."""
        return self._connection.execute("SELECT COUNT(*) FROM trees").fetchone()[0]

    def count_sources(self) -> dict[tuple[str, str], int]:
        """Return how many rows there are by source of SLT and source of OPT."""
        found = self._connection.execute(
            "SELECT slt_source, opt_source, COUNT(*) FROM trees GROUP BY 1, 2"
        )
        return {(SOURCES[slt], SOURCES[opt]): count for slt, opt, count in found}

    def describe(self) -> dict[str, Any]:
        """Count the trees by source, and those that are missing."""
        sources: Counter[str] = Counter()
        for (slt, opt), count in self.count_sources().items():
            sources[f"slt_{slt or 'none'}"] += count
            sources[f"opt_{opt or 'none'}"] += count
        return {
            "distinct": len(self),
            "sources": dict(sorted(sources.items())),
        }

    def close(self) -> None:
        """Close the file; a writer leaves one plain file that any place can hold."""
        if not self._read_only:
            # Not while others read: then the log stays beside the file, and is read.
            with suppress(sqlite3.OperationalError):
                self._connection.execute("PRAGMA journal_mode = DELETE")
        self._connection.close()

    def __enter__(self) -> TreeStore:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def _to_key(identifier: str) -> int | str:
    """Return an id as it is stored: numbers as numbers, which take a third of the room.

    Only a number that is written the one canonical way may become one, so that every
    id comes back as it was.
    """
    if identifier.isdecimal() and identifier.isascii() and len(identifier) < 19:
        if identifier[0] != "0" or identifier == "0":
            return int(identifier)
    return identifier
