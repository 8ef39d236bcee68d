"""Formula id to its row in the formula index, in a few bytes a formula.

Sorted integer arrays and the LaTeX one after another, all memory-mapped: 28 million
formulas take some 1.5 GB on disk and, while posts are read, only the pages that are
touched in memory.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import IO

import numpy as np
import pyarrow as pa

from mathamr_kedro.base.checksums import check_folder, write_checksums
from mathamr_kedro.base.files import replace_folder
from mathamr_kedro.base.formatting import count_nouns
from mathamr_kedro.corpus.delimiters import strip_delimiters
from mathamr_kedro.corpus.formula_rows import FormulaRow
from mathamr_kedro.corpus.raw import is_number
from mathamr_kedro.corpus.scanning import unescape_latex

_ARRAYS = ("ids", "visual_ids", "owners", "starts", "lengths")
_LATEX = "latex.bin"
_COLUMNS = ("formula_id", "visual_id", "post_id", "comment_id", "latex")


class VisualIndex:
    """Looks up the visual id of a formula id, its LaTeX and whose formula it is.

    Args:
        ids: of the formulas, sorted.
        visual_ids: of the same formulas.
        owners: post ids; comment ids with a minus; 0 if neither is known.
        starts: where the LaTeX of each begins.
        lengths: of the LaTeX, in bytes.
        latex: UTF-8 of all formulas.
    """

    COLUMNS = _COLUMNS
    """What the index is built from; all but the first two may be missing."""

    def __init__(
        self,
        ids: np.ndarray,
        visual_ids: np.ndarray,
        owners: np.ndarray,
        starts: np.ndarray,
        lengths: np.ndarray,
        latex: np.ndarray,
    ) -> None:
        # Plain views of the mapped files: a memmap is slow to index.
        self._ids, self._visual_ids = np.asarray(ids), np.asarray(visual_ids)
        self._owners = np.asarray(owners)
        self._starts, self._lengths = np.asarray(starts), np.asarray(lengths)
        self._latex = np.asarray(latex)

    @classmethod
    def build(cls, tables: Iterable[pa.Table]) -> VisualIndex:
        """Build the index from tables with :attr:`COLUMNS`; LaTeX goes to the disk."""
        with tempfile.TemporaryFile() as file:
            parts = [_numbers(table, file) for table in tables]
            latex = _map_bytes(file)
        arrays = [
            np.concatenate([part[column] for part in parts])
            if parts
            else np.zeros(0, np.int64)
            for column in range(len(_ARRAYS) - 1)
        ]
        starts = np.cumsum(arrays[-1], dtype=np.int64) - arrays[-1]
        arrays.insert(-1, starts)
        ids = arrays[0]
        if (ids[:-1] > ids[1:]).any():  # the lab's tables are in order: no copies
            order = np.argsort(ids, kind="stable")
            arrays = [array[order] for array in arrays]
        ids, visual_ids, owners, starts, lengths = arrays
        return cls(ids, visual_ids, owners, starts, lengths, latex)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {count_nouns(len(self), 'formula')}>"

    def __len__(self) -> int:
        return len(self._ids)

    def __call__(self, formula_id: str) -> str | None:
        """Return the visual id, or ``None`` for an unknown formula."""
        place = self._find(formula_id)
        return None if place is None else str(self._visual_ids[place])

    def find_row(self, formula_id: str) -> FormulaRow | None:
        """Return what the index says about a formula; ``None``: it is unknown."""
        place = self._find(formula_id)
        if place is None:
            return None
        owner, start = int(self._owners[place]), int(self._starts[place])
        cell = self._latex[start : start + int(self._lengths[place])].tobytes()
        latex = strip_delimiters(unescape_latex(cell.decode("utf-8", "surrogatepass")))
        name = str(owner) if owner > 0 else f"c{-owner}" if owner else ""
        return FormulaRow(str(self._visual_ids[place]), latex, name)

    def count_visual_ids(self, visual_ids: Iterable[str]) -> int:
        """Count how many of the ids are visual ids of this index."""
        return _count_known(visual_ids, np.unique(self._visual_ids))

    def count_formula_ids(self, formula_ids: Iterable[str]) -> int:
        """Count how many of the ids are formula ids of this index."""
        return _count_known(formula_ids, self._ids)

    def save(self, folder: Path) -> None:
        """Write the arrays into a folder."""
        with replace_folder(folder) as part:
            self._latex.tofile(part / _LATEX)
            for name in _ARRAYS:
                np.save(part / f"{name}.npy", getattr(self, f"_{name}"))
            write_checksums(part)

    @classmethod
    def load(cls, folder: Path) -> VisualIndex:
        """Map the arrays of a folder into memory.

        Raises:
            DamagedFileError: they are not what was written.
        """
        check_folder(folder, "run the stage 'ingestion' again", whole=True)
        ids, visual_ids, owners, starts, lengths = (
            np.load(folder / f"{name}.npy", mmap_mode="r") for name in _ARRAYS
        )
        with (folder / _LATEX).open("rb") as file:
            latex = _map_bytes(file)
        return cls(ids, visual_ids, owners, starts, lengths, latex)

    @staticmethod
    def is_saved(folder: Path) -> bool:
        """Tell whether all arrays of an index are in the folder."""
        names = [_LATEX, *(f"{name}.npy" for name in _ARRAYS)]
        return all((folder / name).is_file() for name in names)

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


def _map_bytes(file: IO[bytes]) -> np.ndarray:
    """Map a file into memory; an empty one cannot be mapped."""
    file.flush()
    size = file.seek(0, 2)
    return np.memmap(file, np.uint8, "r") if size else np.zeros(0, np.uint8)


def _numbers(table: pa.Table, latex: IO[bytes]) -> tuple[np.ndarray, ...]:
    """Return all arrays but ``starts`` for the rows whose ids are numbers.

    Their LaTeX is appended to a file.
    """
    empty = [""] * table.num_rows
    columns = [
        table[c].to_pylist() if c in table.column_names else empty for c in _COLUMNS
    ]
    rows: list[tuple[int, ...]] = []
    cells: list[bytes] = []
    for formula_id, visual_id, post, comment, cell in zip(*columns, strict=True):
        if is_number(formula_id) and is_number(visual_id):
            cells.append(cell.encode("utf-8", "surrogatepass"))
            owner = _read_owner(post, comment)
            rows.append((int(formula_id), int(visual_id), owner, len(cells[-1])))
    latex.write(b"".join(cells))
    numbers = np.array(rows, dtype=np.int64).reshape(-1, 4)
    small = np.int32 if numbers.size and numbers.max() < 2**31 else np.int64
    kinds = (small, small, np.int64, np.int32)
    return tuple(numbers[:, n].astype(kind) for n, kind in enumerate(kinds))


def _read_owner(post_id: str | None, comment_id: str | None) -> int:
    for sign, name in ((-1, comment_id), (1, post_id)):
        if name:
            return sign * int(name) if is_number(name) else 0
    return 0


def _count_known(ids: Iterable[str], known: np.ndarray) -> int:
    numbers = np.array(sorted({int(i) for i in ids if is_number(i)}), dtype=np.int64)
    if not len(numbers) or not len(known):
        return 0
    places = np.minimum(np.searchsorted(known, numbers), len(known) - 1)
    return int((known[places] == numbers).sum())
