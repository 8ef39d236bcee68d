"""The engine ``exact``: every vector is looked at, nothing is approximated."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from copy import copy

import numpy as np
from numpy.typing import NDArray

from mathamr_kedro.errors import ConfigurationError
from mathamr_kedro.hits import FormulaHits, Hits
from mathamr_kedro.ragged import RaggedVectors
from mathamr_kedro.search.engines.numbering import PostNumbers
from mathamr_kedro.search.engines.protocol import (
    EXACT,
    IndexSize,
    PostTypes,
    SearchMode,
    VectorIndex,
    check_post_types,
    round_query,
)
from mathamr_kedro.search.engines.rescoring import name_items
from mathamr_kedro.search.engines.scan import ExactSpace
from mathamr_kedro.search.engines.scan_torch import ScanType
from mathamr_kedro.search.post_vectors import (
    POST_TYPES,
    PostEntry,
    PostVectors,
    Vectors,
)
from mathamr_kedro.search.store import VectorStore
from mathamr_kedro.search.store_files import Segment
from mathamr_kedro.types import PostId

_SMALL_SEGMENT = 1000
"""Neighbouring segments of fewer posts are packed together."""

_BYTES: dict[ScanType, int] = {"float32": 4, "bfloat16": 2}


class _Packed:
    """All that searches need, of one commit of a store.

    Threads share it: what is packed when it is first needed is packed once, and a
    later commit makes another one.
    """

    def __init__(
        self,
        segments: Sequence[Segment],
        device: str,
        dtype: ScanType,
        before: _Packed | None = None,
    ) -> None:
        self._device, self._dtype = device, dtype
        self._lock = threading.Lock()
        self._groups: list[list[Segment]] = []
        self._spaces: dict[str, ExactSpace] = {}
        self._masks: dict[tuple[str, PostTypes], NDArray[np.bool_]] = {}
        self.posts = PostNumbers(segments)
        if before is not None:
            self._take_over(before, segments)
        known = sum(map(len, self._groups))
        added = self._group(segments[known:])
        self._groups += added
        for name, space in self._spaces.items():
            for group in added:
                _fill(space, name, group)

    def _take_over(self, before: _Packed, segments: Sequence[Segment]) -> None:
        """Share what is packed, unless a compaction has put segments together."""
        with before._lock:
            known = [s.entry.seal for group in before._groups for s in group]
            if known == [s.entry.seal for s in segments[: len(known)]]:
                self._groups = list(before._groups)
                self._spaces = {n: s.copy() for n, s in before._spaces.items()}

    def _group(self, segments: Sequence[Segment]) -> list[list[Segment]]:
        """Put small neighbours together; what is packed stays as it is."""
        if self._device != "cpu":  # one launch for all
            return [list(segments)] if segments else []
        groups: list[list[Segment]] = []
        for segment in segments:
            is_small = len(segment.posts) < _SMALL_SEGMENT
            if is_small and groups and len(groups[-1][-1].posts) < _SMALL_SEGMENT:
                groups[-1].append(segment)
            else:
                groups.append([segment])
        return groups

    def space(self, name: str) -> ExactSpace:
        """Return the space ``all``, ``doc`` or ``formula``."""
        with self._lock:
            if name not in self._spaces:
                space = ExactSpace(self._device, self._dtype)
                for group in self._groups:
                    _fill(space, name, group)
                self._spaces[name] = space
            return self._spaces[name]

    def allowed(self, space: str, types: PostTypes) -> NDArray[np.bool_]:
        """Tell which items of a space may be returned; the same array each time."""
        check_post_types(types)
        with self._lock:
            if (space, types) not in self._masks:
                posts = self.posts
                mask = posts.alive
                if types is not None:
                    codes = [POST_TYPES.index(name) for name in types]
                    mask = mask & np.isin(posts.types, codes)
                numbers = posts.with_document if space == "doc" else posts.are_posts
                self._masks[space, types] = mask[numbers]
            return self._masks[space, types]

    def count_bytes(self) -> dict[str, int]:
        """Return the memory of each space that is packed."""
        with self._lock:
            return {name: space.num_bytes() for name, space in self._spaces.items()}


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
        stands_in: for an index with graphs: what could be approximate is exact.
    """

    def __init__(
        self,
        store: VectorStore,
        device: str = "cpu",
        dtype: ScanType = "float32",
        stands_in: bool = False,
    ) -> None:
        self._stands_in = stands_in
        self._store, self._device = store, device
        self._dtype: ScanType = dtype
        self._packed = _Packed(store.segments(), device, dtype)

    @property
    def encoder(self) -> str:
        """Fingerprint of the encoder that made the vectors."""
        return self._store.encoder

    def refresh(self) -> None:
        """Catch up with what was committed to the store."""
        self._store.refresh()
        segments = self._store.segments()
        self._packed = _Packed(segments, self._device, self._dtype, self._packed)

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

    def rerank(
        self, queries: Sequence[Vectors], candidates: Sequence[Sequence[PostId]]
    ) -> list[Hits]:
        """Order given posts by MaxSim, in double precision."""
        counts = [len(c) for c in candidates]
        packed = self._packed
        numbers = packed.posts.find(key for keys in candidates for key in keys)
        which = np.repeat(np.arange(len(counts)), counts)
        places = np.searchsorted(packed.posts.are_posts, numbers)
        scores = packed.space("all").score(self._batch(queries), which, places)
        parts = np.split(scores, np.cumsum(counts)[:-1])
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
            _BYTES[self._dtype],
        )

    def close(self) -> None:
        """Free the memory."""
        self._packed = _Packed(self._store.segments(), self._device, self._dtype)

    def _check_mode(self, mode: SearchMode) -> None:
        if not mode.exact and not self._stands_in:
            raise ConfigurationError(
                "The engine 'exact' has no approximate search; choose search 'exact', "
                "or the engine 'edge' or 'server' (conf/<env>/parameters/indexing.yml)"
            )

    def _batch(self, queries: Sequence[Vectors]) -> RaggedVectors:
        dtype = self._store.state.dtype
        return RaggedVectors.of([round_query(q, dtype) for q in queries])


def _take_all(posts: PostVectors) -> RaggedVectors:
    nodes = posts.nodes
    if not posts.is_post.all():
        nodes = nodes.take(np.flatnonzero(posts.is_post))
    return RaggedVectors(nodes.vectors, nodes.ptr)  # a scan needs no columns


def _take_documents(posts: PostVectors) -> RaggedVectors:
    rows = posts.document_rows
    return RaggedVectors.one_each(posts.vectors[rows[rows >= 0]])


def _take_formulas(posts: PostVectors) -> RaggedVectors:
    return RaggedVectors.one_each(posts.vectors[posts.formula_rows])


_TAKE: dict[str, Callable[[PostVectors], RaggedVectors]] = {
    "all": _take_all,
    "doc": _take_documents,
    "formula": _take_formulas,
}


def _fill(space: ExactSpace, name: str, group: list[Segment]) -> None:
    space.add(RaggedVectors.join([_TAKE[name](s.posts) for s in group]))
