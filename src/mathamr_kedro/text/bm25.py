r"""BM25 over any terms.

.. math::

    s(q, d) = \sum_{t \in q} \log\left(1 + \frac{N - n_t + 0.5}{n_t + 0.5}\right)
              \frac{f_{t,d}}{f_{t,d} + k_1 (1 - b + b \, |d| / \overline{|d|})}

The contribution of a term to the score of a document is computed once; a query sums
columns, as in the package bm25s, which takes a second to load and cannot use the
statistics of other documents.
"""

from __future__ import annotations

import json
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from mathamr_kedro.base.errors import MissingInputError
from mathamr_kedro.base.hits import Hits

_FACTS = "terms.json"
_ARRAYS = ("shares", "documents", "starts", "frequencies")
_NOTHING = ""
"""A term that no query contains: placeholder for documents without terms."""
_K1, _B = 1.2, 0.75


class TermIndex:
    """Documents by their terms.

    Documents may be a stream: each distinct term of a document takes eight bytes.

    >>> index = TermIndex([("1", ["prime", "number"]), ("2", ["even", "number"])])
    >>> index.search(["prime"], depth=5).ids
    ['1']

    Args:
        documents: ids with their terms.
        like: another index whose statistics are used: number of documents, their mean
            length, and document frequencies. Then scores of both are comparable.
    """

    def __init__(
        self,
        documents: Iterable[tuple[str, Sequence[str]]],
        like: TermIndex | None = None,
    ) -> None:
        numbers: defaultdict[str, int] = defaultdict(lambda: len(numbers))
        self.ids: list[str] = []
        terms, counts, sizes, lengths = (array("I") for _ in range(4))
        for key, listed in documents:
            found = Counter(listed or (_NOTHING,))
            self.ids.append(key)
            terms.extend(numbers[term] for term in found)
            counts.extend(found.values())
            sizes.append(len(found))
            lengths.append(found.total())
        self._numbers = dict(numbers)
        self._starts = np.zeros(len(numbers) + 1, dtype=np.int64)
        columns = np.asarray(terms)
        np.cumsum(np.bincount(columns, minlength=len(numbers)), out=self._starts[1:])
        rows = np.repeat(np.arange(len(self.ids), dtype=np.int32), np.asarray(sizes))
        self._count, self._mean_length = len(self.ids), 1.0
        self._frequencies: NDArray[np.int64] = np.diff(self._starts)
        if like is not None:
            self._count, self._mean_length = like._count, like._mean_length
            of_like = [like._frequency(term) for term in numbers]
            self._frequencies = np.array(of_like, dtype=np.int64)
        elif self.ids:
            self._mean_length = float(np.mean(lengths))
        order = np.argsort(columns, kind="stable")
        columns, self._documents = columns[order], rows[order]
        often = np.asarray(counts)[order].astype(np.float64)
        length = np.asarray(lengths)[self._documents] / self._mean_length
        rarity = _rate_rarity(self._count, self._frequencies)
        share = often / (often + _K1 * (1 - _B + _B * length))
        self._shares: NDArray[np.float32] = (
            rarity.astype(np.float32)[columns] * share
        ).astype(np.float32)

    def save(self, folder: Path) -> None:
        """Write the index to a folder."""
        facts = {
            "ids": self.ids,
            "terms": list(self._numbers),
            "count": self._count,
            "mean_length": self._mean_length,
        }
        (folder / _FACTS).write_text(json.dumps(facts), encoding="utf-8")
        for name in _ARRAYS:
            np.save(folder / f"{name}.npy", getattr(self, f"_{name}"))

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Read an index that :meth:`save` wrote; large arrays are mapped.

        Raises:
            MissingInputError: there is none, or one of an earlier version.
        """
        if not (folder / _FACTS).is_file():
            raise MissingInputError(
                f"Expected an index of terms in {str(folder)!r} (got none, or one of "
                "an earlier version); run `kedro run --pipelines indexing`"
            )
        facts: dict[str, Any] = json.loads((folder / _FACTS).read_text("utf-8"))
        found = cls(())
        found.ids, found._count = facts["ids"], facts["count"]
        found._mean_length = facts["mean_length"]
        found._numbers = {term: i for i, term in enumerate(facts["terms"])}
        for name in _ARRAYS:
            mapped = np.load(folder / f"{name}.npy", mmap_mode="r")
            setattr(found, f"_{name}", np.asarray(mapped))
        return found

    def __len__(self) -> int:
        return len(self.ids)

    @cached_property
    def places(self) -> dict[str, int]:
        """Position of each document."""
        return {key: place for place, key in enumerate(self.ids)}

    def search(
        self,
        terms: Sequence[str],
        depth: int,
        allowed: NDArray[np.bool_] | None = None,
    ) -> Hits:
        """Return the best documents that contain any of the terms."""
        sums = np.zeros(len(self.ids), dtype=np.float32)
        for number in (self._numbers[t] for t in terms if t and t in self._numbers):
            column = slice(self._starts[number], self._starts[number + 1])
            sums[self._documents[column]] += self._shares[column]
        found = np.flatnonzero(sums if allowed is None else sums * allowed)
        scores = sums[found].astype(np.float64)
        if len(found) > depth:
            kept = scores >= np.partition(scores, -depth)[-depth]
            found, scores = found[kept], scores[kept]
        return Hits.rank([self.ids[i] for i in found], scores).top(depth)

    def explain(self, terms: Sequence[str], key: str) -> list[float]:
        """Return the contribution of each term to the score of a document."""
        place, shares = self.places[key], []
        for number in (self._numbers.get(term) for term in terms):
            if number is None:
                shares.append(0.0)
                continue
            start, end = self._starts[number : number + 2]
            found = start + np.searchsorted(self._documents[start:end], place)
            has = found < end and self._documents[found] == place
            shares.append(float(self._shares[found]) if has else 0.0)
        return shares

    def bound(self, terms: Sequence[str]) -> float:
        """Return an upper bound of the scores of these terms."""
        counts = np.array([self._frequency(term) for term in terms if term])
        return float(_rate_rarity(self._count, counts).sum()) if len(counts) else 0.0

    def count(self, term: str) -> int:
        """Return how many of its documents contain a term."""
        number = self._numbers.get(term)
        if number is None:
            return 0
        return int(self._starts[number + 1] - self._starts[number])

    def _frequency(self, term: str) -> int:
        """Return the document frequency of a term, by the statistics in use."""
        number = self._numbers.get(term)
        return 0 if number is None else int(self._frequencies[number])


def _rate_rarity(total: int, counts: NDArray[Any]) -> NDArray[np.float64]:
    rarity: NDArray[np.float64] = np.log(1 + (total - counts + 0.5) / (counts + 0.5))
    return rarity
