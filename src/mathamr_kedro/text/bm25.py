"""BM25 over any terms (package bm25s)."""

from __future__ import annotations

import json
import logging
import sys
from array import array
from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from mathamr_kedro.base.hits import Hits

_IDS = "ids.json"
_NOTHING = ""
"""A term that no query has: it keeps the place of a document without terms."""


@cache
def _load_bm25s() -> Any:
    """Return the package, which most searches do not need and which takes a second.

    It tries JAX if it is installed, which takes three quarters of a GPU, and
    loads numba; what it would use them for, choosing the best, is done here.
    """
    hidden = [name for name in ("jax", "numba") if name not in sys.modules]
    sys.modules.update(dict.fromkeys(hidden))  # type: ignore[arg-type]
    try:
        import bm25s  # noqa: PLC0415
    finally:
        for name in hidden:
            del sys.modules[name]
    # The package sets its own logger to DEBUG when it is imported.
    logging.getLogger("bm25s").setLevel(logging.WARNING)
    return bm25s


class _Corpus(NamedTuple):
    """What bm25s indexes."""

    ids: list[array[int]]
    """Numbers of the terms of each document."""
    vocab: dict[str, int]


class TermIndex:
    """Documents by their terms.

    Documents may come from a stream: a term takes four bytes while the index is built,
    and eight for each document that has it afterwards.

    >>> index = TermIndex([("1", ["prime", "number"]), ("2", ["even", "number"])])
    >>> index.search(["prime"], depth=5).ids
    ['1']
    """

    def __init__(
        self,
        documents: Iterable[tuple[str, Sequence[str]]],
        k1: float = 1.2,
        b: float = 0.75,
    ) -> None:
        self._scorer = _load_bm25s().BM25(k1=k1, b=b, method="lucene")
        numbers: defaultdict[str, int] = defaultdict(lambda: len(numbers))
        self._ids: list[str] = []
        listed: list[array[int]] = []
        for key, terms in documents:
            self._ids.append(key)
            listed.append(array("I", [numbers[term] for term in terms or (_NOTHING,)]))
        if listed:
            corpus = _Corpus(listed, dict(numbers))
            self._scorer.index(corpus, show_progress=False)

    def save(self, folder: Path) -> None:
        """Write the index to a folder."""
        (folder / _IDS).write_text(json.dumps(self._ids), encoding="utf-8")
        if self._ids:
            self._scorer.save(folder, show_progress=False)

    @classmethod
    def load(cls, folder: Path) -> TermIndex:
        """Read an index that :meth:`save` wrote; large arrays are mapped."""
        found = cls(())
        found._ids = json.loads((folder / _IDS).read_text(encoding="utf-8"))
        if found._ids:
            found._scorer = _load_bm25s().BM25.load(
                folder, mmap=True, show_progress=False
            )
        return found

    def __len__(self) -> int:
        return len(self._ids)

    def search(self, terms: Sequence[str], depth: int) -> Hits:
        """Return the best documents that have one of the terms."""
        if not self._ids:
            return Hits.rank([], [])
        known = [t for t in terms if t and t in self._scorer.vocab_dict]
        if not known:
            return Hits.rank([], [])
        scores = self._scorer.get_scores(known).astype(np.float64)
        found = np.flatnonzero(scores > 0)
        if len(found) > depth:
            floor = np.partition(scores[found], -depth)[-depth]
            found = found[scores[found] >= floor]
        return Hits.rank([self._ids[i] for i in found], scores[found]).top(depth)
