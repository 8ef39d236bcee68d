"""Searches over two collections of points, the same for ``edge`` and ``server``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from mathamr_kedro.base.errors import ConfigurationError, MissingInputError
from mathamr_kedro.base.hits import FormulaHits, Hits
from mathamr_kedro.base.types import PostId
from mathamr_kedro.vectors.point_search import PointSearch, UnitedPoints
from mathamr_kedro.vectors.points import Collections, FirstStep, name_point
from mathamr_kedro.vectors.post_vectors import PostEntry, Vectors
from mathamr_kedro.vectors.protocol import (
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


class QdrantIndex(VectorIndex):
    """The searches of ``edge`` and ``server``."""

    def __init__(
        self, collections: Collections, encoder: str, dtype: str, hnsw: HnswConfig
    ) -> None:
        self._collections = collections
        self._encoder, self._dtype, self._hnsw = encoder, dtype, hnsw

    @property
    def encoder(self) -> str:
        """Checksum of the encoder that made the vectors."""
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
        search = PointSearch(self._collections.posts, "doc", "post", depth, mode, types)
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
            search = PointSearch(
                self._collections.posts, "all", "post", depth, mode, types
            )
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
            search = PointSearch(
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
        search = PointSearch(
            self._collections.posts, "all", "post", min(candidates, depth), mode, types
        )
        hits = []
        for entry in queries:
            query = round_query(entry.vectors, self._dtype)
            document = round_query(document_vector(entry), self._dtype)
            first = FirstStep(document, "doc", candidates)
            hits.append(search.candidates(query, [first]))
        return hits

    def search_combined(
        self,
        queries: Sequence[PostEntry],
        candidates: int,
        depth: int,
        weight: float = 1.0,
        mode: SearchMode = EXACT,
        types: PostTypes = None,
    ) -> list[Hits]:
        """Find posts by MaxSim and document vectors; candidates by either walk."""
        both = [(q.vectors, document_vector(q)) for q in queries]
        nearest = self.search_maxsim([m for m, _ in both], candidates, mode, types)
        similar = self.search_documents([d for _, d in both], candidates, mode, types)
        hits = []
        for parts, *found in zip(both, nearest, similar, strict=True):
            keys = list(dict.fromkeys(key for some in found for key in some.ids))
            united = UnitedPoints(
                self._collections.posts,
                dict(zip(("all", "doc"), self._round(parts), strict=True)),
                keys,
            )
            hits.append(united.combine(weight).top(depth))
        return hits

    def _round(self, parts: Sequence[Vectors]) -> list[Vectors]:
        return [round_query(part, self._dtype) for part in parts]

    def search_formulas(
        self, queries: Sequence[Vectors], depth: int, mode: SearchMode = EXACT
    ) -> list[FormulaHits]:
        """Find formulas by their vectors."""
        self._check(mode, None, "formula")
        search = PointSearch(
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
