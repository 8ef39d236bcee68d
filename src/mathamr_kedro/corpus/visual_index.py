"""Formula id to visual id in a few bytes a formula.

Two sorted integer arrays, memory-mapped: 28 million formulas take 224 MB on disk and,
while posts are read, only the pages that are touched in memory.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from mathamr_kedro.corpus.raw import is_number
from mathamr_kedro.wording import count_nouns

_DROPPED = 1  # bit of the flags: issue "d", the formula must not be returned


class VisualIndex:
    """Looks up the visual id of a formula id."""

    def __init__(self, ids: np.ndarray, visual_ids: np.ndarray, flags: np.ndarray):
        # Plain views of the mapped files: a memmap is slow to index.
        self._ids = np.asarray(ids)
        self._visual_ids = np.asarray(visual_ids)
        self._flags = np.asarray(flags)

    @classmethod
    def build(cls, tables: Iterable[pa.Table]) -> VisualIndex:
        """Build the index from tables with ``formula_id, visual_id, issue``."""
        parts = [_numbers(table) for table in tables]
        ids, visual_ids, flags = (
            np.concatenate([part[column] for part in parts])
            if parts
            else np.zeros(0, np.int64)
            for column in range(3)
        )
        if (ids[:-1] > ids[1:]).any():  # the lab's tables are in order: no copies
            order = np.argsort(ids, kind="stable")
            ids, visual_ids, flags = ids[order], visual_ids[order], flags[order]
        return cls(ids, visual_ids, flags)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {count_nouns(len(self), 'formula')}>"

    def __len__(self) -> int:
        return len(self._ids)

    def __call__(self, formula_id: str) -> str | None:
        """Return the visual id, or ``None`` for an unknown formula."""
        place = self._find(formula_id)
        return None if place is None else str(self._visual_ids[place])

    def is_retrievable(self, formula_id: str) -> bool:
        """Tell whether the formula may be returned by a Task 2 search."""
        place = self._find(formula_id)
        return place is None or not self._flags[place] & _DROPPED

    @staticmethod
    def mark_retrievable(issues: pa.ChunkedArray) -> pa.ChunkedArray:
        """Mark the formulas that a Task 2 search may return, by their issues."""
        return pc.invert(pc.match_substring(issues, "d"))

    def count_visual_ids(self, visual_ids: Iterable[str]) -> int:
        """Count how many of the ids are visual ids of this index."""
        return _count_known(visual_ids, np.unique(self._visual_ids))

    def count_formula_ids(self, formula_ids: Iterable[str]) -> int:
        """Count how many of the ids are formula ids of this index."""
        return _count_known(formula_ids, self._ids)

    def save(self, folder: Path) -> None:
        """Write the arrays into a folder."""
        folder.mkdir(parents=True, exist_ok=True)
        for name in ("ids", "visual_ids", "flags"):
            np.save(folder / f"{name}.npy", getattr(self, f"_{name}"))

    @classmethod
    def load(cls, folder: Path) -> VisualIndex:
        """Map the arrays of a folder into memory."""
        names = ("ids", "visual_ids", "flags")
        return cls(*(np.load(folder / f"{name}.npy", mmap_mode="r") for name in names))

    def _find(self, formula_id: str) -> int | None:
        if not is_number(formula_id):
            return None
        number = int(formula_id)
        if number > np.iinfo(self._ids.dtype).max:
            return None
        # A number of another type would make NumPy convert the whole array.
        place = int(self._ids.searchsorted(self._ids.dtype.type(number)))
        if place == len(self._ids) or self._ids[place] != number:
            return None
        return place


def _numbers(table: pa.Table) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return ids, visual ids and flags of the rows whose ids are numbers."""
    columns = [table[c].to_pylist() for c in ("formula_id", "visual_id", "issue")]
    rows = [
        (int(formula_id), int(visual_id), "d" in issue)
        for formula_id, visual_id, issue in zip(*columns, strict=True)
        if is_number(formula_id) and is_number(visual_id)
    ]
    numbers = np.array(rows, dtype=np.int64).reshape(-1, 3)
    small = np.int32 if numbers.size and numbers.max() < 2**31 else np.int64
    return (
        numbers[:, 0].astype(small),
        numbers[:, 1].astype(small),
        numbers[:, 2].astype(np.uint8),
    )


def _count_known(ids: Iterable[str], known: np.ndarray) -> int:
    numbers = np.array(sorted({int(i) for i in ids if is_number(i)}), dtype=np.int64)
    if not len(numbers) or not len(known):
        return 0
    places = np.minimum(np.searchsorted(known, numbers), len(known) - 1)
    return int((known[places] == numbers).sum())
