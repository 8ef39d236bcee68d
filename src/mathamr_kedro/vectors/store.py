"""The vectors of a collection, written once, shard by shard, and read by memory map.

::

    post_vectors/<encoder>/
      store.json                           which shards count; replaced whole
      posts-00000000-00004096.safetensors  the posts of one shard
      posts-00004096-00008192.safetensors
      formulas-00000000-00000512.safetensors

A shard is written first and listed in ``store.json`` then: a killed writer leaves whole
shards, and perhaps a file that nobody lists, which the next writer removes. A finished
store never changes; posts that are added later live in Qdrant
(:mod:`mathamr_kedro.vectors.updates`).
"""

from __future__ import annotations

import json
import logging
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mathamr_kedro.base.arrays import read_arrays, write_arrays
from mathamr_kedro.base.checksums import FileChecksum, checksum
from mathamr_kedro.base.errors import (
    ConfigurationError,
    DamagedFileError,
    InputError,
    MalformedInputError,
    MissingInputError,
    suggest,
)
from mathamr_kedro.base.files import FolderLock, write_text
from mathamr_kedro.base.types import PostId
from mathamr_kedro.vectors.post_vectors import PostVectors

logger = logging.getLogger(__name__)

Dtype: TypeAlias = Literal["float32", "float16"]

_LIST = "store.json"
_VERSION = 3
_SUFFIX = ".safetensors"
_ADDED_BEFORE = "added_posts.jsonl"
"""Posts that were added by hand to a store of version 2."""
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
    """One shard, as listed in ``store.json``."""

    posts: int
    vectors: int
    formulas: int
    file: FileChecksum

    @classmethod
    def write(cls, folder: Path, graphs: GraphRange, posts: PostVectors) -> Shard:
        """Write the posts of a shard; they count once ``store.json`` lists it."""
        path = folder / f"{graphs.name}{_SUFFIX}"
        write_arrays(path, posts.to_arrays())
        return cls(
            graphs.of,
            graphs.first,
            graphs.last,
            len(posts),
            len(posts.vectors),
            len(posts.formula_ids),
            FileChecksum.of(path),
        )

    @classmethod
    def from_json(cls, found: dict[str, Any]) -> Shard:
        """Undo :func:`dataclasses.asdict`."""
        return cls(**found | {"file": FileChecksum(**found["file"])})

    def path(self, folder: Path) -> Path:
        """Return its file."""
        return folder / f"{self.name}{_SUFFIX}"

    def map(self, folder: Path) -> PostVectors:
        """Map its posts into memory.

        Raises:
            DamagedFileError: the file is missing or cut short.
        """
        path = self.path(folder)
        self.file.check_size(path, f"{_REMEDY}: it encodes these posts again")
        try:
            return PostVectors.from_arrays(read_arrays(path))
        except InputError as exc:
            raise DamagedFileError(f"{exc}; {_REMEDY}") from exc

    def check(self, folder: Path) -> None:
        """Read the file whole; raise :class:`DamagedFileError` if a byte differs."""
        remedy = f"{_REMEDY}: it encodes these posts again"
        self.file.check(self.path(folder), remedy)


@dataclass(frozen=True)
class _State:
    """Content of ``store.json``."""

    encoder: str
    width: int
    dtype: Dtype
    complete: bool = False
    shards: tuple[Shard, ...] = ()

    @classmethod
    def read(cls, folder: Path) -> _State:
        path = folder / _LIST
        try:
            found = json.loads(path.read_text(encoding="utf-8"))
            if (version := found.pop("version")) != _VERSION:
                raise MissingInputError(
                    f"{str(folder)!r} was written by another version of this program "
                    f"(format {version!r} instead of {_VERSION}); {_REMEDY}: it "
                    "encodes the posts again"
                )
            if found.pop("checksum") != checksum(found):
                raise ValueError("its bytes were changed")
            shards = tuple(map(Shard.from_json, found.pop("shards")))
            return cls(shards=shards, **found)
        except FileNotFoundError as exc:
            raise MissingInputError(
                f"Expected a store of vectors in {str(folder)!r}; encode the posts "
                "first"
            ) from exc
        except (ValueError, KeyError, TypeError, AttributeError) as exc:
            raise DamagedFileError(
                f"Expected the list of a store in {str(path)!r} ({exc}); delete that "
                f"file, then {_REMEDY}"
            ) from exc

    def write(self, folder: Path) -> None:
        content = json.loads(json.dumps(asdict(self)))
        content |= {"checksum": checksum(content), "version": _VERSION}
        write_text(folder / _LIST, json.dumps(content, indent=1))


class VectorStore:
    """The vectors of a collection of posts, mapped into memory.

    ::

        with StoreWriter(folder, encoder="9f3c...", width=32) as writer:
            writer.write(PostVectors.of(posts), GraphRange("posts", 0, 4096))
            writer.complete()
        entry = VectorStore(folder).read(["1802"]).entry(0)

    Raises:
        MissingInputError: there is none, or one of another version.
        DamagedFileError: a file is missing or cut short.
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        self._state = _State.read(self.folder)
        self.parts: tuple[PostVectors, ...] = tuple(
            shard.map(self.folder) for shard in self._state.shards
        )
        """The posts of each shard."""

    def __len__(self) -> int:
        return sum(int(part.is_post.sum()) for part in self.parts)

    @property
    def encoder(self) -> str:
        """Checksum of the encoder that made the vectors."""
        return self._state.encoder

    @property
    def width(self) -> int:
        """Numbers in a vector."""
        return self._state.width

    @property
    def dtype(self) -> Dtype:
        """Of a number."""
        return self._state.dtype

    @property
    def is_complete(self) -> bool:
        """Whether every post of the collection is present."""
        return self._state.complete

    @property
    def shards(self) -> tuple[Shard, ...]:
        """Which graphs were encoded."""
        return self._state.shards

    @property
    def content(self) -> str:
        """Checksum of all vectors: an index of other vectors must be rebuilt."""
        files = sorted(shard.file.digest for shard in self.shards)
        return checksum(self.encoder, self.width, self.dtype, files)

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

    def require(self, keys: Iterable[PostId]) -> None:
        """Raise :class:`MissingInputError` for the first post that is missing."""
        missing = next((k for k in keys if k not in self.places), None)
        if missing is not None:
            raise name_missing(missing, self.places, len(self))

    def locate(self, keys: Sequence[PostId]) -> list[LocatedPosts]:
        """Find posts in their parts; rows ascend, as in the file.

        Raises:
            MissingInputError: a post is missing.
        """
        self.require(keys)
        where = np.array([self.places[k] for k in keys], dtype=np.int64).reshape(-1, 2)
        order = np.lexsort((where[:, 1], where[:, 0]))
        located = []
        for number in np.unique(where[:, 0]).tolist():
            inside = order[where[order, 0] == number]
            located.append(LocatedPosts(self.parts[number], where[inside, 1], inside))
        return located

    def read(self, keys: Sequence[PostId]) -> PostVectors:
        """Return posts in the given order.

        Raises:
            MissingInputError: a post is missing.
        """
        return join_located(self.locate(keys), self.dtype, self.width)

    def is_current(self) -> bool:
        """Tell whether it was not written again since it was opened."""
        return _State.read(self.folder) == self._state

    def verify(self) -> Iterator[InputError]:
        """Read all files whole and yield what is wrong with each."""
        return verify_store(self.folder)


def verify_store(folder: Path) -> Iterator[InputError]:
    """Read all files of a store whole, also of one that cannot be opened."""
    try:
        shards = _State.read(folder).shards
    except InputError as error:
        yield error
        return
    for shard in shards:
        try:
            shard.check(folder)
        except DamagedFileError as error:
            yield error


class LocatedPosts(NamedTuple):
    """Where some of the posts that were asked for are."""

    posts: PostVectors
    rows: NDArray[np.int64]
    """Of these posts: those that were asked for."""
    places: NDArray[np.int64]
    """Of the rows among all that was asked for."""


def join_located(found: Sequence[LocatedPosts], dtype: str, width: int) -> PostVectors:
    """Put posts of several parts together, in the order of their places."""
    if not found:
        return PostVectors.of((), dtype, width)
    order = np.argsort(np.concatenate([part.places for part in found]))
    return PostVectors.join([p.posts.take(p.rows) for p in found]).take(order)


def name_missing(key: PostId, known: Iterable[PostId], count: int) -> MissingInputError:
    """Return the error for a post that is missing, with the nearest name."""
    some = [k for k, _ in zip(known, range(10_000), strict=False)]
    return MissingInputError(
        f"No post {key!r} among the {count} of the index{suggest(key, some)}"
    )


class StoreWriter:
    """Writes a store; one that was killed is resumed, damaged shards are skipped.

    Args:
        folder: of the store; made if there is none.
        encoder: who makes the vectors.
        width: numbers in a vector.
        dtype: of a number.
        of: which graphs the store is about; shards of others are removed.

    Raises:
        ConfigurationError: the store holds vectors of another encoder, width or type.
        LockedError: another process writes to it.
    """

    def __init__(
        self,
        folder: str | Path,
        encoder: str,
        width: int,
        dtype: Dtype = "float32",
        of: Collection[str] | None = None,
    ) -> None:
        self.folder = Path(folder)
        self._lock = FolderLock(self.folder, "wait for it to end")
        try:
            self._state = self._resume(_State(encoder, width, dtype), of)
            self._remove_leftovers()
        except BaseException:
            self._lock.close()
            raise

    def _resume(self, new: _State, of: Collection[str] | None) -> _State:
        try:
            found = _State.read(self.folder)
        except MissingInputError as exc:
            if (self.folder / _LIST).exists():
                logger.warning("%s", exc)
                self._mention_added()
            new.write(self.folder)
            return new
        if (found.encoder, found.width, found.dtype) != (
            new.encoder, new.width, new.dtype,
        ):  # fmt: skip
            raise ConfigurationError(
                f"Expected vectors of encoder {found.encoder!r}, {found.width} numbers "
                f"of {found.dtype}, in {str(self.folder)!r} (got {new.encoder!r}, "
                f"{new.width} of {new.dtype}); vectors of two encoders cannot be "
                "compared: delete the folder to encode all posts again"
            )
        kept = tuple(shard for shard in found.shards if self._can_keep(shard, of))
        if kept != found.shards:
            found = replace(found, shards=kept, complete=False)
            found.write(self.folder)
        return found

    def _can_keep(self, shard: Shard, of: Collection[str] | None) -> bool:
        if of is not None and shard.of not in of:
            return False
        try:
            shard.check(self.folder)
        except DamagedFileError as error:
            logger.warning(
                "%s. Its posts are encoded again (%d posts)", error, shard.posts
            )
            return False
        return True

    def _mention_added(self) -> None:
        if (path := self.folder / _ADDED_BEFORE).exists():
            logger.warning(
                "Posts that were added by hand with an earlier version are not taken "
                "over: add their files again with `mathamr index add`; their texts "
                "are in %s",
                path,
            )

    def _remove_leftovers(self) -> None:
        listed = {shard.path(self.folder) for shard in self.shards}
        for file in (*self.folder.glob(f"*{_SUFFIX}"), *self.folder.glob(".*.part")):
            if file not in listed:
                file.unlink()

    @property
    def shards(self) -> tuple[Shard, ...]:
        """Which graphs are written."""
        return self._state.shards

    def write(self, posts: PostVectors, graphs: GraphRange) -> None:
        """Write the posts of a shard.

        Raises:
            MalformedInputError: a post is given twice, vectors are not of length 1 and
                of the width of the store, or the shard exists; nothing is written.
        """
        if len(posts) and posts.width != self._state.width:
            raise MalformedInputError(
                f"Expected vectors of {self._state.width} numbers (got {posts.width})"
            )
        if any(s.of == graphs.of and s.first < graphs.last and graphs.first < s.last
               for s in self.shards):  # fmt: skip
            raise MalformedInputError(
                f"Expected each graph once in {str(self.folder)!r} (got "
                f"{graphs.name} again)"
            )
        posts.check()
        rounded = posts.astype(self._state.dtype)
        shard = Shard.write(self.folder, graphs, rounded)
        self._advance(shards=(*self.shards, shard), complete=False)

    def complete(self) -> None:
        """Note that every post of the collection is present.

        Raises:
            MalformedInputError: a post occurs twice.
        """
        ids = len(VectorStore(self.folder).places)
        posts = sum(shard.posts for shard in self.shards)
        if ids != posts:
            raise MalformedInputError(
                f"Expected each post once in {str(self.folder)!r} (got {posts} posts "
                f"of {ids} ids); delete the folder and encode the posts again"
            )
        if not self._state.complete:
            self._advance(complete=True)

    def _advance(self, **changed: Any) -> None:
        state = replace(self._state, **changed)
        state.write(self.folder)
        self._state = state

    def close(self) -> None:
        """Release the lock."""
        self._lock.close()

    def __enter__(self) -> StoreWriter:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()
