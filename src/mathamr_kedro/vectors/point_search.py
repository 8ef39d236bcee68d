"""Searches over one collection of points, put into the true order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mathamr_kedro.base.errors import ConfigurationError
from mathamr_kedro.base.hits import FormulaHits, Hits
from mathamr_kedro.base.types import PostId
from mathamr_kedro.vectors.combination import Combination
from mathamr_kedro.vectors.points import (
    FirstStep,
    Point,
    PointCollection,
    name_point,
)
from mathamr_kedro.vectors.post_vectors import Vectors
from mathamr_kedro.vectors.protocol import EXACT, PostTypes, SearchMode
from mathamr_kedro.vectors.rescoring import settle_list


class PointSearch(NamedTuple):
    """One kind of search in one space."""

    collection: PointCollection
    space: str
    by: str
    """Entry of the payload that breaks ties."""
    depth: int
    mode: SearchMode
    types: PostTypes
    only: Sequence[str | int] | None = None

    def posts(self, query: Vectors) -> Hits:
        """Return the best posts."""
        return self._name_posts(self._best(query))

    def candidates(self, query: Vectors, first: Sequence[FirstStep]) -> Hits:
        """Return the best of the posts that first steps find."""
        found = self.collection.search(
            query, "all", self.depth, self.mode, self.types, first=first
        )
        return self._name_posts(self._settle(query, found))

    def _name_posts(self, found: list[Point]) -> Hits:
        return Hits([f.name("post") for f in found], _scores(found))

    def formulas(self, query: Vectors) -> FormulaHits:
        """Return the best formulas."""
        found = self._best(query)
        return FormulaHits(
            [f.name("formula") for f in found],
            _scores(found),
            [f.name("visual") for f in found],
            [f.name("post") for f in found],
        )

    def _best(self, query: Vectors) -> list[Point]:
        """Search a little deeper than asked, until the cut is beyond doubt."""
        limit = self.depth + max(32, self.depth // 16)
        doubt = 2 * _slack(query) * len(np.atleast_2d(query))
        while True:
            found = self.collection.search(
                query, self.space, limit, self.mode, self.types, self.only
            )
            if len(found) < limit or not self.mode.exact:
                break
            if found[-1].score < found[self.depth - 1].score - doubt:
                break
            limit *= 4
        return self._settle(query, found)

    def _settle(self, query: Vectors, found: list[Point]) -> list[Point]:
        """Put found points into the true order; scores become means (Eq. 3.7)."""
        terms = len(np.atleast_2d(query))
        scores = np.array([f.score for f in found], dtype=np.float64) / terms

        def rescore(places: Sequence[int]) -> list[float]:
            ids = [found[i].point_id for i in places]
            rows = self.collection.fetch(ids, self.space)
            return [_true_score(query, row) for row in rows]

        names = [f.name(self.by) for f in found]
        order, scores = settle_list(names, scores, _slack(query), rescore)
        pairs = zip(order, scores.tolist(), strict=True)
        return [found[i]._replace(score=s) for i, s in pairs][: self.depth]


class UnitedPoints(NamedTuple):
    """Candidates of a query that two scores are known of."""

    collection: PointCollection
    queries: dict[str, Vectors]
    """Space to what is asked there."""
    keys: list[PostId]

    def combine(self, weight: float) -> Hits:
        """Order the candidates by both scores."""
        if not self.keys:
            return Hits.rank([], [])
        maxsim, documents = (self._score(space) for space in self.queries)
        combination = Combination.of(maxsim, documents, weight)
        slack = combination.slack(*map(_slack, self.queries.values()))

        def rescore(places: Sequence[int]) -> list[float]:
            ids = [name_point(self.keys[i]) for i in places]
            true = (
                np.array([_true_score(q, r) for r in self.collection.fetch(ids, space)])
                for space, q in self.queries.items()
            )
            return combination.add(*true).tolist()

        scores = combination.add(maxsim, documents)
        order, scores = settle_list(self.keys, scores, slack, rescore)
        return Hits([self.keys[i] for i in order], scores)

    def _score(self, space: str) -> NDArray[np.float64]:
        """Return nearly right scores in the order of the keys."""
        query, ids = self.queries[space], [name_point(key) for key in self.keys]
        found = self.collection.search(query, space, len(ids), EXACT, None, ids)
        scores = {point.point_id: point.score for point in found}
        missing = [k for k, i in zip(self.keys, ids, strict=True) if i not in scores]
        if missing:
            raise ConfigurationError(
                f"Expected vectors in the space {space!r} for every post (got none for "
                f"post {missing[0]!r}); prepare graphs with preprocessing.graph."
                "structure 'hierarchy' or 'global_maxsim', or search by strategy "
                "'maxsim'"
            )
        return np.array([scores[i] for i in ids]) / len(np.atleast_2d(query))


def _slack(query: Vectors) -> float:
    terms = query.shape[-1] + len(np.atleast_2d(query)) + 4
    return terms * 2.0**-24


def _true_score(query: Vectors, rows: Vectors) -> float:
    """Eq. 3.7 in double precision."""
    mine, theirs = (np.atleast_2d(x).astype(np.float64) for x in (query, rows))
    return float((mine @ theirs.T).max(1).mean())


def _scores(found: list[Point]) -> np.ndarray:
    return np.array([f.score for f in found], dtype=np.float64)
