"""TSV tables with a header: the formula index of ARQMath, the formulas of topics.

One rule for every reader:

- UTF-8, tabs between the columns, cells that hold a tab or a line break in ``"``.
- The header names the columns, in upper or lower case and any order; other columns are
ignored.
- Empty rows do not count. A row with fewer or more cells than the header, with bytes
  that are not UTF-8, or with a quote that is never closed is a failure with its file
  and line.
- A quote counts as never closed if a complete row follows, a line with as many tabs as
the header. That row and those after it are read.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from mathamr_kedro.base.errors import MalformedInputError, MissingInputError
from mathamr_kedro.base.records import Failure
from mathamr_kedro.base.types import FormulaId, TopicId, VisualId
from mathamr_kedro.trec.files import open_binary, read_text, refuse_damaged_gzip

_MAX_CELL = 16 * 2**20  # a longer cell means that a quote was never closed

TopicNotes = dict[TopicId, dict[str, str]]
"""Value of each dimension by topic, e.g. ``{"A.201": {"category": "Proof"}}``."""

DIMENSIONS = ("category", "difficulty", "dependency", "multi-part")
"""Columns with notes, in the order of the reports."""
_TOPIC_NAMES = ("topic", "topic_id", "topic id", "topic number", "number")
_SAME = {"calculation": "Computation"}


def read_table(
    path: Path,
    columns: Sequence[str],
    optional: Sequence[str] = (),
    needs_header: bool = True,
) -> Iterator[tuple[int, list[str]] | Failure]:
    """Yield line number and cells of each row, in the order of ``columns``.

    Args:
        path: the file, plain or gzip.
        columns: names of the columns; ``a|b`` is a column of either name.
        optional: names of columns that may be missing; their cells are then empty.
        needs_header: ``False`` allows a file with just these columns and no header.

    Raises:
        MissingInputError: there is no such file.
        MalformedInputError: a column is missing, or the file is neither UTF-8 text nor
            a whole gzip file.
    """
    rows = _read_rows(path)
    line, first = next(rows, (1, []))
    header = [name.strip().lower() for name in first]
    if not needs_header and len(first) == len(columns):
        if _find_column(header, columns[-1]) is None:
            yield line, [*first, *[""] * len(optional)]
            header = [name.partition("|")[0] for name in columns]
    places = _find_columns(path, header, columns)
    extra = [_find_column(header, name) for name in optional]
    places += [-1 if place is None else place for place in extra]
    for line, cells in rows:
        if not cells:
            continue
        problem = _find_problem(cells, header)
        if problem:
            yield Failure("ingestion", path.name, f"line {line}", cells[0], *problem)
        else:
            cells.append("")  # a column is missing
            yield line, [cells[place] for place in places]


def _find_column(header: Sequence[str], name: str) -> int | None:
    names = name.split("|")
    return next((i for i, column in enumerate(header) if column in names), None)


def _find_columns(
    path: Path, header: Sequence[str], columns: Sequence[str]
) -> list[int]:
    places = [_find_column(header, name) for name in columns]
    for name, place in zip(columns, places, strict=True):
        if place is None:
            raise MalformedInputError(
                f"{str(path)!r}, line 1: expected a header with the columns "
                f"{' '.join(columns)!r}, found no {name!r} in "
                f"{' '.join(header)[:200]!r}"
            )
    return [place for place in places if place is not None]


def _find_problem(
    cells: Sequence[str], header: Sequence[str]
) -> tuple[str, str] | None:
    if isinstance(cells, _OpenRow):
        detail = (
            'A quote (") opens a cell and is not closed before the next row; close it, '
            "or write the cell in quotes with its own quotes doubled"
        )
        return "open_quote", detail
    expected = f"Expected {len(header)} columns ({' '.join(header)})"
    if len(cells) < len(header):
        return "too_few_columns", f"{expected}, got {len(cells)}"
    if any(cells[len(header) :]):
        detail = f"{expected}, got {len(cells)}; put a cell that holds a tab in quotes"
        return "too_many_columns", detail
    text = "\t".join(cells)
    if text.isascii():
        return None
    try:
        text.encode()
    except UnicodeEncodeError:  # bytes that were escaped on reading
        return "bad_encoding", "Expected UTF-8; convert the file"
    return None


def _read_rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    with open_binary(path) as stream, refuse_damaged_gzip(path):
        start = stream.read(4)
        if start[:2] in (b"\xff\xfe", b"\xfe\xff") or b"\0" in start:
            raise MalformedInputError(
                f"Expected UTF-8 in {str(path)!r}, found UTF-16 or binary data; "
                f"convert it, e.g. `iconv -f utf-16 -t utf-8 {path.name}`"
            )
        stream.seek(0)
        text = io.TextIOWrapper(
            stream, encoding="utf-8-sig", errors="surrogateescape", newline=""
        )
        yield from _Rows(text).parse()


class _Rows:
    """Rows of a table; a quote that is never closed affects one row only."""

    def __init__(self, lines: Iterable[str]) -> None:
        self._lines = iter(lines)
        self._returned: list[str] = []  # lines to read again, the next one last
        self._number = 0
        self._tabs = 0

    def parse(self) -> Iterator[tuple[int, list[str]]]:
        while (line := self._next()) is not None:
            number = self._number
            self._tabs = self._tabs or max(1, line.count("\t"))  # those of the header
            yield number, self._parse_row(line) if '"' in line else _split(line)

    def _next(self) -> str | None:
        line = self._returned.pop() if self._returned else next(self._lines, None)
        self._number += line is not None
        return line

    def _parse_row(self, line: str) -> list[str]:
        """Parse a row with quotes, which may continue on the next lines."""
        taken: list[str] = []
        before = csv.field_size_limit(_MAX_CELL)  # global: only for this row
        try:
            return next(csv.reader(self._continue(line, taken), delimiter="\t"))
        except (_OpenQuoteError, csv.Error):
            self._number -= len(taken)
            self._returned += reversed(taken)
            return _OpenRow(_split(line))
        finally:
            csv.field_size_limit(before)

    def _continue(self, line: str, taken: list[str]) -> Iterator[str]:
        yield line
        while (line_after := self._next()) is not None:
            taken.append(line_after)
            if line_after.count("\t") >= self._tabs:
                raise _OpenQuoteError
            yield line_after
        raise _OpenQuoteError


class _OpenRow(list[str]):
    """The cells of a row with a quote that is never closed, split at its tabs."""


class _OpenQuoteError(Exception):
    """A row, or the end of the file, came before the end of a quoted cell."""


def _split(line: str) -> list[str]:
    row = line.rstrip("\r\n")
    return row.split("\t") if row else []


def read_topic_notes(path: Path | str) -> TopicNotes:
    """Read the organisers' notes on the kind of each topic.

    ::

        Topic,...,Dependency,Difficulty,Category,...
        A.201,...,Text,Low,Proof,...

    - A CSV or TSV file with a header; columns are found by name, in any order and case.
    - It needs a column of topics and at least one of :data:`DIMENSIONS`.
    - Empty rows do not count; a row without a topic, or with fewer cells than the
      header, cannot be read.
    - *Calculation*, as the category is called in 2021, is the *Computation* of the
      other years.
    - A Task 2 topic ``B.x`` is in the question of ``A.x`` and shares its notes.

    Raises:
        MissingInputError: there is no such file.
        MalformedInputError: it has no column of topics or none of the dimensions, or a
            row cannot be read; the message names file and line.
    """
    path = Path(path)
    text = read_text(path)
    delimiter = "\t" if "\t" in text.partition("\n")[0] else ","
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    header = [name.strip().lower() for name in next(reader, [])]
    topic_column = next((header.index(n) for n in _TOPIC_NAMES if n in header), None)
    columns = {name: header.index(name) for name in DIMENSIONS if name in header}
    if topic_column is None or not columns:
        raise MalformedInputError(
            f"Expected a column 'Topic' and one of {list(DIMENSIONS)} "
            f"(got {header!r}) ({path.name}, line 1)"
        )
    notes: TopicNotes = {}
    for row in reader:
        if not any(cell.strip() for cell in row):
            continue
        if len(row) < len(header) or not row[topic_column].strip():
            raise MalformedInputError(
                f"Expected a topic and {len(header)} columns (got {row!r}) "
                f"({path.name}, line {reader.line_num})"
            )
        notes[row[topic_column].strip()] = {
            name: _SAME.get(row[place].strip().lower(), row[place].strip())
            for name, place in columns.items()
        }
    shared = {
        "B." + topic.removeprefix("A."): values
        for topic, values in notes.items()
        if topic.startswith("A.")
    }
    return shared | notes


class VisualIds(NamedTuple):
    """Visual ids of formulas: the part of the formula index that scoring needs.

    Formulas that look the same share a visual id. Task 2 judges visual ids, while
    systems return formula instances. The visual id is found by the name of its column,
    which is at another place in V2 and V3::

        id post_id thread_id type visual_id formula                               V2
        id post_id thread_id type comment_id old_visual_id visual_id issue formula  V3

    A file of two columns without header, ``formula_id  visual_id``, is read as well.
    """

    of_formula: dict[FormulaId, VisualId]
    known: frozenset[VisualId]
    """Visual ids that occur in the index."""
    not_retrievable: frozenset[FormulaId]
    """Formulas with the issue ``d``: not in the posts, never to be returned."""

    @classmethod
    def read(
        cls,
        paths: Iterable[Path | str],
        formula_ids: Collection[FormulaId] | None = None,
        visual_ids: Collection[VisualId] | None = None,
    ) -> VisualIds:
        """Read visual ids from index files or from folders of them.

        The index has 28 million rows; only the given ids are kept.

        Args:
            paths: TSV files, plain or gzip, or folders with ``*.tsv`` and ``*.tsv.gz``.
            formula_ids: formulas to keep; all if absent.
            visual_ids: visual ids to look for (``known``); all if absent.

        Raises:
            MissingInputError: a file or folder is missing, or a folder holds no TSV.
            MalformedInputError: a file has no visual ids, or a row cannot be read.
        """
        wanted = None if formula_ids is None else frozenset(formula_ids)
        looked_for = None if visual_ids is None else frozenset(visual_ids)
        of_formula: dict[FormulaId, VisualId] = {}
        known: set[VisualId] = set()
        hidden: set[FormulaId] = set()
        for formula_id, visual_id, issue in _read_visual_ids(paths):
            if looked_for is None or visual_id in looked_for:
                known.add(visual_id)
            if wanted is None or formula_id in wanted:
                of_formula[formula_id] = visual_id
                if "d" in issue:
                    hidden.add(formula_id)
        return cls(of_formula, frozenset(known), frozenset(hidden))


def _read_visual_ids(paths: Iterable[Path | str]) -> Iterator[list[str]]:
    columns, optional = ("id|formula_id", "visual_id"), ("issue",)
    for path in _list_files(paths):
        for row in read_table(path, columns, optional, needs_header=False):
            if isinstance(row, Failure):
                raise MalformedInputError(f"{row.detail} ({row.source}, {row.place})")
            yield row[1]


def _list_files(paths: Iterable[Path | str]) -> Iterator[Path]:
    for path in map(Path, paths):
        if not path.is_dir():
            yield path
            continue
        found = sorted([*path.glob("*.tsv"), *path.glob("*.tsv.gz")])
        if not found:
            raise MissingInputError(f"No *.tsv files in the folder {str(path)!r}")
        yield from found
