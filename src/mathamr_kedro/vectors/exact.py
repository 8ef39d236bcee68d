"""The engine ``exact``: every post is looked at, the best in the true order."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import partial

import numpy as np
from torch import Tensor

from mathamr_kedro.base.errors import ConfigurationError
from mathamr_kedro.base.hits import FormulaHits, Hits
from mathamr_kedro.base.ragged import RaggedVectors
from mathamr_kedro.base.types import PostId
from mathamr_kedro.vectors.columns import Columns
from mathamr_kedro.vectors.post_vectors import PostVectors, Vectors
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
from mathamr_kedro.vectors.rescoring import name_items
from mathamr_kedro.vectors.scan import ExactSpace, ScanType, check_scan
from mathamr_kedro.vectors.scan_torch import VectorChain
from mathamr_kedro.vectors.store import PostParts

_TOGETHER = 1 << 16
"""Posts of neighbouring shards that are packed together, at most, on a CPU."""


class ExactIndex(VectorIndex):
    """All vectors of some posts, packed in memory when they are first needed.

    ::

        index = ExactIndex(VectorStore(folder))
        hits = index.search_maxsim([query.vectors], depth=1000)

    Threads may search it at the same time: what is packed is packed once.
    """

    posts: PostParts

    def __init__(
        self, posts: PostParts, device: str = "cpu", scan: ScanType = "float32"
    ) -> None:
        check_scan(scan, device)
        self.posts = posts
        self._device, self._scan = device, scan
        self._columns = Columns(posts.parts)
        self._lock = threading.Lock()
        self._spaces: dict[str, ExactSpace] = {}
        self._masks: dict[tuple[str, PostTypes], Tensor | None] = {}

    def search(
        self,
        space: PostSpace,
        queries: Sequence[Vectors],
        depth: int,
        mode: SearchMode = EXACT,
        types: PostTypes = None,
    ) -> list[Hits]:
        """Find posts by a scan of a space."""
        _check_mode(mode)
        names, hidden = self._columns.names[space], self._hide(space, types)
        return self._pack(space).search(self._batch(queries), depth, names.take, hidden)

    def list_best(
        self,
        queries: Sequence[Vectors],
        depth: int,
        mode: SearchMode = EXACT,
        types: Sequence[PostTypes] = (None,),
    ) -> list[list[list[PostId]]]:
        """List the best posts by MaxSim of each of some types, in one scan."""
        _check_mode(mode)
        names, masks = self._columns.names["all"], [self._hide("all", t) for t in types]
        found = self._pack("all").find_each(
            self._batch(queries), depth, names.take, masks, ordered=False
        )
        return [[names[items].tolist() for items, _ in each] for each in found]

    def search_formulas(
        self, queries: Sequence[Vectors], depth: int
    ) -> list[FormulaHits]:
        """Find formulas by their vectors."""
        batch, hidden = self._batch([q[None] for q in queries]), self._hide("formula")
        read = [
            partial(self._columns.read, column)
            for column in ("formula_ids", "visual_ids", "keys")
        ]
        best = self._pack("formula").find(batch, depth, read[0], hidden)
        ids, visuals, owners = (name_items(best, names) for names in read)
        return list(map(FormulaHits, ids, [s for _, s in best], visuals, owners))

    def size(self) -> IndexSize:
        """Return how much it holds; in memory is what searches have needed so far."""
        with self._lock:
            used = {name: space.num_bytes() for name, space in self._spaces.items()}
        return IndexSize(
            len(self.posts),
            self.posts.num_formulas(),
            used.get("all", 0) + used.get("doc", 0),
            used.get("formula", 0),
            "memory" if used else "unknown",
            1 if self._scan == "int8" else 4,
        )

    def close(self) -> None:
        """Free the memory."""
        with self._lock:
            self._spaces, self._masks = {}, {}

    def _pack(self, name: str) -> ExactSpace:
        """Return the space ``all``, ``doc`` or ``formula``, packed once."""
        with self._lock:
            if name not in self._spaces:
                space = ExactSpace(self._device, self._scan)
                for group in self._group_parts():
                    space.add(VectorChain([_take(posts, name) for posts in group]))
                self._spaces[name] = space
            return self._spaces[name]

    def _group_parts(self) -> list[list[PostVectors]]:
        """Put neighbours together: a scan of many small parts takes longer."""
        groups: list[list[PostVectors]] = []
        count = 0
        for part in self.posts.parts:
            count += len(part)
            # A GPU scans all of them by one launch.
            if groups and (count <= _TOGETHER or self._device != "cpu"):
                groups[-1].append(part)
            else:
                groups.append([part])
                count = len(part)
        return groups

    def _hide(self, space: str, types: PostTypes = None) -> Tensor | None:
        """Return what of a space may not be returned, on the device; made once."""
        check_post_types(types)
        packed = self._pack(space)
        with self._lock:
            if (space, types) not in self._masks:
                allowed = self._columns.allow(space, types)
                self._masks[space, types] = packed.hide(allowed)
            return self._masks[space, types]

    def _batch(self, queries: Sequence[Vectors]) -> RaggedVectors:
        dtype = self.posts.dtype
        return RaggedVectors.of([round_query(q, dtype) for q in queries])


def _take(posts: PostVectors, space: str) -> RaggedVectors:
    """Return the vectors of a space; a scan needs none of their columns."""
    if space == "formula":
        return RaggedVectors.one_each(posts.vectors[posts.formula_rows])
    if space == "doc":
        rows = posts.document_rows
        return RaggedVectors.one_each(posts.vectors[rows[rows >= 0]])
    nodes = posts.nodes
    if not posts.is_post.all():
        nodes = nodes.take(np.flatnonzero(posts.is_post))
    return RaggedVectors(nodes.vectors, nodes.ptr)


def _check_mode(mode: SearchMode) -> None:
    if not mode.exact:
        raise ConfigurationError(
            "The engine 'exact' has no approximate search; choose search 'exact', "
            "or the engine 'edge' or 'server' (conf/<env>/parameters/indexing.yml)"
        )
