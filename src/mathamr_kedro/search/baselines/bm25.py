"""BM25 over any terms (package bm25s)."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence

import bm25s
import numpy as np

from mathamr_kedro.search.index import Hits, make_hits

# The package sets its own logger to DEBUG when it is imported.
logging.getLogger("bm25s").setLevel(logging.WARNING)


class TermIndex:
    """Documents by their terms.

    >>> index = TermIndex(["1", "2"], [["prime", "number"], ["even", "number"]])
    >>> index.search(["prime"], depth=5).keys
    ['1']
    """

    def __init__(
        self,
        ids: Sequence[str],
        documents: Iterable[Sequence[str]],
        k1: float = 1.2,
        b: float = 0.75,
    ) -> None:
        self._ids = list(ids)
        self._scorer = bm25s.BM25(k1=k1, b=b, method="lucene")
        # A document without terms is kept in its place, with a term nobody asks for.
        listed = [list(terms) or [""] for terms in documents]
        if listed:
            self._scorer.index(listed, show_progress=False)

    def search(self, terms: Sequence[str], depth: int) -> Hits:
        """Return the best documents that have one of the terms."""
        if not self._ids:
            return make_hits([], [])
        known = [t for t in terms if t and t in self._scorer.vocab_dict]
        if not known:
            return make_hits([], [])
        scores = self._scorer.get_scores(known).astype(np.float64)
        found = np.flatnonzero(scores > 0)
        if len(found) > depth:
            floor = np.partition(scores[found], -depth)[-depth]
            found = found[scores[found] >= floor]
        hits = make_hits([self._ids[i] for i in found], scores[found])
        return Hits(hits.keys[:depth], hits.scores[:depth])
