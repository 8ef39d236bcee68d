"""The index: a vector of each text, the formulas that stand in it, exhaustive search.

::

    formulas.arrays     formula, visual id, post and text of each formula
    texts.arrays        the texts
    0.npy ... all.npy   (texts, k) vectors in half precision, by model

Formulas of a sentence share its vector. Of formulas that look the same the best counts;
of equal ones that with the first id.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mathamr_kedro.base.arrays import TextColumn, read_arrays, write_arrays
from mathamr_kedro.base.errors import MissingInputError
from mathamr_kedro.base.hits import DECIMALS, FormulaHits, rank_ids
from mathamr_kedro.base.progress import report_progress
from mathamr_kedro.base.records import FormulaInstance
from mathamr_kedro.base.types import FormulaId, VisualId
from mathamr_kedro.systems.mathamr.encoder import TextEncoder

_FORMULAS, _TEXTS = "formulas.arrays", "texts.arrays"
_AT_ONCE = 4096
"""Texts that are encoded before their vectors are written."""
_BLOCK = 65536
"""Texts that are compared at once."""


def _order(formula: FormulaInstance) -> tuple[int, str]:
    return len(formula.formula_id), formula.formula_id


class FormulaTexts(NamedTuple):
    """Formulas and the texts that they stand in."""

    formulas: list[FormulaInstance]
    rows: list[int]
    """Of the text of each formula."""
    texts: list[str]

    @staticmethod
    def choose(
        formulas: Iterable[FormulaInstance], instances: int
    ) -> dict[FormulaId, FormulaInstance]:
        """Keep those with the first ids of each visual id; 0 keeps all."""
        kept: dict[VisualId, list[FormulaInstance]] = {}
        for formula in formulas:
            found = kept.setdefault(formula.visual_id, [])
            found.append(formula)
            if instances and len(found) > instances:
                found.remove(max(found, key=_order))
        return {f.formula_id: f for found in kept.values() for f in found}

    @classmethod
    def collect(
        cls,
        chosen: Mapping[FormulaId, FormulaInstance],
        found: Iterable[tuple[FormulaId, str]],
    ) -> FormulaTexts:
        """Pair chosen formulas with their texts; the first text of each counts."""
        numbers: dict[str, int] = {}
        row_of: dict[FormulaId, int] = {}
        for formula_id, text in found:
            if formula_id in chosen and formula_id not in row_of:
                row_of[formula_id] = numbers.setdefault(text, len(numbers))
        formulas = [f for key, f in chosen.items() if key in row_of]
        ids = [f.formula_id for f in formulas]
        formulas = [formulas[n] for n in np.argsort(rank_ids(ids))]
        rows = [row_of[f.formula_id] for f in formulas]
        return cls(formulas, rows, list(numbers))

    def save(self, folder: Path) -> int:
        """Write both to a folder; return the bytes."""
        visuals = {f.visual_id: 0 for f in self.formulas}
        numbers = {visual: n for n, visual in enumerate(visuals)}
        columns = {
            "formula": TextColumn.of(f.formula_id for f in self.formulas),
            "post": TextColumn.of(f.post_id for f in self.formulas),
            "visual": TextColumn.of(visuals),
        }
        arrays = {
            f"{name}_{part}": getattr(column, part)
            for name, column in columns.items()
            for part in ("text", "ends")
        }
        arrays["rows"] = np.array(self.rows, dtype=np.int64)
        arrays["visuals"] = np.array(
            [numbers[f.visual_id] for f in self.formulas], dtype=np.int64
        )
        texts = TextColumn.of(self.texts)
        return write_arrays(folder / _FORMULAS, arrays) + write_arrays(
            folder / _TEXTS, {"text": texts.text, "ends": texts.ends}
        )


class FormulaVectors:
    """An index that was built, searched exhaustively.

    Args:
        folder: of the index.

    Raises:
        MissingInputError: there is none.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        arrays = read_arrays(folder / _FORMULAS)
        self._formulas, self._posts, self._visuals = (
            TextColumn(arrays[f"{name}_text"], arrays[f"{name}_ends"])
            for name in ("formula", "post", "visual")
        )
        self._rows, self._visual_of = arrays["rows"], arrays["visuals"]
        self._number_of: dict[VisualId, int] | None = None
        self._vectors: dict[str, NDArray[np.float16]] = {}

    @staticmethod
    def write(folder: Path, model: str, encoder: TextEncoder, batch_size: int) -> int:
        """Encode the texts of a folder by a model; return the bytes."""
        arrays = read_arrays(folder / _TEXTS)
        texts = TextColumn(arrays["text"], arrays["ends"])
        path = folder / f"{model}.npy"
        vectors = np.lib.format.open_memmap(
            path, "w+", dtype=np.float16, shape=(len(texts), encoder.width)
        )
        starts: Iterator[int] = report_progress(
            range(0, len(texts), _AT_ONCE),
            f"texts encoded by model {model}",
            lambda start: min(_AT_ONCE, len(texts) - start),
            total=len(texts),
        )
        for start in starts:
            places = range(start, min(start + _AT_ONCE, len(texts)))
            vectors[start : places.stop] = encoder.encode(
                [texts[n] for n in places], batch_size
            )
        vectors.flush()
        return path.stat().st_size

    def score(self, model: str, queries: NDArray[np.float32]) -> NDArray[np.float64]:
        """(queries, formulas) cosines."""
        vectors = self._open(model)
        scores = np.empty((len(queries), len(vectors)))
        for start in range(0, len(vectors), _BLOCK):
            block = vectors[start : start + _BLOCK].astype(np.float32)
            lengths = np.linalg.norm(block, axis=1)  # 1 but for the rounding to halves
            scores[:, start : start + _BLOCK] = queries @ block.T / lengths
        return np.round(scores[:, self._rows], DECIMALS)

    def rank(
        self,
        scores: NDArray[np.float64],
        depth: int,
        among: Collection[VisualId] | None = None,
    ) -> FormulaHits:
        """Return the best formulas, each visual id once.

        Args:
            scores: of all formulas.
            depth: how many.
            among: visual ids that may be returned; ``None``: all.
        """
        places = np.arange(len(scores))
        if among is not None:
            places = np.flatnonzero(np.isin(self._visual_of, self._number(among)))
        order = places[np.argsort(-scores[places], kind="stable")]
        _, first = np.unique(self._visual_of[order], return_index=True)
        best = order[np.sort(first)[:depth]]
        return FormulaHits(
            list(self._formulas.take(best)),
            scores[best],
            list(self._visuals.take(self._visual_of[best])),
            list(self._posts.take(best)),
        )

    def _number(self, visuals: Collection[VisualId]) -> Sequence[int]:
        if self._number_of is None:
            self._number_of = {visual: n for n, visual in enumerate(self._visuals)}
        return [self._number_of[v] for v in visuals if v in self._number_of]

    def _open(self, model: str) -> NDArray[np.float16]:
        if model not in self._vectors:
            path = self._folder / f"{model}.npy"
            if not path.is_file():
                raise MissingInputError(
                    f"Expected vectors at {str(path)!r}; run the stage 'indexing'"
                )
            self._vectors[model] = np.load(path, mmap_mode="r")
        return self._vectors[model]
