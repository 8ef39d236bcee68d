"""The engine ``exact``: every post is looked at, the best in the true order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from mathamr_kedro.base.errors import ConfigurationError
from mathamr_kedro.base.hits import FormulaHits, Hits
from mathamr_kedro.base.ragged import RaggedVectors
from mathamr_kedro.base.records import Post
from mathamr_kedro.base.types import PostId
from mathamr_kedro.vectors.combination import Combination
from mathamr_kedro.vectors.packing import PackedPosts
from mathamr_kedro.vectors.post_vectors import PostEntry, PostVectors, Vectors
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
from mathamr_kedro.vectors.scan import ScanConfig
from mathamr_kedro.vectors.store import VectorStore


class ExactIndex(VectorIndex):
    """All vectors of a store, packed in memory when they are first needed.

    ::

        index = ExactIndex(VectorStore(folder))
        hits = index.search_maxsim([query.vectors], depth=1000)

    Threads may search it at the same time.

    Args:
        store: the vectors.
        device: where to scan.
        scan: what is scanned.
    """

    def __init__(
        self, store: VectorStore, device: str = "cpu", scan: ScanConfig | None = None
    ) -> None:
        self._store, self._device = store, device
        self._scan = scan or ScanConfig()
        self._scan.check_device(device)
        self._packed = PackedPosts(store, device, self._scan)

    @property
    def encoder(self) -> str:
        """Checksum of the encoder that made the vectors."""
        return self._store.encoder

    @property
    def added(self) -> Mapping[PostId, Post]:
        """None: this engine takes no posts after indexing."""
        return {}

    def __len__(self) -> int:
        return len(self._store)

    def __contains__(self, key: object) -> bool:
        return key in self._store

    def require(self, keys: Sequence[PostId]) -> None:
        """Raise :class:`MissingInputError` for the first post that is not there."""
        self._store.require(keys)

    def locate(
        self, keys: Sequence[PostId]
    ) -> Iterator[tuple[PostVectors, NDArray[np.int64], NDArray[np.int64]]]:
        """Yield posts that hold some keys, their rows there, and places of the keys."""
        return self._store.locate(keys)

    def read(self, keys: Sequence[PostId]) -> PostVectors:
        """Return the vectors of posts in the given order."""
        return self._store.read(keys)

    def is_current(self) -> bool:
        """Tell whether the store was not written again."""
        return self._store.is_current()

    def search_documents(
        self,
        queries: Sequence[Vectors],
        depth: int,
        mode: SearchMode = EXACT,
        types: PostTypes = None,
    ) -> list[Hits]:
        """Find posts by their document vectors."""
        return self._search("doc", [q[None] for q in queries], depth, mode, types)

    def search_maxsim(
        self,
        queries: Sequence[Vectors],
        depth: int,
        mode: SearchMode = EXACT,
        types: PostTypes = None,
    ) -> list[Hits]:
        """Find posts by MaxSim over all their vectors."""
        return self._search("all", queries, depth, mode, types)

    def _search(
        self,
        space: str,
        queries: Sequence[Vectors],
        depth: int,
        mode: SearchMode,
        types: PostTypes,
    ) -> list[Hits]:
        _check_mode(mode)
        packed, batch = self._packed, self._batch(queries)
        names, allowed = packed.names(space), packed.allowed(space, types)
        return packed.space(space).search(batch, depth, allowed, names.take)

    def list_best(
        self,
        queries: Sequence[Vectors],
        depth: int,
        mode: SearchMode = EXACT,
        types: Sequence[PostTypes] = (None,),
    ) -> list[list[list[PostId]]]:
        """List the best posts by MaxSim of each of some types, in one scan."""
        _check_mode(mode)
        packed, batch = self._packed, self._batch(queries)
        names, masks = packed.names("all"), [packed.allowed("all", t) for t in types]
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
        _check_mode(mode)
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
        self, queries: Sequence[Vectors], depth: int
    ) -> list[FormulaHits]:
        """Find formulas by their vectors."""
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
        used = self._packed.count_bytes()
        return IndexSize(
            len(self._store),
            self._store.num_formulas(),
            used.get("all", 0) + used.get("doc", 0),
            used.get("formula", 0),
            "memory" if used else "unknown",
            1 if self._scan.is_int8 else 4,
        )

    def close(self) -> None:
        """Free the memory."""
        self._packed = PackedPosts(self._store, self._device, self._scan)

    def _batch(self, queries: Sequence[Vectors]) -> RaggedVectors:
        dtype = self._store.dtype
        return RaggedVectors.of([round_query(q, dtype) for q in queries])


def _check_mode(mode: SearchMode) -> None:
    if not mode.exact:
        raise ConfigurationError(
            "The engine 'exact' has no approximate search; choose search 'exact', "
            "or the engine 'edge' or 'server' (conf/<env>/parameters/indexing.yml)"
        )
