"""The formula index: three families of TSV files with the same rows in the same order.

```
latex_representation_v3/1.tsv   id post_id thread_id type comment_id old_visual_id
                                visual_id issue formula
slt_representation_v3/1.tsv     the same rows; formula = Presentation MathML
opt_representation_v3/1.tsv     the same rows; formula = Content MathML
```

The older v2 files have ``id post_id thread_id type visual_id formula``. Files may be
gzipped. The families are read side by side, never as a whole.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from mathamr_kedro.corpus.xml_rows import open_binary
from mathamr_kedro.errors import MalformedInputError, MissingInputError
from mathamr_kedro.records import Failure, Formula

FAMILIES = ("latex", "slt", "opt")
V3_COLUMNS = (
    "id post_id thread_id type comment_id old_visual_id visual_id issue formula".split()
)
V2_COLUMNS = "id post_id thread_id type visual_id formula".split()

# One cell longer than this means that a quote was never closed.
_MAX_CELL = 16 * 2**20
# Rows of one family that wait for their twin; more means that the families differ.
_MAX_WAITING = 20_000

_NUMBER = re.compile(r"\d+")


class Line(NamedTuple):
    """One row of a TSV file, by column name."""

    number: int
    cells: Mapping[str, str]


def list_tables(folders: Mapping[str, Path]) -> list[tuple[str, dict[str, Path]]]:
    """Pair the files of the families by name, in numeric order.

    Args:
        folders: family (``latex``, ``slt``, ``opt``) to its folder.

    Raises:
        MissingInputError: a family or one of its files is not there.
    """
    by_family = {family: _files_of(folder) for family, folder in folders.items()}
    for family, files in by_family.items():
        if not files:
            raise MissingInputError(
                f"Expected files named 1.tsv, 2.tsv, ... (or .tsv.gz) for the family "
                f"{family!r} in {str(folders[family])!r}; unpack "
                f"{family}_representation_v3.zip there, or leave the family out of "
                "formula_families in conf/<env>/catalog.yml"
            )
    first = next(iter(by_family.values()), {})  # none: there is no formula index
    names = sorted(first, key=lambda n: (len(n), n))
    for family, files in by_family.items():
        lacking = sorted(set(names) ^ set(files))
        if lacking:
            raise MissingInputError(
                f"The families differ: table {lacking[0]!r} is not in all of "
                f"{', '.join(folders)} (looked at {str(folders[family])!r}); fetch the "
                "missing file"
            )
    return [(n, {f: files[n] for f, files in by_family.items()}) for n in names]


def _files_of(folder: Path) -> dict[str, Path]:
    files = sorted(folder.glob("*.tsv")) + sorted(folder.glob("*.tsv.gz"))
    return {file.name.split(".")[0]: file for file in files}


def read_table(files: Mapping[str, Path]) -> Iterator[Formula | Failure]:
    """Yield the formulas of one table, its families joined row by row."""
    readers = {family: _read_lines(path, family) for family, path in files.items()}
    yield from _Join(readers, files).join()


class _Join:
    """Joins rows of the families; a row may wait for its twin for a while."""

    def __init__(
        self, readers: Mapping[str, Iterator[Line | Failure]], files: Mapping[str, Path]
    ) -> None:
        self._readers = dict(readers)
        self._files = files
        self._first = next(iter(readers))
        self._others = [family for family in readers if family != self._first]
        self._waiting: dict[str, dict[str, Line]] = {f: {} for f in readers}

    def join(self) -> Iterator[Formula | Failure]:
        for line in self._readers[self._first]:
            if isinstance(line, Failure):
                yield line
                continue
            formula_id = line.cells["id"]
            cells = {self._first: line.cells["formula"]}
            for family in self._others:
                twin, failures = self._find(family, formula_id)
                yield from failures
                if twin is None:
                    yield self._lacks(line, family)
                else:
                    cells[family] = twin.cells["formula"]
            yield _formula(line, cells, self._files[self._first])
        for family in self._others:
            yield from self._rest(family)

    def _find(self, family: str, formula_id: str) -> tuple[Line | None, list[Failure]]:
        waiting = self._waiting[family]
        failures: list[Failure] = []
        if formula_id in waiting:
            return waiting.pop(formula_id), failures
        for line in self._readers[family]:
            if isinstance(line, Failure):
                failures.append(line._replace(kept=True))
                continue
            if line.cells["id"] == formula_id:
                return line, failures
            waiting[line.cells["id"]] = line
            if len(waiting) > _MAX_WAITING:
                raise MalformedInputError(
                    f"{str(self._files[family])!r}, line {line.number}: the family "
                    f"{family!r} has other rows than {self._first!r} (formula "
                    f"{formula_id!r} was not found among {_MAX_WAITING:,} rows); fetch "
                    "both files from the same release"
                )
        return None, failures

    def _lacks(self, line: Line, family: str) -> Failure:
        return Failure(
            "ingestion",
            self._files[family].name,
            f"line {line.number} of {self._files[self._first].name}",
            line.cells["id"],
            f"no_{family}_row",
            f"formula {line.cells['id']} has no row in the family {family!r}",
            kept=True,
        )

    def _rest(self, family: str) -> Iterator[Failure]:
        unread = (x for x in self._readers[family] if not isinstance(x, Failure))
        for line in (*self._waiting[family].values(), *unread):
            yield Failure(
                "ingestion",
                self._files[family].name,
                f"line {line.number}",
                line.cells["id"],
                f"no_{self._first}_row",
                f"the row stands in the family {family!r} alone; it is not used",
                kept=True,
            )


def _formula(
    line: Line, representations: Mapping[str, str], path: Path
) -> Formula | Failure:
    cells = line.cells
    visual_id = cells["visual_id"]
    for column in ("id", "visual_id"):
        if not _NUMBER.fullmatch(cells[column]):
            return Failure(
                "ingestion",
                path.name,
                f"line {line.number}",
                cells["id"],
                f"bad_{column}",
                f"expected a number in the column {column!r} (got {cells[column]!r})",
            )
    return Formula(
        cells["id"],
        cells["post_id"],
        cells["thread_id"],
        cells["type"],
        cells.get("comment_id") or None,
        cells.get("old_visual_id") or None,
        visual_id,
        cells.get("issue", ""),
        representations.get("latex", ""),
        representations.get("slt", ""),
        representations.get("opt", ""),
    )


def read_tsv(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Yield ``(line number, cells)`` of a TSV file with ``"`` quoting.

    Raises:
        MalformedInputError: the file is not UTF-8 text, or a quote is never closed.
    """
    csv.field_size_limit(_MAX_CELL)
    with open_binary(path) as stream:
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
        try:
            for cells in reader:
                yield reader.line_num, cells
        except csv.Error as exc:
            raise MalformedInputError(
                f"{str(path)!r}, near line {reader.line_num}: {exc}; a quote was "
                "probably never closed: repair that line"
            ) from exc
        except EOFError as exc:
            raise MalformedInputError(
                f"{str(path)!r} is a damaged gzip file ({exc}); fetch it again"
            ) from exc


def is_utf8(cells: Sequence[str]) -> bool:
    """Tell whether the cells came from valid UTF-8."""
    try:
        "\t".join(cells).encode()
    except UnicodeEncodeError:  # bytes that were escaped on reading
        return False
    return True


def _read_lines(path: Path, family: str) -> Iterator[Line | Failure]:
    rows = read_tsv(path)
    _, header = next(rows, (1, []))
    columns = _columns_of(header, path)
    for number, cells in rows:
        if not cells:
            continue
        place = f"line {number}"
        if len(cells) < len(columns):
            yield Failure(
                "ingestion",
                path.name,
                place,
                cells[0],
                "too_few_columns",
                f"expected {len(columns)} columns ({' '.join(columns)}), got "
                f"{len(cells)} in the family {family!r}",
            )
        elif not is_utf8(cells):
            yield Failure(
                "ingestion",
                path.name,
                place,
                cells[0],
                "bad_encoding",
                f"expected UTF-8 in the family {family!r}; convert the file",
            )
        else:
            yield Line(number, dict(zip(columns, cells, strict=False)))


def _columns_of(header: Sequence[str], path: Path) -> list[str]:
    if list(header) in (V3_COLUMNS, V2_COLUMNS):
        return list(header)
    raise MalformedInputError(
        f"{str(path)!r}, line 1: expected the header {' '.join(V3_COLUMNS)!r} (v3) or "
        f"{' '.join(V2_COLUMNS)!r} (v2), got {' '.join(header)[:200]!r}"
    )
