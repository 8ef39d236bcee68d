"""One interface to three engines that find posts and formulas by their vectors.

=========  ====================================  ==================================
engine     what it is                            choose it for
=========  ====================================  ==================================
exact      our own scan, CPU or GPU              up to some million posts; the truth
edge       Qdrant's engine inside the process    one machine without a server
server     a Qdrant server or cluster            many machines, many users
=========  ====================================  ==================================

An index is built once, from a :class:`~mathamr_kedro.vectors.store.VectorStore`. Posts
that are added, replaced or deleted later are beside it
(:class:`~mathamr_kedro.vectors.updated.UpdatedIndex`), whatever the engine.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, Self, TypeAlias

import numpy as np

from mathamr_kedro.base.errors import ConfigurationError, suggest
from mathamr_kedro.base.hits import FormulaHits, Hits
from mathamr_kedro.base.types import PostId
from mathamr_kedro.vectors.post_vectors import (
    POST_TYPES,
    PostEntry,
    Vectors,
)
from mathamr_kedro.vectors.store import PostReader, compare_nodes

PostSpace: TypeAlias = Literal["all", "doc"]
"""Which vectors of posts are compared; see :meth:`VectorIndex.search`."""

PostTypes: TypeAlias = frozenset[str] | None
"""Types of post that may be returned; any if ``None``."""


@dataclass(frozen=True)
class SearchMode:
    """How candidates are found (thesis 3.5.2, *search precision*)."""

    exact: bool = True
    """Look at every vector; otherwise walk the HNSW graph."""
    hnsw_ef: int = 128
    """Breadth of the walk."""


EXACT = SearchMode()


class IndexSize(NamedTuple):
    """How much an index holds."""

    posts: int
    formulas: int
    """Formulas that Task 2 may return."""
    post_bytes: int = 0
    """What the vectors of posts take, those of documents twice (``doc``, ``all``)."""
    formula_bytes: int = 0
    """What the vectors of formulas take."""
    source: Literal["memory", "disk", "unknown"] = "unknown"
    """Where the bytes were measured; 0 if they are not known."""
    number_bytes: int = 4
    """Of one number of a vector, as the engine holds it."""


class VectorIndex(ABC):
    """The interface of every engine.

    All searches take several queries and return one list for each. Scores are cosines,
    or means of cosines (Eq. 3.7); ties are ordered by the rule of
    :mod:`mathamr_kedro.base.hits`.
    """

    posts: PostReader
    """The vectors of its posts."""

    @abstractmethod
    def search(
        self,
        space: PostSpace,
        queries: Sequence[Vectors],
        depth: int,
        mode: SearchMode = EXACT,
        types: PostTypes = None,
    ) -> list[Hits]:
        """Find posts by MaxSim over their vectors in a space (``queries``: matrices).

        The space ``all`` has all vectors of a post, ``doc`` only its document vector.
        A graph over ``all`` is walked as the thesis describes it (3.5.2, 4.4.1): each
        of the :math:`|q|` vectors of a query walks by itself and finds the ``hnsw_ef``
        posts with the nearest vector; the union, at most :math:`|q|` · ``hnsw_ef``
        posts, is ordered by exact MaxSim.
        """

    def search_documents(
        self,
        queries: Sequence[Vectors],
        depth: int,
        mode: SearchMode = EXACT,
        types: PostTypes = None,
    ) -> list[Hits]:
        """Find posts whose document vector is near (``queries``: one vector each)."""
        return self.search("doc", [q[None] for q in queries], depth, mode, types)

    def search_maxsim(
        self,
        queries: Sequence[Vectors],
        depth: int,
        mode: SearchMode = EXACT,
        types: PostTypes = None,
    ) -> list[Hits]:
        """Find posts by MaxSim over all vectors (``queries``: matrices)."""
        return self.search("all", queries, depth, mode, types)

    @abstractmethod
    def search_formulas(
        self, queries: Sequence[Vectors], depth: int
    ) -> list[FormulaHits]:
        """Find formula instances whose vector is near (one vector each), exactly."""

    def rerank(
        self, queries: Sequence[Vectors], candidates: Sequence[Sequence[PostId]]
    ) -> list[Hits]:
        """Order given posts by exact MaxSim.

        Raises:
            MissingInputError: a post is missing.
        """
        return [
            Hits.rank(keys, compare_nodes(query, self.posts.locate(keys)).mean(1))
            for query, keys in zip(queries, candidates, strict=True)
        ]

    def search_reranked(
        self,
        queries: Sequence[PostEntry],
        candidates: int,
        depth: int,
        mode: SearchMode = EXACT,
        types: PostTypes = None,
    ) -> list[Hits]:
        """Find candidates by document vectors, order them by exact MaxSim."""
        documents = [document_vector(q) for q in queries]
        found = self.search_documents(documents, candidates, mode, types)
        hits = self.rerank([q.vectors for q in queries], [h.ids for h in found])
        return [h.top(depth) for h in hits]

    def list_best(
        self,
        queries: Sequence[Vectors],
        depth: int,
        mode: SearchMode = EXACT,
        types: Sequence[PostTypes] = (None,),
    ) -> list[list[list[PostId]]]:
        """List what :meth:`search_maxsim` finds for each of some types, in any order.

        Candidates of another score need no order, and no second scan.
        """
        found = [self.search_maxsim(queries, depth, mode, some) for some in types]
        return [[hits.ids for hits in each] for each in zip(*found, strict=True)]

    @abstractmethod
    def size(self) -> IndexSize:
        """Return how much it holds."""

    @abstractmethod
    def close(self) -> None:
        """Release files and connections."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


def document_vector(query: PostEntry) -> Vectors:
    """Return the document vector of a query."""
    vector = query.document()
    if vector is None:
        raise ConfigurationError(
            f"Expected a document vector in query {query.key!r}; graphs without "
            "document nodes can be searched only by strategy 'maxsim'"
        )
    return vector


def check_post_types(types: PostTypes) -> None:
    """Refuse names that are no types of posts."""
    for name in types or ():
        if name not in POST_TYPES:
            raise ConfigurationError(
                f"Expected post types among {list(POST_TYPES)} (got {name!r})"
                f"{suggest(name, POST_TYPES)}"
            )


def round_query(query: Vectors, dtype: str) -> Vectors:
    """Round a query as the vectors of the store are, so that all engines agree."""
    return np.asarray(query).astype(dtype).astype(np.float32)
