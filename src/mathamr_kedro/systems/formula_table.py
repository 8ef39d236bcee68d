"""Formulas of an index: their ids, visual ids, posts and LaTeX, and numbers beside."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from mathamr_kedro.base.arrays import Arrays, TextColumn, read_arrays, write_arrays
from mathamr_kedro.base.hits import DECIMALS, FormulaHits, rank_ids
from mathamr_kedro.base.records import FormulaInstance
from mathamr_kedro.base.types import FormulaId, PostId, VisualId

if TYPE_CHECKING:
    from mathamr_kedro.formula import FormulaTree, FormulaTrees

_COLUMNS = ("formula_id", "visual_id", "post_id", "latex")


def choose_tree(
    trees: FormulaTrees | None, kind: Literal["slt", "opt"]
) -> FormulaTree | None:
    """Return the layout or the operator tree of a formula, if it shows anything."""
    tree = None if trees is None else trees.slt if kind == "slt" else trees.opt
    return None if tree is None or tree.is_blank else tree


class FormulaTable:
    """Formulas by row, mapped into memory."""

    def __init__(self, path: Path) -> None:
        arrays = read_arrays(path)
        self._columns = [
            TextColumn(arrays.pop(f"{name}.text"), arrays.pop(f"{name}.ends"))
            for name in _COLUMNS
        ]
        self.numbers: Arrays = arrays
        """What was given beside the formulas, by name."""

    @staticmethod
    def write(
        path: Path, formulas: Sequence[FormulaInstance], **numbers: NDArray[Any]
    ) -> int:
        """Write formulas, and arrays with a number of each; return the bytes."""
        arrays: Arrays = dict(numbers)
        for name in _COLUMNS:
            column = TextColumn.of(getattr(f, name) for f in formulas)
            arrays |= {f"{name}.text": column.text, f"{name}.ends": column.ends}
        return write_arrays(path, arrays)

    def __len__(self) -> int:
        return len(self._columns[0])

    @cached_property
    def ids(self) -> NDArray[np.object_]:
        """(N,) ids of the formulas."""
        return np.array([*self._columns[0], None], dtype=np.object_)[:-1]

    @cached_property
    def _numbers(self) -> dict[VisualId, int]:
        return {v: n for n, v in enumerate(dict.fromkeys(self._columns[1]))}

    @cached_property
    def visuals(self) -> NDArray[np.int64]:
        """(N,) equal for formulas that look the same, numbered as they come."""
        found = [self._numbers[visual] for visual in self._columns[1]]
        return np.array(found, dtype=np.int64)

    def find_visuals(self, visual_ids: Iterable[VisualId]) -> NDArray[np.int64]:
        """Return the rows of all formulas with some visual ids."""
        numbers = [self._numbers[v] for v in visual_ids if v in self._numbers]
        return np.flatnonzero(np.isin(self.visuals, numbers))

    @cached_property
    def _order(self) -> NDArray[np.int64]:
        return rank_ids(self.ids.tolist())

    def take(self, rows: Sequence[int] | NDArray[np.int64]) -> list[FormulaInstance]:
        """Return the formulas of some rows."""
        columns = [column.take(rows) for column in self._columns]
        return [FormulaInstance(*row) for row in zip(*columns, strict=True)]

    def find(self, key: FormulaId | PostId) -> list[FormulaInstance]:
        """Return the formula of an id, or the formulas of a post."""
        rows = np.flatnonzero(self.ids == key)
        if not len(rows):
            rows = np.flatnonzero([post == key for post in self._columns[2]])
        return self.take(rows)

    def rank(
        self, rows: NDArray[np.int64], scores: NDArray[np.float64], depth: int
    ) -> FormulaHits:
        """Return the best formulas, each visual id once by its best instance."""
        rounded = np.round(scores, DECIMALS)
        order = np.lexsort((self._order[rows], -rounded))
        _, first = np.unique(self.visuals[rows[order]], return_index=True)
        best = order[np.sort(first)[:depth]]
        found = self.take(rows[best])
        return FormulaHits(
            [f.formula_id for f in found],
            rounded[best],
            [f.visual_id for f in found],
            [f.post_id for f in found],
        )
