"""Visual ids of formulas, read from the ARQMath formula index.

Formulas that look the same share a visual id. Task 2 judges visual ids, while systems
return formula instances. The index comes as TSV files with a header; the visual id is
found by the name of its column, which is at another place in V2 and V3:

```
id  post_id  thread_id  type  visual_id  formula                                   V2
id  post_id  thread_id  type  comment_id  old_visual_id  visual_id  issue  formula  V3
```

A file of two columns without header, ``formula_id  visual_id``, is read as well. Rows
are read by the rule of :mod:`mathamr_kedro.trec.tables`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from mathamr_kedro.base.errors import MalformedInputError, MissingInputError
from mathamr_kedro.base.records import Failure
from mathamr_kedro.base.types import FormulaId, VisualId
from mathamr_kedro.trec.tables import read_table


class VisualIds(NamedTuple):
    """The part of the formula index that scoring needs."""

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

        The whole index has 28 million rows; name what is needed and only that is kept.

        Args:
            paths: TSV files, plain or gzip, or folders with ``*.tsv`` and ``*.tsv.gz``.
            formula_ids: formulas to keep; all when absent.
            visual_ids: visual ids to look for (``known``); all when absent.

        Raises:
            MissingInputError: a file or folder is missing, or a folder holds no TSV.
            MalformedInputError: a file has no visual ids, or a row cannot be read.
        """
        wanted = None if formula_ids is None else frozenset(formula_ids)
        looked_for = None if visual_ids is None else frozenset(visual_ids)
        of_formula: dict[FormulaId, VisualId] = {}
        known: set[VisualId] = set()
        hidden: set[FormulaId] = set()
        for formula_id, visual_id, issue in _read_rows(paths):
            if looked_for is None or visual_id in looked_for:
                known.add(visual_id)
            if wanted is None or formula_id in wanted:
                of_formula[formula_id] = visual_id
                if "d" in issue:
                    hidden.add(formula_id)
        return cls(of_formula, frozenset(known), frozenset(hidden))


def _read_rows(paths: Iterable[Path | str]) -> Iterator[list[str]]:
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
