"""The engine ``exact``: every vector is looked at, nothing is approximated."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from mathamr_kedro.errors import ConfigurationError
from mathamr_kedro.hits import FormulaHits, Hits, make_hits
from mathamr_kedro.search.engines.numbering import Names, PostNumbers
from mathamr_kedro.search.engines.protocol import (
    EXACT,
    IndexSize,
    PostTypes,
    SearchMode,
    check_post_types,
    rerank_documents,
    round_query,
)
from mathamr_kedro.search.engines.rescoring import Best, name_items
from mathamr_kedro.search.engines.scan import ExactSpace
from mathamr_kedro.search.engines.scan_torch import QueryBatch, ScanType
from mathamr_kedro.search.post_vectors import (
    POST_TYPES,
    PostEntry,
    PostVectors,
    Vectors,
)
from mathamr_kedro.search.store import VectorStore
from mathamr_kedro.search.store_files import Segment
from mathamr_kedro.types import PostId

SMALL_SEGMENT = 1000
"""Neighbouring segments of fewer posts are packed together."""

_BYTES: dict[ScanType, int] = {"float32": 4, "bfloat16": 2}


class ExactIndex:
    """All vectors of a store, packed in memory when they are first needed.

    ::

        index = ExactIndex(VectorStore(folder))
        hits = index.search_maxsim([query.vectors], depth=1000)
    """

    def __init__(
        self, store: VectorStore, device: str = "cpu", dtype: ScanType = "float32"
    ) -> None:
        self._store, self._device = store, device
        self._dtype: ScanType = dtype
        self._spaces: dict[str, ExactSpace] = {}
        self._groups: list[list[Segment]] = []
        self._follow()

    @property
    def encoder(self) -> str:
        """Fingerprint of the encoder that made the vectors."""
        return self._store.encoder

    def refresh(self) -> None:
        """Catch up with what was committed to the store."""
        self._store.refresh()
        self._follow()

    def _follow(self) -> None:
        """Group the segments: what is packed stays, new ones come in groups behind."""
        segments = self._store.segments()
        known = [s.entry.name for group in self._groups for s in group]
        if known != [s.entry.name for s in segments[: len(known)]]:  # compacted
            self._groups, known = [], []
            self._spaces.clear()
        added = self._group(segments[len(known) :])
        self._groups += added
        self._posts = PostNumbers(segments)
        self._masks: dict[PostTypes, NDArray[np.bool_]] = {}
        for name, space in self._spaces.items():
            for group in added:
                _FILL[name](space, [s.posts for s in group])

    def _group(self, segments: list[Segment]) -> list[list[Segment]]:
        if self._device != "cpu":  # one launch for all
            return [segments] if segments else []
        groups: list[list[Segment]] = []
        for segment in segments:
            is_small = len(segment.posts) < SMALL_SEGMENT
            if is_small and groups and len(groups[-1][-1].posts) < SMALL_SEGMENT:
                groups[-1].append(segment)
            else:
                groups.append([segment])
        return groups

    def _space(self, name: str) -> ExactSpace:
        if name not in self._spaces:
            space = ExactSpace(self._device, self._dtype)
            for group in self._groups:
                _FILL[name](space, [s.posts for s in group])
            self._spaces[name] = space
        return self._spaces[name]

    def _allowed(self, types: PostTypes) -> NDArray[np.bool_]:
        if types not in self._masks:
            check_post_types(types)
            mask = self._posts.alive
            if types is not None:
                codes = [POST_TYPES.index(name) for name in types]
                mask = mask & np.isin(self._posts.types, codes)
            self._masks[types] = mask
        return self._masks[types]

    def search_documents(
        self,
        queries: Sequence[Vectors],
        depth: int,
        mode: SearchMode = EXACT,
        types: PostTypes = None,
    ) -> list[Hits]:
        """Find posts by their document vectors."""
        _check_mode(mode)
        numbers = self._posts.with_document
        names = self._posts.keys[numbers]
        batch = self._batch([q[None] for q in queries])
        allowed = self._allowed(types)[numbers]
        best = self._space("doc").search(batch, depth, allowed, names.take)
        return _name_posts(best, names)

    def search_maxsim(
        self,
        queries: Sequence[Vectors],
        depth: int,
        mode: SearchMode = EXACT,
        types: PostTypes = None,
    ) -> list[Hits]:
        """Find posts by MaxSim over all their vectors."""
        _check_mode(mode)
        names = self._posts.keys
        best = self._space("all").search(
            self._batch(queries), depth, self._allowed(types), names.take
        )
        return _name_posts(best, names)

    def rerank(
        self, queries: Sequence[Vectors], candidates: Sequence[Sequence[PostId]]
    ) -> list[Hits]:
        """Order given posts by MaxSim, in double precision."""
        counts = [len(c) for c in candidates]
        numbers = self._posts.find(key for keys in candidates for key in keys)
        which = np.repeat(np.arange(len(counts)), counts)
        scores = self._space("all").score(self._batch(queries), which, numbers)
        parts = np.split(scores, np.cumsum(counts)[:-1])
        return [make_hits(k, s) for k, s in zip(candidates, parts, strict=True)]

    def search_reranked(
        self,
        queries: Sequence[PostEntry],
        candidates: int,
        depth: int,
        mode: SearchMode = EXACT,
        types: PostTypes = None,
    ) -> list[Hits]:
        """Find candidates by document vectors, order them by MaxSim."""
        return rerank_documents(self, queries, candidates, depth, mode, types)

    def search_formulas(
        self, queries: Sequence[Vectors], depth: int, mode: SearchMode = EXACT
    ) -> list[FormulaHits]:
        """Find formulas by their vectors."""
        _check_mode(mode)
        posts = self._posts
        best = self._space("formula").search(
            self._batch([q[None] for q in queries]),
            depth,
            posts.returnable,
            posts.formula_ids,
        )
        ids, visuals, owners = (
            name_items(best, read)
            for read in (posts.formula_ids, posts.visual_ids, posts.formula_posts)
        )
        scores = [b.scores.numpy() for b in best]
        return list(map(FormulaHits, ids, visuals, owners, scores))

    def size(self) -> IndexSize:
        """Return how much it holds: what is packed, or all vectors before a search."""
        used = sum(space.num_bytes() for space in self._spaces.values())
        if not self._spaces:
            state = self._store.state
            count = sum(entry.vectors for entry in state.segments)
            used = count * state.width * _BYTES[self._dtype]
        posts = self._posts
        return IndexSize(int(posts.alive.sum()), int(posts.returnable.sum()), used)

    def close(self) -> None:
        """Free the memory."""
        self._spaces.clear()

    def _batch(self, queries: Sequence[Vectors]) -> QueryBatch:
        dtype = self._store.state.dtype
        return QueryBatch.of([round_query(q, dtype) for q in queries])


def _name_posts(best: list[Best], names: Names) -> list[Hits]:
    scores = [b.scores.numpy() for b in best]
    return list(map(Hits, name_items(best, names.take), scores))


def _fill_all(space: ExactSpace, posts: list[PostVectors]) -> None:
    shifts = np.cumsum([0] + [len(p.vectors) for p in posts])
    ptr = [p.ptr[1:] + s for p, s in zip(posts, shifts, strict=False)]
    rows = posts[0].vectors
    if len(posts) > 1:
        rows = np.concatenate([p.vectors for p in posts])
    space.add(rows, np.concatenate([np.zeros(1, dtype=np.int64), *ptr]))


def _fill_doc(space: ExactSpace, posts: list[PostVectors]) -> None:
    chosen = [p.vectors[p.document_rows[p.document_rows >= 0]] for p in posts]
    rows = np.concatenate(chosen)
    space.add(rows, np.arange(len(rows) + 1))


def _fill_formula(space: ExactSpace, posts: list[PostVectors]) -> None:
    rows = np.concatenate([p.vectors[p.formula_rows] for p in posts])
    space.add(rows, np.arange(len(rows) + 1))


_FILL: dict[str, Callable[[ExactSpace, list[PostVectors]], None]] = {
    "all": _fill_all,
    "doc": _fill_doc,
    "formula": _fill_formula,
}


def _check_mode(mode: SearchMode) -> None:
    if not mode.exact:
        raise ConfigurationError(
            "The engine 'exact' has no approximate search; choose search 'exact', or "
            "the engine 'edge' or 'server' (conf/<env>/parameters/indexing.yml)"
        )
