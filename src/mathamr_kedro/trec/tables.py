"""TSV tables with a header: the formula index of ARQMath, the formulas of topics.

One rule for every reader:

- UTF-8, tabs between the columns, cells that hold a tab or a line break in ``"``.
- The header names the columns, in any case; their order does not matter, nor do
  others.
- Empty rows do not count. A row with fewer cells than the header, or with bytes that
  are not UTF-8, is a failure with its file and line.
"""

from __future__ import annotations

import csv
import gzip
import io
import zlib
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from mathamr_kedro.errors import MalformedInputError
from mathamr_kedro.records import Failure
from mathamr_kedro.trec.files import open_binary

_MAX_CELL = 16 * 2**20  # a longer cell means that a quote was never closed
_ROWS_AT_ONCE = 256


def read_table(
    path: Path,
    columns: Sequence[str],
    optional: Sequence[str] = (),
    needs_header: bool = True,
) -> Iterator[tuple[int, list[str]] | Failure]:
    """Yield line number and cells of each row, cells in the order that is asked for.

    Args:
        path: the file, plain or gzip.
        columns: names of the columns; ``a|b`` is a column of either name.
        optional: names of columns that may be missing; their cells are then empty.
        needs_header: ``False`` allows a file with just these columns and no header.

    Raises:
        MissingInputError: there is no such file.
        MalformedInputError: a column is missing, a quote is never closed, or the file
            is neither UTF-8 text nor a whole gzip file.
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
            cells.append("")  # where a column is missing
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
    if len(cells) < len(header):
        detail = (
            f"Expected {len(header)} columns ({' '.join(header)}), got {len(cells)}"
        )
        return "too_few_columns", detail
    text = "\t".join(cells)
    if text.isascii():
        return None
    try:
        text.encode()
    except UnicodeEncodeError:  # bytes that were escaped on reading
        return "bad_encoding", "Expected UTF-8; convert the file"
    return None


def _read_rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    with open_binary(path) as stream:
        try:
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
            reader = csv.reader(text, delimiter="\t", quotechar='"')
            while rows := _parse_some(reader):
                yield from rows
        except csv.Error as exc:
            raise MalformedInputError(
                f"{str(path)!r}, near line {reader.line_num}: {exc}; a quote was "
                "probably never closed: repair that line"
            ) from exc
        except (EOFError, zlib.error, gzip.BadGzipFile) as exc:
            raise MalformedInputError(
                f"{str(path)!r} is a damaged gzip file ({exc}); fetch it again"
            ) from exc


def _parse_some(reader: Any) -> list[tuple[int, list[str]]]:
    """Parse some rows; the limit of a cell, which is global, is raised meanwhile."""
    before = csv.field_size_limit(_MAX_CELL)
    try:
        return [(reader.line_num, cells) for cells in islice(reader, _ROWS_AT_ONCE)]
    finally:
        csv.field_size_limit(before)
