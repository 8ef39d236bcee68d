"""All vectors of a store in memory, packed for scans; posts by running numbers."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mathamr_kedro.base.errors import ConfigurationError
from mathamr_kedro.base.ragged import RaggedVectors
from mathamr_kedro.base.types import PostId
from mathamr_kedro.vectors.chain import VectorChain
from mathamr_kedro.vectors.post_vectors import POST_TYPES, PostVectors
from mathamr_kedro.vectors.protocol import PostTypes, check_post_types
from mathamr_kedro.vectors.rescoring import Names
from mathamr_kedro.vectors.scan import ExactSpace, ScanConfig
from mathamr_kedro.vectors.store import VectorStore

_TOGETHER = 1 << 16
"""Posts of neighbouring shards that are packed together, at most, on a CPU."""


class PostNumbers:
    """Posts and formulas of all shards by one running number.

    Shards with the posts ``a b`` and ``c d e`` number them 0 to 4.
    """

    def __init__(self, store: VectorStore) -> None:
        self._store, self._parts = store, store.parts
        self._starts = _starts([len(p) for p in self._parts])
        self._formula_starts = _starts([len(p.formula_ids) for p in self._parts])

    @cached_property
    def types(self) -> NDArray[np.uint8]:
        """(N,) code of the type of each post."""
        return _join([p.post_types for p in self._parts], np.uint8)

    @cached_property
    def are_posts(self) -> NDArray[np.int64]:
        """Numbers of those that are posts, not formulas beside them."""
        return np.flatnonzero(_join([p.is_post for p in self._parts], np.bool_))

    @cached_property
    def with_document(self) -> NDArray[np.int64]:
        """Numbers of the posts that have a document vector."""
        flags = [p.document_rows >= 0 for p in self._parts]
        return np.flatnonzero(_join(flags, np.bool_))

    @cached_property
    def returnable(self) -> NDArray[np.bool_]:
        """(F,) which formulas Task 2 may return."""
        return _join([p.returnable for p in self._parts], np.bool_)

    @cached_property
    def keys(self) -> Names:
        """(N,) ids of the posts."""
        names = np.empty(self._starts[-1], dtype=np.object_)
        names[:] = [key for p in self._parts for key in p.keys]
        return names

    def find(self, keys: Iterable[PostId]) -> NDArray[np.int64]:
        """Return the numbers of posts.

        Raises:
            MissingInputError: a post is not there.
        """
        wanted = list(keys)
        self._store.require(wanted)
        places = (self._store.places[k] for k in wanted)
        numbers = [self._starts[part] + row for part, row in places]
        return np.array(numbers, dtype=np.int64)

    def formula_ids(self, numbers: NDArray[np.int64]) -> Names:
        """Return the ids of formulas."""
        return self._collect(numbers, lambda p, rows: p.formula_ids.take(rows))

    def visual_ids(self, numbers: NDArray[np.int64]) -> Names:
        """Return the visual ids of formulas."""
        return self._collect(numbers, lambda p, rows: p.visual_ids.take(rows))

    def formula_posts(self, numbers: NDArray[np.int64]) -> Names:
        """Return the posts of formulas."""
        return self._collect(
            numbers, lambda p, rows: p.keys.take(p.formula_posts[rows])
        )

    def _collect(
        self,
        numbers: NDArray[np.int64],
        read: Callable[[PostVectors, NDArray[np.int64]], Iterable[str]],
    ) -> Names:
        names = np.empty(len(numbers), dtype=np.object_)
        where = np.searchsorted(self._formula_starts, numbers, side="right") - 1
        for part in np.unique(where):
            places = np.flatnonzero(where == part)
            local = numbers[places] - self._formula_starts[part]
            names[places] = list(read(self._parts[part], local))
        return names


def _starts(counts: list[int]) -> NDArray[np.int64]:
    return np.cumsum([0, *counts], dtype=np.int64)


def _join(parts: list[NDArray[Any]], dtype: Any) -> NDArray[Any]:
    return np.concatenate(parts) if parts else np.zeros(0, dtype=dtype)


class PackedPosts:
    """All that searches need of a store.

    Threads share it: what is packed when it is first needed is packed once.
    """

    def __init__(self, store: VectorStore, device: str, config: ScanConfig) -> None:
        self._device, self._config = device, config
        self._lock = threading.Lock()
        self._spaces: dict[str, ExactSpace] = {}
        self._masks: dict[tuple[str, PostTypes], NDArray[np.bool_]] = {}
        self._groups = self._group(store.parts)
        self.posts = PostNumbers(store)

    def _group(self, parts: Sequence[PostVectors]) -> list[list[PostVectors]]:
        """Put neighbours together: a scan of many small parts takes longer."""
        groups: list[list[PostVectors]] = []
        count = 0
        for part in parts:
            count += len(part)
            # A GPU scans all of them by one launch.
            if groups and (count <= _TOGETHER or self._device != "cpu"):
                groups[-1].append(part)
            else:
                groups.append([part])
                count = len(part)
        return groups

    def space(self, name: str) -> ExactSpace:
        """Return the space ``all``, ``doc`` or ``formula``."""
        with self._lock:
            if name not in self._spaces:
                space = ExactSpace(self._device, self._config)
                for group in self._groups:
                    space.add(VectorChain([_TAKE[name](posts) for posts in group]))
                self._spaces[name] = space
            return self._spaces[name]

    def allowed(self, space: str, types: PostTypes) -> NDArray[np.bool_]:
        """Tell which items of a space may be returned; the same array each time."""
        check_post_types(types)
        with self._lock:
            if (space, types) not in self._masks:
                numbers = self._numbers(space)
                mask = np.ones(len(numbers), dtype=np.bool_)
                if types is not None:
                    codes = [POST_TYPES.index(name) for name in types]
                    mask = np.isin(self.posts.types[numbers], codes)
                self._masks[space, types] = mask
            return self._masks[space, types]

    def names(self, space: str) -> Names:
        """Return the ids of the posts that a space holds."""
        return self.posts.keys[self._numbers(space)]

    def list_best(
        self, space: str, queries: RaggedVectors, depth: int, types: PostTypes
    ) -> list[NDArray[np.int64]]:
        """Return the numbers of the best posts of each query, in no order."""
        numbers, allowed = self._numbers(space), self.allowed(space, types)
        names = self.posts.keys[numbers]
        found = self.space(space).find_sets(queries, depth, [allowed], names.take)
        return [numbers[items] for (items,) in found]

    def score(
        self,
        space: str,
        queries: RaggedVectors,
        numbers: Sequence[NDArray[np.int64]],
    ) -> list[NDArray[np.float64]]:
        """Return the scores of some posts of each query, in double precision.

        Raises:
            ConfigurationError: document vectors are compared, and a post has none.
        """
        counts, wanted = [len(n) for n in numbers], np.concatenate(numbers)
        known = self._numbers(space)
        places = np.searchsorted(known, wanted)
        is_known = places < len(known)
        is_known[is_known] = known[places[is_known]] == wanted[is_known]
        missing = np.flatnonzero(~is_known)
        if len(missing):
            raise ConfigurationError(
                "Expected a document vector for every post (got none for post "
                f"{self.posts.keys[int(wanted[missing[0]])]!r}); prepare graphs with "
                "preprocessing.graph.structure 'hierarchy' or 'global_maxsim', or "
                "search by strategy 'maxsim'"
            )
        which = np.repeat(np.arange(len(counts)), counts)
        scores = self.space(space).score(queries, which, places)
        return np.split(scores, np.cumsum(counts)[:-1])

    def _numbers(self, space: str) -> NDArray[np.int64]:
        """Return the numbers of the posts that a space holds."""
        posts = self.posts
        return posts.with_document if space == "doc" else posts.are_posts

    def count_bytes(self) -> dict[str, int]:
        """Return the memory of each space that is packed."""
        with self._lock:
            return {name: space.num_bytes() for name, space in self._spaces.items()}


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
