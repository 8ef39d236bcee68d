"""Searches over two collections of points, the same for ``edge`` and ``server``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mathamr_kedro.errors import ConfigurationError, MissingInputError
from mathamr_kedro.hits import DECIMALS, FormulaHits, Hits, rank_ids
from mathamr_kedro.search.engines.points import (
    Collections,
    FirstStep,
    Point,
    PointCollection,
    name_point,
)
from mathamr_kedro.search.engines.protocol import (
    EXACT,
    HnswConfig,
    IndexSize,
    PostTypes,
    SearchMode,
    VectorIndex,
    check_post_types,
    document_vector,
    round_query,
)
from mathamr_kedro.search.post_vectors import PostEntry, Vectors
from mathamr_kedro.types import PostId


class QdrantIndex(VectorIndex):
    """The searches of ``edge`` and ``server``."""

    def __init__(
        self, collections: Collections, encoder: str, dtype: str, hnsw: HnswConfig
    ) -> None:
        self._collections = collections
        self._encoder, self._dtype, self._hnsw = encoder, dtype, hnsw

    @property
    def encoder(self) -> str:
        """Fingerprint of the encoder that made the vectors."""
        return self._encoder

    def search_documents(
        self,
        queries: Sequence[Vectors],
        depth: int,
        mode: SearchMode = EXACT,
        types: PostTypes = None,
    ) -> list[Hits]:
        """Find posts by their document vectors."""
        self._check(mode, types, "doc")
        search = _Search(self._collections.posts, "doc", "post", depth, mode, types)
        return [search.posts(round_query(q, self._dtype)) for q in queries]

    def search_maxsim(
        self,
        queries: Sequence[Vectors],
        depth: int,
        mode: SearchMode = EXACT,
        types: PostTypes = None,
    ) -> list[Hits]:
        """Find posts by MaxSim over all their vectors, exactly or by either walk."""
        self._check(mode, types, "all")
        hits = []
        for given in queries:
            query = round_query(given, self._dtype)
            search = _Search(self._collections.posts, "all", "post", depth, mode, types)
            if not mode.exact and mode.walks == "per_vector":
                each = [FirstStep(row[None], "all", mode.hnsw_ef) for row in query]
                hits.append(search.candidates(query, each))
                continue
            wide = replace(mode, hnsw_ef=mode.hnsw_ef * len(query))
            hits.append(search._replace(mode=wide).posts(query))
        return hits

    def rerank(
        self, queries: Sequence[Vectors], candidates: Sequence[Sequence[PostId]]
    ) -> list[Hits]:
        """Order given posts by exact MaxSim."""
        hits = []
        for query, keys in zip(queries, candidates, strict=True):
            search = _Search(
                self._collections.posts, "all", "post", len(keys), EXACT, None,
                [name_point(k) for k in keys],
            )  # fmt: skip
            found = search.posts(round_query(query, self._dtype)) if keys else None
            hits.append(found or Hits.rank([], []))
            missing = set(keys).difference(hits[-1].ids)
            if missing:
                raise MissingInputError(f"Expected post {min(missing)!r} in the index")
        return hits

    def search_reranked(
        self,
        queries: Sequence[PostEntry],
        candidates: int,
        depth: int,
        mode: SearchMode = EXACT,
        types: PostTypes = None,
    ) -> list[Hits]:
        """Find candidates by document vectors, order them by exact MaxSim.

        Without approximation in two steps, so that candidates are cut off in the true
        order; otherwise in one request.
        """
        if mode.exact:
            return super().search_reranked(queries, candidates, depth, mode, types)
        self._check(mode, types, "doc")
        search = _Search(
            self._collections.posts, "all", "post", min(candidates, depth), mode, types
        )
        hits = []
        for entry in queries:
            query = round_query(entry.vectors, self._dtype)
            document = round_query(document_vector(entry), self._dtype)
            first = FirstStep(document, "doc", candidates)
            hits.append(search.candidates(query, [first]))
        return hits

    def search_formulas(
        self, queries: Sequence[Vectors], depth: int, mode: SearchMode = EXACT
    ) -> list[FormulaHits]:
        """Find formulas by their vectors."""
        self._check(mode, None, "formula")
        search = _Search(
            self._collections.formulas, "formula", "formula", depth, mode, None
        )
        return [search.formulas(round_query(q, self._dtype)) for q in queries]

    def size(self) -> IndexSize:
        """Return how many posts and formulas it holds."""
        posts, formulas = (c.count() for c in self._collections)
        return IndexSize(posts, formulas, 0, 0, "unknown")

    def close(self) -> None:
        """Release files and connections."""
        for collection in self._collections:
            collection.close()

    def _check(self, mode: SearchMode, types: PostTypes, space: str) -> None:
        check_post_types(types)
        if not mode.exact and not getattr(self._hnsw, f"{space}_m"):
            raise ConfigurationError(
                f"Expected an HNSW graph for search 'hnsw' in the space {space!r}; set "
                f"hnsw.{space}_m to 16 and build the index anew, or search 'exact' "
                "(conf/<env>/parameters/indexing.yml)"
            )


class _Search(NamedTuple):
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
        return self._name_posts(self._best(query))

    def candidates(self, query: Vectors, first: Sequence[FirstStep]) -> Hits:
        found = self.collection.search(
            query, "all", self.depth, self.mode, self.types, first=first
        )
        return self._name_posts(self._settle(query, found))

    def _name_posts(self, found: list[Point]) -> Hits:
        return Hits([f.name("post") for f in found], _scores(found))

    def formulas(self, query: Vectors) -> FormulaHits:
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
        order, scores = _settle_list(names, scores, _slack(query), rescore)
        pairs = zip(order, scores.tolist(), strict=True)
        return [found[i]._replace(score=s) for i, s in pairs][: self.depth]


def _settle_list(
    ids: Sequence[str],
    scores: NDArray[np.float64],
    slack: float,
    rescore: Callable[[list[int]], Sequence[float]],
) -> tuple[list[int], NDArray[np.float64]]:
    """Put one list of nearly right scores into the true order.

    Args:
        ids: of the results, for ties.
        scores: falling, or nearly so.
        slack: how far a score may be from the true one.
        rescore: gives the true scores of places.

    Returns:
        The places in their true order, and their scores.
    """
    falling = np.argsort(-scores, kind="stable")
    near = -np.diff(scores[falling]) <= 2 * slack
    tied = np.zeros(len(scores), dtype=np.bool_)
    tied[:-1] |= near
    tied[1:] |= near
    exact = scores.copy()
    places = falling[tied].tolist()
    if places:
        exact[places] = rescore(places)
    exact = np.round(exact, DECIMALS)
    order = np.lexsort((rank_ids(ids), -exact))
    return order.tolist(), exact[order]


def _slack(query: Vectors) -> float:
    terms = query.shape[-1] + len(np.atleast_2d(query)) + 4
    return terms * 2.0**-24


def _true_score(query: Vectors, rows: Vectors) -> float:
    """Eq. 3.7 in double precision."""
    mine, theirs = (np.atleast_2d(x).astype(np.float64) for x in (query, rows))
    return float((mine @ theirs.T).max(1).mean())


def _scores(found: list[Point]) -> np.ndarray:
    return np.array([f.score for f in found], dtype=np.float64)
