"""What the training reads: posts as ids of tokens, in files of some posts each.

::

    prepared/
      context/            the context encoder and its tokenizer
      vocabulary.json     tokens of LaTeX
      posts-00000.arrays  text, text_ptr          ids of the context encoder
                          formulas, formula_ptr   numbers of tokens of LaTeX
                          owners                  where the formulas of a post start
      pairs.npy           (P, 2) rows of questions and of their answers
      validation.npy      the same, held out
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mathamr_kedro.base.arrays import Arrays, read_arrays, write_arrays
from mathamr_kedro.base.errors import MissingInputError
from mathamr_kedro.base.files import replace_file
from mathamr_kedro.systems.marf.vocabulary import TokenVocabulary

_PAIRS, _HELD_OUT = "pairs.npy", "validation.npy"

Ids = NDArray[np.int32]


class PostShards:
    """Posts by their rows.

    Args:
        folder: that was prepared.
    """

    posts_per_shard = 2048

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.paths = sorted(folder.glob("posts-*.arrays"))

    @staticmethod
    def write(
        folder: Path, number: int, posts: Sequence[tuple[Ids, Sequence[Ids]]]
    ) -> None:
        """Write a shard: text and formulas of each post."""
        formulas = [formula for _, found in posts for formula in found]
        arrays: dict[str, NDArray[Any]] = {
            "text": _join([text for text, _ in posts]),
            "text_ptr": _find_starts([text for text, _ in posts]),
            "formulas": _join(formulas),
            "formula_ptr": _find_starts(formulas),
            "owners": _find_starts([found for _, found in posts]),
        }
        write_arrays(folder / f"posts-{number:05d}.arrays", arrays)

    @staticmethod
    def write_pairs(
        folder: Path, pairs: NDArray[np.int64], held_out: NDArray[np.int64]
    ) -> None:
        """Write rows of questions and answers, to learn from and held out."""
        for name, rows in ((_PAIRS, pairs), (_HELD_OUT, held_out)):
            with replace_file(folder / name) as part, part.open("wb") as file:
                np.save(file, rows)

    @cached_property
    def pairs(self) -> NDArray[np.int64]:
        """(P, 2) rows to learn from."""
        return self._read(_PAIRS)

    @cached_property
    def held_out(self) -> NDArray[np.int64]:
        """(P, 2) rows to choose the best epoch by."""
        return self._read(_HELD_OUT)

    @cached_property
    def vocabulary(self) -> TokenVocabulary:
        """Tokens of LaTeX."""
        return TokenVocabulary.load(self.folder)

    def shard(self, number: int) -> Arrays:
        """Return the arrays of a shard, mapped into memory."""
        return self._shards[number]

    def text(self, row: int) -> Ids:
        """Return the ids of the text of a post."""
        arrays, place = self._find(row)
        start, end = arrays["text_ptr"][place : place + 2]
        return arrays["text"][start:end]

    def count_formulas(self, row: int) -> int:
        """Return how many formulas a post has."""
        arrays, place = self._find(row)
        start, end = arrays["owners"][place : place + 2]
        return int(end - start)

    def formula(self, row: int, number: int) -> Ids:
        """Return the tokens of a formula of a post; none where it has no formula."""
        arrays, place = self._find(row)
        first, last = arrays["owners"][place : place + 2]
        if first == last:
            return arrays["formulas"][:0]
        start, end = arrays["formula_ptr"][first + number : first + number + 2]
        return arrays["formulas"][start:end]

    @cached_property
    def _shards(self) -> list[Arrays]:
        return [read_arrays(path) for path in self.paths]

    def _find(self, row: int) -> tuple[Arrays, int]:
        shard, place = divmod(int(row), self.posts_per_shard)
        return self._shards[shard], place

    def _read(self, name: str) -> NDArray[np.int64]:
        path = self.folder / name
        if not path.is_file():
            raise MissingInputError(
                f"Expected {name} in {str(self.folder)!r}; run the stage 'training'"
            )
        found: NDArray[np.int64] = np.load(path)
        return found


def _join(parts: Sequence[Ids]) -> Ids:
    return np.concatenate([np.zeros(0, np.int32), *parts])


def _find_starts(parts: Sequence[Any]) -> NDArray[np.int64]:
    return np.cumsum([0] + [len(part) for part in parts], dtype=np.int64)
