"""Visual ids of formulas, read from the ARQMath formula index.

Formulas that look the same share a visual id. Task 2 judges visual ids, while systems
return formula instances. The index comes as TSV files with a header; the visual id is
found by the name of its column, which stands at another place in V2 and V3:

```
id  post_id  thread_id  type  visual_id  formula                                   V2
id  post_id  thread_id  type  comment_id  old_visual_id  visual_id  issue  formula  V3
```

A file of two columns without header, ``formula_id  visual_id``, is read as well.
"""

from __future__ import annotations

import csv
import gzip
import io
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from mathamr_kedro.errors import MalformedInputError, MissingInputError
from mathamr_kedro.types import FormulaId, VisualId

_LONGEST_CELL = 2**31 - 1


class VisualIds(NamedTuple):
    """The part of the formula index that scoring needs."""

    of_formula: dict[FormulaId, VisualId]
    known: frozenset[VisualId]
    """Visual ids that occur in the index."""
    not_retrievable: frozenset[FormulaId]
    """Formulas with the issue ``d``: not in the posts, never to be returned."""


def read_visual_ids(
    paths: Iterable[Path | str],
    formula_ids: Collection[FormulaId] | None = None,
    visual_ids: Collection[VisualId] | None = None,
) -> VisualIds:
    """Read visual ids from index files or from folders of them.

    The whole index has 28 million rows; name what is needed and only that is kept.

    Args:
        paths: TSV files, plain or gzip, or folders with ``*.tsv`` and ``*.tsv.gz``.
        formula_ids: formulas to keep; all when absent.
        visual_ids: visual ids to look for (``known``); all when absent.

    Raises:
        MissingInputError: a file or folder is not there, or a folder holds no TSV.
        MalformedInputError: a file has no visual ids.
    """
    wanted = None if formula_ids is None else frozenset(formula_ids)
    looked_for = None if visual_ids is None else frozenset(visual_ids)
    of_formula: dict[FormulaId, VisualId] = {}
    known: set[VisualId] = set()
    hidden: set[FormulaId] = set()
    for path in _files(paths):
        for formula_id, visual_id, issue in _read_rows(path):
            if looked_for is None or visual_id in looked_for:
                known.add(visual_id)
            if wanted is None or formula_id in wanted:
                of_formula[formula_id] = visual_id
                if "d" in issue:
                    hidden.add(formula_id)
    return VisualIds(of_formula, frozenset(known), frozenset(hidden))


def _files(paths: Iterable[Path | str]) -> Iterator[Path]:
    for path in map(Path, paths):
        if not path.is_dir():
            yield path
            continue
        found = sorted([*path.glob("*.tsv"), *path.glob("*.tsv.gz")])
        if not found:
            raise MissingInputError(f"No *.tsv files in the folder {str(path)!r}")
        yield from found


def _read_rows(path: Path) -> Iterator[tuple[FormulaId, VisualId, str]]:
    with _open(path) as file, _long_cells():
        reader = csv.reader(file, delimiter="\t")
        header = next(reader, [])
        names = [name.strip().lower() for name in header]
        if "visual_id" not in names and len(header) == 2:
            yield header[0], header[1], ""
            names = ["id", "visual_id"]
        try:
            id_column = names.index("id" if "id" in names else "formula_id")
            visual_column = names.index("visual_id")
        except ValueError as exc:
            raise MalformedInputError(
                f"Expected columns 'id' and 'visual_id' (got {header!r}) "
                f"({path.name}, line 1)"
            ) from exc
        issue_column = names.index("issue") if "issue" in names else None
        for row in reader:
            if len(row) <= visual_column:
                raise MalformedInputError(
                    f"Expected {len(names)} columns (got {len(row)}) "
                    f"({path.name}, line {reader.line_num})"
                )
            issue = row[issue_column] if issue_column is not None else ""
            yield row[id_column], row[visual_column], issue


@contextmanager
def _open(path: Path) -> Iterator[io.TextIOBase]:
    try:
        with path.open("rb") as raw:
            packed = raw.read(2) == b"\x1f\x8b"
            raw.seek(0)
            plain = gzip.GzipFile(fileobj=raw) if packed else raw
            with io.TextIOWrapper(plain, encoding="utf-8-sig", newline="") as file:
                yield file
    except FileNotFoundError as exc:
        raise MissingInputError(f"No file {str(path)!r}") from exc
    except (UnicodeDecodeError, EOFError, gzip.BadGzipFile, csv.Error) as exc:
        raise MalformedInputError(f"Cannot read {path.name} as TSV ({exc})") from exc


@contextmanager
def _long_cells() -> Iterator[None]:
    before = csv.field_size_limit(_LONGEST_CELL)
    try:
        yield
    finally:
        csv.field_size_limit(before)
