"""All vectors of a store in memory, packed for scans."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from mathamr_kedro.base.errors import ConfigurationError
from mathamr_kedro.base.ragged import RaggedVectors
from mathamr_kedro.vectors.chain import VectorChain
from mathamr_kedro.vectors.numbering import PostNumbers
from mathamr_kedro.vectors.post_vectors import POST_TYPES, PostVectors
from mathamr_kedro.vectors.protocol import PostTypes, check_post_types
from mathamr_kedro.vectors.scan import ExactSpace
from mathamr_kedro.vectors.scan_config import ScanConfig
from mathamr_kedro.vectors.store_files import Segment

_TOGETHER = 1 << 16
"""Posts of neighbouring segments that are packed together, at most, on a CPU."""


class PackedPosts:
    """All that searches need, of one commit of a store.

    Threads share it: what is packed when it is first needed is packed once, and a
    later commit makes another one.
    """

    def __init__(
        self,
        segments: Sequence[Segment],
        device: str,
        config: ScanConfig,
        before: PackedPosts | None = None,
    ) -> None:
        self._device, self._config = device, config
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

    def _take_over(self, before: PackedPosts, segments: Sequence[Segment]) -> None:
        """Share what is packed, unless a compaction has put segments together."""
        with before._lock:
            known = [s.entry.seal for group in before._groups for s in group]
            if known == [s.entry.seal for s in segments[: len(known)]]:
                self._groups = list(before._groups)
                self._spaces = {n: s.copy() for n, s in before._spaces.items()}

    def _group(self, segments: Sequence[Segment]) -> list[list[Segment]]:
        """Put neighbours together; what is packed stays as it is."""
        groups: list[list[Segment]] = []
        posts = 0
        for segment in segments:
            posts += len(segment.posts)
            # A GPU scans all of them by one launch.
            if groups and (posts <= _TOGETHER or self._device != "cpu"):
                groups[-1].append(segment)
            else:
                groups.append([segment])
                posts = len(segment.posts)
        return groups

    def space(self, name: str) -> ExactSpace:
        """Return the space ``all``, ``doc`` or ``formula``."""
        with self._lock:
            if name not in self._spaces:
                space = ExactSpace(self._device, self._config)
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
                self._masks[space, types] = mask[self._numbers(space)]
            return self._masks[space, types]

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
            ConfigurationError: one has no document vector, where these are compared.
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


def _fill(space: ExactSpace, name: str, group: list[Segment]) -> None:
    space.add(VectorChain([_TAKE[name](s.posts) for s in group]))
