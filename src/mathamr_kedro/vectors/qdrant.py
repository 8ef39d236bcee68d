"""An index of Qdrant's, in a folder or on a server: one adapter, two places.

::

    QdrantIndex ── searches; scores come from the vectors of the store
      ├── edge    two shards in a folder (engine ``edge``)
      └── server  two collections on a server (engine ``server``)

It finds candidates by the numbers of posts and formulas; their true scores are computed
from the store, so that it ranks as a scan does.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from mathamr_kedro.base.errors import ConfigurationError, DamagedFileError
from mathamr_kedro.base.hits import DECIMALS, FormulaHits, Hits, rank_ids
from mathamr_kedro.vectors.columns import Columns
from mathamr_kedro.vectors.config import REMEDY, HnswConfig
from mathamr_kedro.vectors.points import Collections, FoundPoints, PointCollection
from mathamr_kedro.vectors.post_vectors import Vectors
from mathamr_kedro.vectors.protocol import (
    EXACT,
    IndexSize,
    PostSpace,
    PostTypes,
    SearchMode,
    VectorIndex,
    check_post_types,
    round_query,
)
from mathamr_kedro.vectors.store import (
    PostParts,
    compare_documents,
    compare_nodes,
)


class QdrantIndex(VectorIndex):
    """The index of some posts.

    Args:
        collections: where to search.
        posts: what it was built from.
        hnsw: the graphs it has.
        folder: named if it is damaged.

    Raises:
        DamagedFileError: it has other numbers of posts or formulas.
    """

    posts: PostParts

    def __init__(
        self,
        collections: Collections,
        posts: PostParts,
        hnsw: HnswConfig,
        folder: Path,
    ) -> None:
        self.posts = posts
        self._collections, self._hnsw = collections, hnsw
        self._columns = Columns(posts.parts)
        expected = len(posts), posts.num_formulas()
        found = tuple(collection.count() for collection in collections)
        if found != expected:
            self.close()
            raise DamagedFileError(
                f"Expected {expected[0]} posts and {expected[1]} formulas in the index "
                f"in {str(folder)!r} (got {found[0]} and {found[1]}); {REMEDY}"
            )

    def search(
        self,
        space: PostSpace,
        queries: Sequence[Vectors],
        depth: int,
        mode: SearchMode = EXACT,
        types: PostTypes = None,
    ) -> list[Hits]:
        """Find candidates exactly or by a walk, and order them by their scores."""
        self._check(mode, types, space)
        collection, hits = self._collections.posts, []
        for query in map(self._round, queries):
            if space == "all" and not mode.exact:
                rows = list(query[:, None])
                each = collection.search(rows, space, mode.hnsw_ef, mode, types)
                found = [point for points in each for point in points]
            else:
                asked = query if space == "all" else query[0]
                found = _search(collection, space, asked, depth, mode, types)
            numbers = np.unique(np.array([n for n, _ in found], dtype=np.int64))
            keys = self._columns.names["all"][numbers].tolist()
            located = self.posts.locate(keys)
            if space == "all":
                scores = compare_nodes(query, located).mean(1)
            else:
                scores = compare_documents(query[0], located)
            hits.append(Hits.rank(keys, scores).top(depth))
        return hits

    def search_formulas(
        self, queries: Sequence[Vectors], depth: int
    ) -> list[FormulaHits]:
        """Find formulas by their vectors."""
        hits = []
        for query in map(self._round, queries):
            found = _search(self._collections.formulas, "formula", query, depth, EXACT)
            numbers = np.array([n for n, _ in found], dtype=np.int64)
            exact = self._columns.compare_formulas(query, numbers)
            scores = np.round(exact, DECIMALS)
            ids = self._columns.read("formula_ids", numbers).tolist()
            order = np.lexsort((rank_ids(ids), -scores))[:depth]
            hits.append(
                FormulaHits(
                    [ids[i] for i in order.tolist()],
                    scores[order],
                    self._columns.read("visual_ids", numbers[order]).tolist(),
                    self._columns.read("keys", numbers[order]).tolist(),
                )
            )
        return hits

    def _round(self, query: Vectors) -> Vectors:
        return round_query(query, self.posts.dtype)

    def size(self) -> IndexSize:
        """Return how much it holds, and its size on disk if that is known."""
        counts = len(self.posts), self.posts.num_formulas()
        posts, formulas = (part.num_bytes() for part in self._collections)
        if posts is None or formulas is None:
            return IndexSize(*counts)
        return IndexSize(*counts, posts, formulas, "disk")

    def close(self) -> None:
        """Release files and connections."""
        self._collections.close()

    def _check(self, mode: SearchMode, types: PostTypes, space: str) -> None:
        check_post_types(types)
        if not mode.exact and not self._hnsw.edges(space):
            raise ConfigurationError(
                f"Expected an HNSW graph for search 'hnsw' in the space {space!r}; set "
                f"indexing.engine.hnsw.{space}_m to 16 and run `kedro run --pipelines "
                "indexing`, or search 'exact' (conf/<env>/parameters/indexing.yml)"
            )


def _search(
    collection: PointCollection,
    space: str,
    query: Vectors,
    depth: int,
    mode: SearchMode,
    types: PostTypes = None,
) -> FoundPoints:
    """Find a few more points than asked for, until the best are surely among them.

    Qdrant computes in single precision: a sum of n products of vectors of length 1 is
    off by at most n 2^-24. It ranks by the sum of MaxSim (Eq. 3.4).
    """
    tokens = len(np.atleast_2d(query))
    doubt = 2 * tokens * (query.shape[-1] + tokens + 4) * 2.0**-24
    limit = depth + max(32, depth // 16)
    while True:
        (found,) = collection.search([query], space, limit, mode, types)
        if len(found) < limit or not mode.exact:
            return found
        if found[-1][1] < found[depth - 1][1] - doubt:
            return found
        limit *= 4
