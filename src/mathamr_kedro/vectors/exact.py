"""The engine ``exact``: every post is looked at, the best in the true order."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy

import numpy as np

from mathamr_kedro.base.errors import ConfigurationError
from mathamr_kedro.base.hits import FormulaHits, Hits
from mathamr_kedro.base.ragged import RaggedVectors
from mathamr_kedro.base.types import PostId
from mathamr_kedro.vectors.combination import Combination
from mathamr_kedro.vectors.packing import PackedPosts
from mathamr_kedro.vectors.post_vectors import PostEntry, Vectors
from mathamr_kedro.vectors.protocol import (
    EXACT,
    IndexSize,
    PostTypes,
    SearchMode,
    VectorIndex,
    document_vector,
    round_query,
)
from mathamr_kedro.vectors.rescoring import name_items
from mathamr_kedro.vectors.scan_config import ScanConfig, ScanType
from mathamr_kedro.vectors.store import VectorStore

_BYTES: dict[ScanType, float] = {
    "float32": 4,
    "bfloat16": 2,
    "int8": 1,
    "principal": 1 / 2,
    "binary": 1 / 8,
}


class ExactIndex(VectorIndex):
    """All vectors of a store, packed in memory when they are first needed.

    ::

        index = ExactIndex(VectorStore(folder))
        hits = index.search_maxsim([query.vectors], depth=1000)

    Threads may search and refresh it at the same time: a search sees one commit.

    Args:
        store: the vectors.
        device: where to scan.
        dtype: of what is scanned.
        rescore: how many of the best by the scan get their true scores; ``None``: as
            many as it takes to return the true ranking.
        pooling: cosine from which on vectors of a post are scanned as one.
        stands_in: for an index with graphs: what could be approximate is exact.
    """

    def __init__(
        self,
        store: VectorStore,
        device: str = "cpu",
        dtype: ScanType = "float32",
        stands_in: bool = False,
        rescore: int | None = None,
        pooling: float | None = None,
    ) -> None:
        self._stands_in = stands_in
        self._store, self._device = store, device
        self._config = ScanConfig(dtype, rescore, pooling)
        self._config.check_device(device)
        self._packed = PackedPosts(store.segments(), device, self._config)

    @property
    def encoder(self) -> str:
        """Checksum of the encoder that made the vectors."""
        return self._store.encoder

    def refresh(self) -> None:
        """Catch up with what was committed to the store."""
        self._store.refresh()
        segments = self._store.segments()
        self._packed = PackedPosts(segments, self._device, self._config, self._packed)

    def search_documents(
        self,
        queries: Sequence[Vectors],
        depth: int,
        mode: SearchMode = EXACT,
        types: PostTypes = None,
    ) -> list[Hits]:
        """Find posts by their document vectors."""
        self._check_mode(mode)
        packed = self._packed
        numbers = packed.posts.with_document
        names = packed.posts.keys[numbers]
        batch = self._batch([q[None] for q in queries])
        allowed = packed.allowed("doc", types)
        return packed.space("doc").search(batch, depth, allowed, names.take)

    def search_maxsim(
        self,
        queries: Sequence[Vectors],
        depth: int,
        mode: SearchMode = EXACT,
        types: PostTypes = None,
    ) -> list[Hits]:
        """Find posts by MaxSim over all their vectors."""
        self._check_mode(mode)
        packed = self._packed
        names, allowed = packed.posts.post_keys, packed.allowed("all", types)
        batch = self._batch(queries)
        return packed.space("all").search(batch, depth, allowed, names.take)

    def list_best(
        self,
        queries: Sequence[Vectors],
        depth: int,
        mode: SearchMode = EXACT,
        types: Sequence[PostTypes] = (None,),
    ) -> list[list[list[PostId]]]:
        """List the best posts by MaxSim of each of some types, in one scan."""
        self._check_mode(mode)
        packed = self._packed
        names, masks = packed.posts.post_keys, [packed.allowed("all", t) for t in types]
        batch = self._batch(queries)
        found = packed.space("all").find_sets(batch, depth, masks, names.take)
        return [[names[items].tolist() for items in each] for each in found]

    def rerank(
        self, queries: Sequence[Vectors], candidates: Sequence[Sequence[PostId]]
    ) -> list[Hits]:
        """Order given posts by MaxSim, in double precision."""
        packed = self._packed
        numbers = packed.posts.find(key for keys in candidates for key in keys)
        cuts = np.cumsum([len(c) for c in candidates])[:-1]
        parts = packed.score("all", self._batch(queries), np.split(numbers, cuts))
        return [Hits.rank(k, s) for k, s in zip(candidates, parts, strict=True)]

    def search_reranked(
        self,
        queries: Sequence[PostEntry],
        candidates: int,
        depth: int,
        mode: SearchMode = EXACT,
        types: PostTypes = None,
    ) -> list[Hits]:
        """Find candidates by document vectors, order them by exact MaxSim."""
        frozen = copy(self)  # both steps in one commit
        return super(ExactIndex, frozen).search_reranked(
            queries, candidates, depth, mode, types
        )

    def search_combined(
        self,
        queries: Sequence[PostEntry],
        candidates: int,
        depth: int,
        weight: float = 1.0,
        mode: SearchMode = EXACT,
        types: PostTypes = None,
    ) -> list[Hits]:
        """Find posts by MaxSim and document vectors, both in double precision."""
        self._check_mode(mode)
        packed = self._packed
        batches = {
            "all": self._batch([q.vectors for q in queries]),
            "doc": self._batch([document_vector(q)[None] for q in queries]),
        }
        lists = [
            packed.list_best(space, batch, candidates, types)
            for space, batch in batches.items()
        ]
        united = [np.union1d(*found) for found in zip(*lists, strict=True)]
        parts = (packed.score(s, batch, united) for s, batch in batches.items())
        hits = []
        for numbers, maxsim, documents in zip(united, *parts, strict=True):
            both = Combination.of(maxsim, documents, weight)
            scores = both.add(maxsim, documents)
            hits.append(Hits.rank(packed.posts.keys[numbers], scores).top(depth))
        return hits

    def search_formulas(
        self, queries: Sequence[Vectors], depth: int, mode: SearchMode = EXACT
    ) -> list[FormulaHits]:
        """Find formulas by their vectors."""
        self._check_mode(mode)
        packed = self._packed
        posts = packed.posts
        best = packed.space("formula").find(
            self._batch([q[None] for q in queries]),
            depth,
            posts.returnable,
            posts.formula_ids,
        )
        ids, visuals, owners = (
            name_items(best, read)
            for read in (posts.formula_ids, posts.visual_ids, posts.formula_posts)
        )
        return list(map(FormulaHits, ids, [s for _, s in best], visuals, owners))

    def size(self) -> IndexSize:
        """Return how much it holds; in memory is what searches have needed so far."""
        packed = self._packed
        used = packed.count_bytes()
        return IndexSize(
            int(packed.posts.alive[packed.posts.are_posts].sum()),
            int(packed.posts.returnable.sum()),
            used.get("all", 0) + used.get("doc", 0),
            used.get("formula", 0),
            "memory" if used else "unknown",
            _BYTES[self._config.dtype],
        )

    def close(self) -> None:
        """Free the memory."""
        self._packed = PackedPosts(self._store.segments(), self._device, self._config)

    def _check_mode(self, mode: SearchMode) -> None:
        if not mode.exact and not self._stands_in:
            raise ConfigurationError(
                "The engine 'exact' has no approximate search; choose search 'exact', "
                "or the engine 'edge' or 'server' (conf/<env>/parameters/indexing.yml)"
            )

    def _batch(self, queries: Sequence[Vectors]) -> RaggedVectors:
        dtype = self._store.state.dtype
        return RaggedVectors.of([round_query(q, dtype) for q in queries])
