"""The vectors of a collection, written once, shard by shard, and read by memory map.

::

    post_vectors/<encoder>/
      _shards.json                         which shards count (base.shards)
      posts-00000000-00004096.safetensors  the posts of one shard
      posts-00004096-00008192.safetensors
      formulas-00000000-00000512.safetensors

A killed writer leaves whole shards, and perhaps a file that nobody lists, which the
next writer removes. A finished store never changes; posts that are added later are
beside it (:mod:`mathamr_kedro.vectors.updated`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray

from mathamr_kedro.base.arrays import read_arrays, write_arrays
from mathamr_kedro.base.checksums import checksum
from mathamr_kedro.base.errors import (
    ConfigurationError,
    DamagedFileError,
    InputError,
    MalformedInputError,
    MissingInputError,
    suggest,
)
from mathamr_kedro.base.files import FolderLock
from mathamr_kedro.base.ragged import RaggedVectors
from mathamr_kedro.base.shards import ShardFolder
from mathamr_kedro.base.types import PostId
from mathamr_kedro.model.maxsim import match_posts
from mathamr_kedro.vectors.post_vectors import POST_TYPES, PostVectors, Vectors

_POSTS_AT_ONCE = 512
"""Posts whose vectors are compared at once: they stay in the cache."""

Dtype: TypeAlias = Literal["float32", "float16"]

_SUFFIX = ".safetensors"
LOCK_TIMEOUT_S = 60
"""Cells of an experiment that share vectors prove them one after another."""
_SUGGESTED = 10_000
"""Posts among which one of a similar id is looked for."""
_REMEDY = "run `kedro run --pipelines indexing` with the --env of your run"


@dataclass(frozen=True)
class GraphRange:
    """The graphs from ``first`` up to, but without, ``last``: a shard."""

    of: str
    """What they are graphs of: ``posts``, or certain topics."""
    first: int
    last: int

    @property
    def name(self) -> str:
        """Name of the shard, in messages and of its file."""
        return f"{self.of}-{self.first:08d}-{self.last:08d}"


@dataclass(frozen=True)
class Shard(GraphRange):
    """One shard, as it is listed."""

    posts: int
    vectors: int
    formulas: int


def _list_shards(folder: ShardFolder) -> tuple[Shard, ...]:
    shards = []
    for name, counts in folder.read_list().counts.items():
        of, first, last = name.rsplit("-", 2)
        shards.append(Shard(of, int(first), int(last), **counts))
    return tuple(shards)


class LocatedPosts(NamedTuple):
    """Where some of the posts that were asked for are."""

    posts: PostVectors
    rows: NDArray[np.int64]
    """Of these posts: those that were asked for."""
    places: NDArray[np.int64]
    """Of the rows among all that was asked for."""


class PostReader(ABC):
    """Vectors of posts by their ids: those of a store, with what was changed later."""

    encoder: str
    """Checksum of the encoder that made the vectors."""
    width: int
    """Numbers in a vector."""
    dtype: Dtype
    """Of a number."""

    @abstractmethod
    def __len__(self) -> int:
        """Return the number of posts."""

    @abstractmethod
    def __contains__(self, key: object) -> bool:
        """Tell whether it holds a post, or the formulas of a comment."""

    @abstractmethod
    def keys(self) -> Iterator[PostId]:
        """Yield the posts, in any order."""

    @abstractmethod
    def locate(self, keys: Sequence[PostId]) -> list[LocatedPosts]:
        """Find posts, wherever they are.

        Raises:
            MissingInputError: a post is missing.
        """

    def require(self, keys: Iterable[PostId]) -> None:
        """Raise :class:`MissingInputError` for the first post that is missing."""
        missing = next((key for key in keys if key not in self), None)
        if missing is not None:
            raise MissingInputError(
                f"No post {missing!r} among the {len(self)} of the index"
                f"{suggest(missing, islice(self.keys(), _SUGGESTED))}"
            )

    def read(self, keys: Sequence[PostId]) -> PostVectors:
        """Return the vectors of posts in the given order."""
        found = self.locate(keys)
        if not found:
            return PostVectors.of((), self.dtype, self.width)
        order = np.argsort(np.concatenate([part.places for part in found]))
        return PostVectors.join([p.posts.take(p.rows) for p in found]).take(order)


class PostParts(PostReader):
    """Posts as batches of arrays, in memory or mapped from files."""

    def __init__(
        self, parts: Iterable[PostVectors], encoder: str, width: int, dtype: Dtype
    ) -> None:
        self.parts = tuple(parts)
        """The posts of each batch; of a store: of each shard."""
        self.encoder, self.width, self.dtype = encoder, width, dtype

    def __len__(self) -> int:
        return sum(int(part.is_post.sum()) for part in self.parts)

    @cached_property
    def places(self) -> dict[PostId, tuple[int, int]]:
        """Part and row of each post, and of formulas beside the posts."""
        return {
            key: (number, row)
            for number, part in enumerate(self.parts)
            for row, key in enumerate(part.keys)
        }

    def __contains__(self, key: object) -> bool:
        return key in self.places

    def keys(self) -> Iterator[PostId]:
        """Yield the posts, without formulas beside them."""
        for part in self.parts:
            yield from part.keys.take(np.flatnonzero(part.is_post))

    def num_formulas(self) -> int:
        """Return the number of formulas that Task 2 may return."""
        return sum(int(part.returnable.sum()) for part in self.parts)

    def locate(self, keys: Sequence[PostId]) -> list[LocatedPosts]:
        """Find posts in their parts; rows ascend, as in the file."""
        self.require(keys)
        where = np.array([self.places[k] for k in keys], dtype=np.int64).reshape(-1, 2)
        order = np.lexsort((where[:, 1], where[:, 0]))
        located = []
        for number in np.unique(where[:, 0]).tolist():
            inside = order[where[order, 0] == number]
            located.append(LocatedPosts(self.parts[number], where[inside, 1], inside))
        return located


class VectorStore(PostParts):
    """The vectors of a collection of posts, mapped into memory.

    ::

        with StoreWriter(folder, encoder="9f3c...", width=32) as writer:
            writer.write(PostVectors.of(posts), GraphRange("posts", 0, 4096))
            writer.complete()
        entry = VectorStore(folder).read(["1802"]).entry(0)

    Raises:
        MissingInputError: there is none.
        DamagedFileError: a file is missing or cut short.
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        self._files = ShardFolder(folder, _SUFFIX)
        self._list = self._files.read_list()
        if not self._list.made_from:
            raise MissingInputError(
                f"Expected a store of vectors in {str(self.folder)!r}; encode the "
                f"posts first: {_REMEDY}"
            )
        encoder, width, dtype = self._list.made_from.split()
        parts = map(self._map, sorted(self._list.counts))
        super().__init__(parts, encoder, int(width), dtype)  # type: ignore[arg-type]

    def _map(self, name: str) -> PostVectors:
        file = self._files.locate(name)
        self._list.checksums[name].check_size(file, _REMEDY)
        try:
            return PostVectors.from_arrays(read_arrays(file))
        except InputError as exc:
            raise DamagedFileError(f"{exc}; {_REMEDY}") from exc

    @property
    def is_complete(self) -> bool:
        """Whether every post of the collection is present."""
        return self._list.complete

    @cached_property
    def shards(self) -> tuple[Shard, ...]:
        """Which graphs were encoded."""
        return _list_shards(self._files)

    @property
    def content(self) -> str:
        """Checksum of all vectors: an index of other vectors must be rebuilt."""
        files = {name: found.digest for name, found in self._list.checksums.items()}
        return checksum(self.encoder, self.width, self.dtype, files)

    def is_current(self) -> bool:
        """Tell whether it was not written again since it was opened."""
        return self._files.read_list() == self._list

    def check(self) -> None:
        """Read all files whole, each once in a process."""
        for name in self._list.counts:
            self._files.check(self._files.locate(name))


class StoreWriter:
    """Writes a store; one that was killed is resumed, damaged shards are skipped.

    Raises:
        ConfigurationError: the store holds vectors of another encoder, width or type.
        LockedError: another process writes to it for longer than a minute.
    """

    def __init__(
        self,
        folder: str | Path,
        encoder: str,
        width: int,
        dtype: Dtype = "float32",
        of: Collection[str] | None = None,
    ) -> None:
        self.folder, self._width, self._dtype = Path(folder), width, dtype
        self._made_from = f"{encoder} {width} {dtype}"
        self._lock = FolderLock(self.folder, "wait for it to end", LOCK_TIMEOUT_S)
        self._files = ShardFolder(folder, _SUFFIX)
        try:
            self._resume(of)
        except BaseException:
            self._lock.close()
            raise

    def _resume(self, of: Collection[str] | None) -> None:
        known = self._files.read_list().made_from
        if known not in ("", self._made_from):
            raise ConfigurationError(
                f"Expected vectors of encoder, width and type {known!r} in "
                f"{str(self.folder)!r} (got {self._made_from!r}); vectors of two "
                "encoders cannot be compared: delete the folder to encode all posts "
                "again"
            )
        self._files.begin(self._made_from)
        chosen = [s.name for s in self.shards if of is None or s.of in of]
        self._files.drop_damaged(chosen)
        listed = {self._files.locate(shard.name) for shard in self.shards}
        for pattern in (f"*{_SUFFIX}", ".*.part", "store.json"):  # of earlier versions
            for file in self.folder.glob(pattern):
                if file not in listed:
                    file.unlink()

    @property
    def shards(self) -> tuple[Shard, ...]:
        """Which graphs are written."""
        return _list_shards(self._files)

    def write(self, posts: PostVectors, graphs: GraphRange) -> None:
        """Write the posts of a shard.

        Raises:
            MalformedInputError: a post is given twice, vectors are not of length 1 and
                of the width of the store, or the shard exists; nothing is written.
        """
        if len(posts) and posts.width != self._width:
            raise MalformedInputError(
                f"Expected vectors of {self._width} numbers (got {posts.width})"
            )
        if any(s.of == graphs.of and s.first < graphs.last and graphs.first < s.last
               for s in self.shards):  # fmt: skip
            raise MalformedInputError(
                f"Expected each graph once in {str(self.folder)!r} (got "
                f"{graphs.name} again)"
            )
        posts.check()
        arrays = posts.astype(self._dtype).to_arrays()
        counts = {
            "posts": len(posts),
            "vectors": len(posts.vectors),
            "formulas": len(posts.formula_ids),
        }

        def write(path: Path) -> None:
            write_arrays(path, arrays)

        self._files.write(graphs.name, self._made_from, counts, write)

    def complete(self) -> None:
        """Note that every post of the collection is present."""
        ids = len(VectorStore(self.folder).places)
        posts = sum(shard.posts for shard in self.shards)
        if ids != posts:
            raise MalformedInputError(
                f"Expected each post once in {str(self.folder)!r} (got {posts} posts "
                f"of {ids} ids); delete the folder and encode the posts again"
            )
        self._files.complete(self._made_from)

    def close(self) -> None:
        """Release the lock."""
        self._lock.close()

    def __enter__(self) -> StoreWriter:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


def compare_nodes(
    query: Vectors, located: Sequence[LocatedPosts], dtype: str = "float64"
) -> NDArray[np.float64]:
    """Return (N, T): the best product of each query vector in each post (Eq. 3.5).

    Each engine finds candidates in its own way; their scores are computed here.

    Args:
        query: (T, k); rounded as the stored vectors are.
        located: N posts, as :meth:`VectorStore.locate` finds them.
        dtype: precision of the products.
    """
    nearest = np.empty((sum(len(part.rows) for part in located), len(query)))
    for posts, rows, places in located:
        nodes = RaggedVectors(posts.vectors, posts.ptr)
        tokens = torch.from_numpy(query.astype(posts.vectors.dtype).astype(dtype))
        for a in range(0, len(rows), _POSTS_AT_ONCE):
            some = slice(a, a + _POSTS_AT_ONCE)
            taken = nodes.take(rows[some]).to("cpu", tokens.dtype)
            nearest[places[some]] = match_posts(tokens, taken).numpy()
    return nearest


def compare_documents(
    query: Vectors, located: Sequence[LocatedPosts], dtype: str = "float64"
) -> NDArray[np.float64]:
    """Return (N,): products of document vectors with one (k,); NaN for none."""
    similar = np.full(sum(len(part.rows) for part in located), np.nan)
    for posts, rows, places in located:
        documents = posts.document_rows[rows]
        is_there = documents >= 0
        theirs = posts.vectors[documents[is_there]].astype(dtype)
        mine = query.astype(posts.vectors.dtype).astype(dtype)
        similar[places[is_there]] = theirs @ mine
    return similar


class TypeCounts(NamedTuple):
    """What an index holds of one type of post."""

    posts: int
    vectors: int
    """In the space ``all``: formulas, sentences and documents."""
    documents: int
    """The document vectors once more, in the space ``doc``."""
    formulas: int
    """In the space ``formula``: those that Task 2 may return."""


def count_by_type(store: VectorStore) -> dict[str, TypeCounts]:
    """Count posts and vectors by type of post; types without posts are skipped.

    A task searches a part of an index (thesis Tables 4.20 and 4.22), and an engine
    keeps all types together: the bytes of a part are computed from its vectors.
    """
    totals = np.zeros((len(POST_TYPES), len(TypeCounts._fields)), dtype=np.int64)
    for posts in store.parts:
        owners = posts.formula_posts[posts.returnable]
        columns = (
            np.ones(len(posts)),
            np.diff(posts.ptr),
            posts.document_rows >= 0,
            np.bincount(owners, minlength=len(posts)),
        )
        for column, counts in enumerate(columns):
            of_type = np.bincount(posts.post_types, counts, len(POST_TYPES))
            totals[:, column] += of_type.astype(np.int64)
    return {
        name: TypeCounts(*map(int, row))
        for name, row in zip(POST_TYPES, totals, strict=True)
        if row[0]
    }


def compute_bytes(
    counts: Mapping[str, TypeCounts], width: int, number_bytes: int
) -> dict[str, tuple[int, int]]:
    r"""Compute what vectors take: those of posts, and those of formulas, by type.

    .. math::
        (\text{vectors} + \text{documents}) \cdot k \cdot b, \quad
        \text{formulas} \cdot k \cdot b

    with :math:`k` numbers of :math:`b` bytes in a vector, for an index with the two
    spaces of thesis 3.5.1 and the one of formulas.

    >>> compute_bytes({"answer": TypeCounts(1, 16, 1, 8)}, width=32, number_bytes=4)
    {'answer': (2176, 1024)}
    """
    size = width * number_bytes
    return {
        name: ((found.vectors + found.documents) * size, found.formulas * size)
        for name, found in counts.items()
    }
