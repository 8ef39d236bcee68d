"""An index with what was changed after indexing: deleted, replaced and added posts.

::

    base      a .9   b .7   c .6   d .5     a few more than asked for
    hidden           b                      it was replaced
    added     b .8   e .6                   a small scan, exact
    merged    a .9   b .8   c .6   e .6     (depth 4)

The index itself stays as it was built.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from functools import cached_property
from typing import TypeVar

import numpy as np

from mathamr_kedro.base.hits import FormulaHits, Hits, merge_hits
from mathamr_kedro.base.types import PostId
from mathamr_kedro.graph import find_owner
from mathamr_kedro.vectors.exact import ExactIndex
from mathamr_kedro.vectors.index import BuiltIndex
from mathamr_kedro.vectors.post_vectors import Vectors
from mathamr_kedro.vectors.protocol import (
    EXACT,
    IndexSize,
    PostSpace,
    PostTypes,
    SearchMode,
    VectorIndex,
)
from mathamr_kedro.vectors.store import LocatedPosts, PostParts, PostReader

H = TypeVar("H", bound=Hits)

_SPARE = 64
"""Hits that are asked for beyond those that are expected to do."""


class UpdatedPosts(PostReader):
    """Vectors of posts as they were changed.

    Args:
        base: as they were indexed.
        added: those that were added, and those that replace others.
        deleted: those that were deleted; the formulas of their comments are, too.
        replaced: further ones that are hidden: what replaces them has no vectors yet.
    """

    def __init__(
        self,
        base: PostParts,
        added: PostParts,
        deleted: Collection[PostId],
        replaced: Collection[PostId] = (),
    ) -> None:
        self._base, self._added = base, added
        self._deleted = frozenset(deleted)
        self._changed = self._deleted.union(replaced, added.keys())
        self.encoder, self.width, self.dtype = base.encoder, base.width, base.dtype

    def hides(self, key: str) -> bool:
        """Tell whether an entry of the base was replaced or deleted."""
        return key in self._changed or find_owner(key) in self._deleted

    @cached_property
    def num_hidden(self) -> int:
        """Number of posts of the base that were replaced or deleted."""
        return sum(key in self._base for key in self._changed)

    def expect_hidden(self, depth: int) -> int:
        """Return how many of the best of the base may have to be dropped."""
        hidden, left = self.num_hidden, len(self._base) - self.num_hidden
        return min(hidden, _SPARE + depth * hidden // max(left, 1))

    def count_formulas(self) -> int:
        """Return the number of formulas that Task 2 may return."""
        if not self._changed:
            return self._base.num_formulas()
        gone = [key for key in self._base.places if self.hides(key)]
        hidden = int(self._base.read(gone).returnable.sum())
        return self._base.num_formulas() - hidden + self._added.num_formulas()

    def __len__(self) -> int:
        return len(self._base) - self.num_hidden + len(self._added)

    def __contains__(self, key: object) -> bool:
        if key in self._added:
            return True
        return isinstance(key, str) and key in self._base and not self.hides(key)

    def keys(self) -> Iterator[PostId]:
        """Yield the posts, those that were added first."""
        yield from self._added.keys()
        yield from (key for key in self._base.keys() if not self.hides(key))

    def locate(self, keys: Sequence[PostId]) -> list[LocatedPosts]:
        """Find posts among those that were added, or in the base."""
        self.require(keys)
        is_added = np.array([key in self._added for key in keys], dtype=np.bool_)
        found = []
        for posts, mask in ((self._base, ~is_added), (self._added, is_added)):
            places = np.flatnonzero(mask)
            located = posts.locate([keys[i] for i in places.tolist()])
            found += [part._replace(places=places[part.places]) for part in located]
        return found


class UpdatedIndex(VectorIndex):
    """An index over changed posts; arguments as :class:`UpdatedPosts`."""

    posts: UpdatedPosts

    def __init__(
        self,
        base: BuiltIndex,
        added: PostParts,
        deleted: Collection[PostId],
        replaced: Collection[PostId] = (),
    ) -> None:
        self._base, self._added = base, ExactIndex(added)
        self.posts = UpdatedPosts(base.posts, added, deleted, replaced)

    def search(
        self,
        space: PostSpace,
        queries: Sequence[Vectors],
        depth: int,
        mode: SearchMode = EXACT,
        types: PostTypes = None,
    ) -> list[Hits]:
        """Find posts in both and merge them."""

        def search(some: Sequence[Vectors], limit: int) -> Sequence[Hits]:
            return self._base.search(space, some, limit, mode, types)

        found = self._search_base(search, queries, depth)
        if not len(self._added.posts):
            return found
        added = self._added.search(space, queries, depth, types=types)
        both = zip(found, added, strict=True)
        return [merge_hits(lists, depth) for lists in both]

    def search_formulas(
        self, queries: Sequence[Vectors], depth: int
    ) -> list[FormulaHits]:
        """Find formulas in both and merge them."""
        found = self._search_base(self._base.search_formulas, queries, depth)
        if not len(self._added.posts):
            return found
        added = self._added.search_formulas(queries, depth)
        both = zip(found, added, strict=True)
        return [merge_hits(lists, depth) for lists in both]

    def _search_base(
        self,
        search: Callable[[Sequence[Vectors], int], Sequence[H]],
        queries: Sequence[Vectors],
        depth: int,
    ) -> list[H]:
        """Return the best of the base that are not hidden."""
        found: dict[int, H] = {}
        waiting = list(range(len(queries)))
        limit = depth + self.posts.expect_hidden(depth)
        while waiting:
            again = []
            hits = search([queries[i] for i in waiting], limit)
            for i, best in zip(waiting, hits, strict=True):
                owners = best.post_ids if isinstance(best, FormulaHits) else best.ids
                kept = [n for n, key in enumerate(owners) if not self.posts.hides(key)]
                if len(kept) < depth and len(best) == limit:
                    again.append(i)
                found[i] = best.take(kept[:depth])
            waiting, limit = again, 4 * limit
        return [found[i] for i in range(len(queries))]

    def size(self) -> IndexSize:
        """Return how much it holds, and the bytes of what was indexed."""
        posts, formulas = len(self.posts), self.posts.count_formulas()
        return self._base.size()._replace(posts=posts, formulas=formulas)

    def close(self) -> None:
        """Close the index."""
        self._base.close()
