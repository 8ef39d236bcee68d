"""An index that goes on living: posts are added, replaced and deleted by hand.

::

    post_vectors/<encoder>/
      store.json  seg-*  dead-*     the vectors: the truth
      added_posts.jsonl             the clean texts of posts that were added
    indexes/<encoder>/              follows the store

Texts are written before the vectors are committed, so that a post that is found always
has one; a text whose post was not committed does no harm.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from mathamr_kedro.base.errors import MathAMRError
from mathamr_kedro.base.files import write_text
from mathamr_kedro.base.records import Failure, FormulaInstance, FormulaMention, Post
from mathamr_kedro.base.types import PostId
from mathamr_kedro.graph import find_owner
from mathamr_kedro.vectors.index import EngineConfig, open_index
from mathamr_kedro.vectors.post_vectors import PostEntry, PostVectors
from mathamr_kedro.vectors.store import VectorStore

EncodePost: TypeAlias = Callable[[Post], PostEntry]

_POSTS_AT_ONCE = 1000
"""Posts of one commit: a killed process loses at most those."""


class AddedPosts:
    """The clean texts of posts that were added to a store.

    Args:
        folder: of the store.
    """

    def __init__(self, folder: Path) -> None:
        self._file = folder / "added_posts.jsonl"
        self._posts: dict[PostId, Post] = {}
        if self._file.exists():
            with self._file.open(encoding="utf-8") as lines:
                posts = [_read_post(json.loads(line)) for line in lines]
            self._posts = {post.post_id: post for post in posts}

    def __iter__(self) -> Iterator[Post]:
        return iter(self._posts.values())

    def __call__(self, ids: Collection[PostId]) -> Mapping[PostId, Post]:
        """Return the posts that are there, by id."""
        return {i: self._posts[i] for i in ids if i in self._posts}

    def join_posts(self, posts: Iterable[Post]) -> Iterator[Post]:
        """Yield the posts of a collection that were not replaced, then those added."""
        yield from (post for post in posts if post.post_id not in self._posts)
        yield from self._posts.values()

    def join_formulas(
        self, formulas: Iterable[FormulaInstance]
    ) -> Iterator[FormulaInstance]:
        """Yield the formulas of a collection, then those of posts that were added."""
        yield from (f for f in formulas if f.post_id not in self._posts)
        for post in self._posts.values():
            for m in post.formula_map:
                yield FormulaInstance(m.formula_id, m.visual_id, post.post_id, m.latex)

    def change(self, add: Iterable[Post] = (), delete: Iterable[PostId] = ()) -> None:
        """Add, replace and delete texts, all at once."""
        gone = set(delete)
        posts = {i: post for i, post in self._posts.items() if i not in gone}
        posts |= {post.post_id: post for post in add}
        if posts == self._posts:
            return
        lines = (json.dumps(p._asdict(), ensure_ascii=False) for p in posts.values())
        write_text(self._file, "".join(f"{line}\n" for line in lines))
        self._posts = posts


def _read_post(found: dict[str, Any]) -> Post:
    formulas = tuple(FormulaMention(*mention) for mention in found.pop("formula_map"))
    return Post(formula_map=formulas, tags=tuple(found.pop("tags")), **found)


@dataclass(frozen=True)
class _Addition:
    """What became of the posts that were to be added."""

    added: tuple[PostId, ...] = ()
    """Those that replaced others among them."""
    replaced: tuple[PostId, ...] = ()
    formulas: int = 0
    failures: tuple[Failure, ...] = ()

    def __add__(self, other: _Addition) -> _Addition:
        return _Addition(
            self.added + other.added,
            self.replaced + other.replaced,
            self.formulas + other.formulas,
            self.failures + other.failures,
        )


class _IndexStatus(NamedTuple):
    """How a store and its index stand."""

    engine: str
    encoder: str
    posts: int
    added: int
    """Of ``posts``: those that were added by hand; the others are the collection's."""
    formulas: int
    vectors: int
    bytes: int
    """Of the vectors on disk."""
    segments: int
    dead: int
    """Posts that were replaced or deleted and still take room: ``compact``."""
    generation: int
    """Number of the last commit."""
    index_generation: int | None
    """Commit that the index has reached; ``None``: it must be built anew."""


class LivingIndex:
    """Adds posts to an index, deletes them, and says how it stands.

    Args:
        folder: of the store.
        engine: of the index.
        index_folder: of the engine ``edge``.
        connect: gives a client of the engine ``server``.
        load_encoder: makes posts comparable with those of the store; called when posts
            are added, as parser and model take seconds to load.
    """

    def __init__(
        self,
        folder: Path,
        engine: EngineConfig,
        index_folder: Path,
        connect: Callable[[], Any] | None,
        load_encoder: Callable[[], EncodePost],
    ) -> None:
        self._folder, self._engine, self._connect = folder, engine, connect
        self._index_folder, self._load_encoder = index_folder, load_encoder

    def add(self, posts: Iterable[Post | Failure]) -> _Addition:
        """Encode and commit posts; one with an id that exists replaces it.

        What cannot be encoded is returned as a failure, as are those given.

        Raises:
            LockedError: another process writes to the store, or changes the index.
        """
        encode = self._load_encoder()
        total = _Addition()
        with self._open() as store:
            texts, stream = AddedPosts(self._folder), iter(posts)
            while some := list(islice(stream, _POSTS_AT_ONCE)):
                encoded, failures = _encode(some, encode)
                total += _Addition(
                    tuple(encoded),
                    tuple(key for key in encoded if key in store.places),
                    sum(len(entry.formula_ids) for entry, _ in encoded.values()),
                    tuple(failures),
                )
                if encoded:
                    texts.change(add=[post for _, post in encoded.values()])
                    store.commit(PostVectors.of([e for e, _ in encoded.values()]))
        self.catch_up()
        return total

    def delete(self, ids: Collection[PostId]) -> None:
        """Delete posts, and the formulas of their comments with them.

        Raises:
            MissingInputError: one is not there; nothing is deleted.
            LockedError: another process writes to the store, or changes the index.
        """
        with self._open() as store:
            store.require(ids)
            gone = set(ids)
            store.commit(delete=[k for k in store.places if find_owner(k) in gone])
            AddedPosts(self._folder).change(delete=ids)
        self.catch_up()

    def restore(self) -> _Addition:
        """Add posts again that were added by hand and are no longer in the store.

        That is so where a damaged segment was left out; their texts are kept.

        Raises:
            LockedError: another process writes to the store, or changes the index.
        """
        known = VectorStore(self._folder).places
        return self.add(p for p in AddedPosts(self._folder) if p.post_id not in known)

    def compact(self) -> tuple[int, int]:
        """Free the room of dead posts; return the bytes before and after.

        Raises:
            LockedError: another process writes to the store, or changes the index.
        """
        before = self._count_bytes()
        with self._open() as store:
            store.compact()
        self.catch_up()
        return before, self._count_bytes()

    def catch_up(self) -> None:
        """Bring the index up to date with the store."""
        store = VectorStore(self._folder)
        open_index(self._engine, store, self._index_folder, self._connect).close()

    def status(self) -> _IndexStatus:
        """Say how store and index stand; changes nothing."""
        store = VectorStore(self._folder)
        segments = store.segments()
        reached = self._engine.read_generation(store, self._index_folder, self._connect)
        return _IndexStatus(
            self._engine.engine,
            store.encoder,
            len(store),
            len(AddedPosts(self._folder)(list(store.keys()))),
            store.num_formulas(),
            sum(len(s.living().vectors) for s in segments),
            self._count_bytes(),
            len(segments),
            sum(len(s.dead_rows) for s in segments),
            store.generation,
            reached,
        )

    def _open(self) -> VectorStore:
        """Open the store for writing, once the index is free and up to date.

        So nothing is changed that the index cannot follow, and an index that lags
        behind a compaction, which would have to be built anew, does not come up.
        """
        self.catch_up()
        state = VectorStore(self._folder).state
        return VectorStore.open(self._folder, state.encoder, state.width, state.dtype)

    def _count_bytes(self) -> int:
        return sum(file.stat().st_size for file in self._folder.glob("*.safetensors"))


def _encode(
    posts: Iterable[Post | Failure], encode: EncodePost
) -> tuple[dict[PostId, tuple[PostEntry, Post]], list[Failure]]:
    """Encode posts, the last of those with one id; return what cannot be read too."""
    encoded: dict[PostId, tuple[PostEntry, Post]] = {}
    failures: list[Failure] = []
    for post in posts:
        if isinstance(post, Failure):
            failures.append(post)
            continue
        try:
            encoded[post.post_id] = encode(post), post
        except MathAMRError as exc:
            failures.append(
                Failure("indexing", "", "", post.post_id, "not_encoded", str(exc))
            )
    return encoded, failures
