"""The store of formula trees: millions of formulas on disk, found by one look-up.

```
trees (one row per visually distinct formula)    visual id │ SLT │ OPT │ sources │ ...
                                                   "17"     [V!x..] [O!SUP..] pmml cmml
batches: the names of the complete batches
```

One SQLite file. A batch is one transaction that also notes its name, so a killed run
leaves only complete batches, and the next run skips those. A formula whose worker
died or took too long is among the failures, and its batch is not noted: the next run
tries that formula again. Only SQLite's page cache is in memory. Trees are bracket
strings, deflated with a dictionary of frequent substrings; a store keeps its own copy
of it.

A row says where its trees come from. Collections that publish trees hold bracket
strings in the cells: source brackets. Otherwise::

    formula ──┬─ presentation there? ── yes ─> SLT, source pmml
              │                          no ─> SLT of the LaTeX reader, source latex
              └─ content there? ──────── yes ─> OPT, source cmml
                                         no ─> OPT of the LaTeX reader, source latex
"""

from __future__ import annotations

import sqlite3
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, NamedTuple

import mathamr_kedro.formula
from mathamr_kedro.base.checksums import check_file
from mathamr_kedro.base.errors import (
    FormulaError,
    InputError,
    MalformedInputError,
    MissingInputError,
)
from mathamr_kedro.base.formatting import count_nouns
from mathamr_kedro.base.records import TRANSIENT, Formula, FormulaInstance
from mathamr_kedro.base.types import FormulaId, VisualId
from mathamr_kedro.formula.mathml import opt_from_mathml, slt_from_mathml
from mathamr_kedro.formula.tree import FormulaTree, FormulaTrees

VERSION = 2
"""Version of the trees; another one rebuilds all of them."""

SOURCES = ("", "pmml", "cmml", "latexml", "latex", "brackets")
"""Where a tree came from; empty if there is none. Stores hold the numbers, so the
place of LaTeXML, which read formulas once, stays."""

# Deflate looks for what it has seen: begin each tree with what most trees contain.
DICTIONARY = (
    "[C!infinity][M!D-|][O!factorial,0[O!limit][O!forall][O!in,0[F!sin,0[F!cos,0[F!log"
    "[T![E!,0[O!fragments],1[O!form-seq,0[U!neq,0[O!leq,0[O!geq,0[O!lt,0[O!gt,0[O!int"
    "[M!V-2[M!S-1[M!L-2,0[O!interval(O-O),0[M!M-2x2,0[M!R!,0[+!O!SUB,0[O!sum],1[U!and,"
    "0[O!root,0[+!O!SUP[V!…[V!π[V!𝑎],1[V!𝑏]]],1[V!𝑓],1[V!𝑥]],1[V!𝑛]]],1[N!1]]],1[N!2]]"
    ",2[,1[O!divide,0[N!1],1[O!minus,0[O!minus,0[N!1]],1[O!SUB,0[V!𝑥],1[V!𝑖]],1[O!SUP,"
    "0[V!𝑥],1[N!2]],1[U!eq,0[U!plus,0[U!times,0[V!𝑓],1[V!𝑥]],1["
    "[∑,o[V!n],u[V!i[=[N!1]]][∫[∈[V!ℝ[→[≤[≥[M!||1x1,w[M!{}1x1,w[M!&lsqb;&rsqb;1x2,w["
    "[lim,u[V!n[→[V!∞]]][&comma;],e[V!y]]][M!()1x2,w[V!x[&comma;],e[V!y]]][O!root,w["
    "[O!divide,o[N!1],u[N!2]][V!f[M!()1x1[=[V!x,a[N!2]],w[V!x]]][V!a,b[V!n]][=[V!x[+["
    "N!1]]]][-[N!1]][V!n"
).encode()
"""Frequent substrings of trees; a store keeps its own copy, so this text may change."""

_MATHML: Mapping[str, tuple[Callable[..., FormulaTree | None], str]] = {
    "slt": (slt_from_mathml, "pmml"),
    "opt": (opt_from_mathml, "cmml"),
}
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


class TreeRow(NamedTuple):
    """The trees of one visually distinct formula, as bracket strings."""

    formula_id: FormulaId
    """The instance that the trees were made from."""
    visual_id: VisualId
    slt: str | None
    opt: str | None
    slt_source: str = ""
    opt_source: str = ""
    deviations: str = ""
    """Reasons with their counts, e.g. ``"repaired_markup=1 unknown_tag:ms=2"``."""

    @classmethod
    def build(cls, formula: Formula) -> TreeRow:
        """Return the row of a formula, each tree from its best source.

        MathML cells are read in total mode with the spelling of ARQMath's LaTeXML;
        bracket strings are taken as they are.

        Args:
            formula: with LaTeX and, as MathML or as bracket strings, presentation and
                content, each possibly empty.
        """
        reasons: Counter[str] = Counter()
        slt, slt_source = _read_cell(formula.presentation, "slt", reasons)
        opt, opt_source = _read_cell(formula.content, "opt", reasons)
        is_whole = slt is not None and opt is not None
        if not is_whole and formula.latex.strip():
            found = mathamr_kedro.formula.trees_from_latex(formula.latex, mode="total")
            reasons.update(found.problems)
            if slt is None and found.slt is not None:
                slt, slt_source = found.slt, "latex"
            if opt is None and found.opt is not None:
                opt, opt_source = found.opt, "latex"
        return cls(
            formula.formula_id,
            formula.visual_id,
            slt.to_string() if slt is not None else None,
            opt.to_string() if opt is not None else None,
            slt_source,
            opt_source,
            write_deviations(reasons),
        )

    @classmethod
    def without_trees(cls, formula: Formula, reason: str) -> TreeRow:
        """Return the row of an unreadable formula, with the reason."""
        ids = formula.formula_id, formula.visual_id
        return cls(*ids, None, None, deviations=f"{reason}=1")

    @property
    def may_pass(self) -> bool:
        """Whether reading it again may succeed, e.g. because its worker died."""
        if self.slt is not None or self.opt is not None:
            return False
        return not TRANSIENT.isdisjoint(self.count_deviations())

    def trees(self) -> FormulaTrees:
        """Return the trees themselves."""
        return FormulaTrees(
            FormulaTree.from_string(self.slt, "slt") if self.slt is not None else None,
            FormulaTree.from_string(self.opt, "opt") if self.opt is not None else None,
            self.count_deviations(),
        )

    def count_deviations(self) -> Counter[str]:
        """Return the reasons with their counts.

        >>> row = TreeRow("1", "1", None, None, deviations="empty=1 unknown_tag:ms=2")
        >>> row.count_deviations()["unknown_tag:ms"]
        2
        """
        parts = (item.rpartition("=") for item in self.deviations.split())
        return Counter({reason: int(count) for reason, _, count in parts})

    def pack(self, dictionary: bytes) -> tuple[object, ...]:
        """Return the stored form of all fields but the ids; :meth:`unpack` reads it."""
        return (
            _deflate(self.slt, dictionary),
            _deflate(self.opt, dictionary),
            SOURCES.index(self.slt_source),
            SOURCES.index(self.opt_source),
            self.deviations,
        )

    @classmethod
    def unpack(cls, values: tuple[Any, ...], dictionary: bytes) -> TreeRow:
        """Return a stored row: visual id, formula id, packed fields."""
        visual_id, formula_id, slt, opt, slt_source, opt_source, deviations = values
        return cls(
            str(formula_id),
            str(visual_id),
            _inflate(slt, dictionary),
            _inflate(opt, dictionary),
            SOURCES[slt_source],
            SOURCES[opt_source],
            str(deviations),
        )


def _read_cell(
    cell: str, kind: str, reasons: Counter[str]
) -> tuple[FormulaTree | None, str]:
    """Return the tree of a cell and its source, or why there is none."""
    if not cell:
        return None, ""
    if cell[0] == "[":  # no MathML begins so
        try:
            return FormulaTree.from_string(cell, kind), "brackets"
        except FormulaError:
            reasons["unreadable_brackets"] += 1
            return None, ""
    read, source = _MATHML[kind]
    tree = read(cell, compat="arqmath", counter=reasons)
    return tree, source if tree is not None else ""


def write_deviations(reasons: Counter[str]) -> str:
    """Return reasons with their counts as one line, in alphabetical order.

    >>> write_deviations(Counter({"unknown_tag:ms": 2, "empty": 1}))
    'empty=1 unknown_tag:ms=2'
    """
    return " ".join(
        f"{'_'.join(reason.split())}={reasons[reason]}" for reason in sorted(reasons)
    )


def build_rows(formulas: Sequence[Formula]) -> list[TreeRow]:
    """Return the row of each formula: the function of the workers."""
    return [TreeRow.build(formula) for formula in formulas]


def _deflate(text: str | None, dictionary: bytes) -> bytes | None:
    if text is None:
        return None
    # Raw deflate (no header, no checksum): SQLite checks its pages, and most trees
    # are shorter than a hundred bytes.
    packer = zlib.compressobj(6, zlib.DEFLATED, -15, zdict=dictionary)
    return packer.compress(text.encode("utf-8", "surrogatepass")) + packer.flush()


def _inflate(blob: bytes | None, dictionary: bytes) -> str | None:
    if blob is None:
        return None
    unpacker = zlib.decompressobj(-15, zdict=dictionary)
    return unpacker.decompress(blob).decode("utf-8", "surrogatepass")


def find_trees(
    store: TreeStore | None, visual_id: VisualId, latex: str
) -> FormulaTrees | None:
    """Return the trees of a formula from the store; read its LaTeX for what is missing.

    A tree without a visible symbol counts as missing, too: the published conversion may
    have failed for a formula whose LaTeX can be read.
    """
    stored = store.trees(visual_id) if store is not None and visual_id else None
    if (stored is not None and stored.is_whole) or not latex.strip():
        return stored
    read = mathamr_kedro.formula.trees_from_latex(latex, mode="total")
    return read if stored is None else stored.fill(read)


class TreeStore:
    """Formula trees on disk, by visual id.

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
        """Check the bytes of the file; it is read once in a process.

        Raises:
            DamagedFileError: it is not what was written.
        """
        check_file(self.path, "run the stage 'ingestion' again, it rebuilds it")

    def add_batch(self, name: str, rows: Iterable[TreeRow]) -> None:
        """Write a batch in one transaction.

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
        """Return the names of the complete batches."""
        found = self._connection.execute("SELECT name FROM batches")
        return {name for (name,) in found}

    def missing_visuals(self, visual_ids: Iterable[VisualId]) -> set[VisualId]:
        """Return the visual ids whose trees are missing or have failed."""
        find = "SELECT 1 FROM trees WHERE visual_id = ?"
        asked, failed = set(visual_ids), set(self.list_failures())
        return asked.intersection(failed) | {
            visual_id
            for visual_id in asked - failed
            if not self._connection.execute(find, (_to_key(visual_id),)).fetchone()
        }

    def list_failures(self) -> list[VisualId]:
        """Return the visual ids that may succeed when read again, in order."""
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
        """Close the file; a writer leaves a single file without journals."""
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
    """Return an id as stored: numbers as integers, which take a third of the space.

    Only canonically written numbers are converted, so that every id is restored
    exactly.
    """
    if identifier.isdecimal() and identifier.isascii() and len(identifier) < 19:
        if identifier[0] != "0" or identifier == "0":
            return int(identifier)
    return identifier
