"""An index of Qdrant's, in a folder or on a server: one adapter, two connections.

::

    QdrantIndex ── searches, changes, comparison with the store
      ├── edge.EdgeConnection      collections in a folder (engine ``edge``)
      └── server.ServerConnection  collections on a server (engine ``server``)

An index is built from a store under a name of its own and put into use in one step when
it is complete: readers never see half of one, and a killed build is repeated. Posts are
added and deleted later by points of the same collections (:mod:`.points`); vectors of
the collection are read from the store, those of added posts from their points.

No search sees an index before it was compared with its store: the number of posts and
formulas, and the vectors of a sample. One that differs is rebuilt.
"""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from mathamr_kedro.base.checksums import checksum
from mathamr_kedro.base.errors import (
    ConfigurationError,
    DamagedFileError,
    InputError,
    MissingInputError,
)
from mathamr_kedro.base.files import FolderLock
from mathamr_kedro.base.hits import DECIMALS, FormulaHits, Hits, rank_ids
from mathamr_kedro.base.progress import report_progress
from mathamr_kedro.base.records import Failure, Post
from mathamr_kedro.base.types import PostId
from mathamr_kedro.graph import find_owner
from mathamr_kedro.vectors.points import (
    Changes,
    Collections,
    Point,
    PointCollection,
    PointId,
    added_points,
    check_size,
    deleted_point,
    formula_points,
    in_batches,
    name_point,
    post_points,
    waiting_point,
    write_points,
)
from mathamr_kedro.vectors.post_vectors import PostEntry, PostVectors, Vectors
from mathamr_kedro.vectors.protocol import (
    EXACT,
    HnswConfig,
    IndexSize,
    PostSpace,
    PostTypes,
    SearchMode,
    VectorIndex,
    check_post_types,
    round_query,
)
from mathamr_kedro.vectors.store import (
    LocatedPosts,
    PostReader,
    VectorStore,
    compare_documents,
    compare_nodes,
)

logger = logging.getLogger(__name__)

EF_CONSTRUCT = 100
"""Breadth of the search for neighbours while a graph is built: Qdrant's default."""
FULL_SCAN_KB = 10_000
"""Vectors below which a filtered search scans: lower values lose recall."""

_SAMPLE = 20
"""Posts whose vectors are compared with the store on every opening."""
_DELETED_AT_ONCE = 10_000
_REMEDY = (
    "run `kedro run --pipelines indexing` with the --env of your run: it builds the "
    "index again"
)


class Opened(NamedTuple):
    """The collections in use, and what is noted about them."""

    collections: Collections
    version: Any
    """Changes with each change of the index."""
    unfinished: Mapping[PostId, int] = {}
    """Posts that a killed process was changing, and how many formulas they have at
    most: their formulas may differ from what the posts say."""


class Connection(ABC):
    """Where the collections of one index are."""

    settings: Mapping[str, Any] = {}
    """What else decides how collections are made."""

    def __init__(self, folder: Path, hnsw: HnswConfig | None = None) -> None:
        self.folder, self.hnsw = Path(folder), hnsw or HnswConfig()

    def lock(self) -> FolderLock:
        """Lock the index against changes by other processes of this machine.

        Raises:
            LockedError: one does already.
        """
        return FolderLock(
            self.folder, "it is changing the index: wait for it, then run this again"
        )

    def read_changes(self) -> Changes:
        """Return what was changed by hand in the index in use, whatever its content.

        Posts that are lost are named in the log.

        Raises:
            InputError: there is none, or it is damaged.
        """
        collections = self.open(None).collections
        try:
            changes = Changes.read(collections.posts)
        finally:
            collections.close()
        self.report_lost(changes)
        return changes

    def report_lost(self, changes: Changes, problem: str = "") -> None:
        """Say which posts that were changed by hand are not among those read."""
        noted = self.list_changed()
        lost = sorted({*changes.damaged, *(noted or ())} - changes.keys)
        if problem and noted is None:
            lost = ["all of them"]
        if lost:
            logger.warning(
                "Index is corrupt; posts that were changed by hand are lost (%s%s): "
                "add their files again with `mathamr index add`, or delete them again",
                ", ".join(lost),
                problem,
            )

    def list_changed(self) -> Collection[PostId] | None:
        """Return the posts that were changed by hand; ``None``: nothing notes them."""
        return None

    @abstractmethod
    def open(self, content: str | None) -> Opened:
        """Open the index in use for reading.

        Args:
            content: what it must have been made from; ``None``: whatever it is.

        Raises:
            InputError: there is none, one of other content, or it is damaged.
        """

    @abstractmethod
    def building(self, content: str, width: int) -> AbstractContextManager[Collections]:
        """Give empty collections; they are put into use if no error comes up."""

    @abstractmethod
    def changing(
        self, content: str, unfinished: Mapping[PostId, int]
    ) -> AbstractContextManager[Collections]:
        """Give the collections in use, to be changed."""

    @abstractmethod
    def read_version(self) -> Any:
        """Return the version of the index in use."""

    def measure(self) -> tuple[int, int] | None:
        """Return the bytes of posts and formulas, if they are known."""
        return None


class _Update(NamedTuple):
    """What some changes write, once; an update that is repeated does no harm."""

    posts: PostVectors
    """Added posts."""
    points: Iterator[Point]
    """Of added posts, and of deleted ones of the collection."""
    removed: Sequence[PointId]
    """Points of deleted posts that had been added."""
    formulas: Mapping[PostId, int]
    """Number of formulas that entries have had so far."""

    def write(self, collections: Collections) -> None:
        write_points(collections.posts, self.points)
        collections.posts.delete(self.removed)
        _write_formulas(collections, self.formulas, self.posts)


@dataclass(frozen=True)
class Addition:
    """Outcome of adding posts, or of a sync."""

    added: tuple[PostId, ...] = ()
    """Those that replaced others among them."""
    replaced: tuple[PostId, ...] = ()
    """Had another text."""
    unchanged: tuple[PostId, ...] = ()
    """Had been added before with the same text; not among ``added``."""
    formulas: int = 0
    failures: tuple[Failure, ...] = ()
    deleted: tuple[PostId, ...] = ()

    def __add__(self, other: Addition) -> Addition:
        return Addition(
            self.added + other.added,
            self.replaced + other.replaced,
            self.unchanged + other.unchanged,
            self.formulas + other.formulas,
            self.failures + other.failures,
            self.deleted + other.deleted,
        )


class ChangedPosts(PostReader):
    """The posts of a store, as they were changed by hand."""

    def __init__(
        self, store: VectorStore, changes: Changes, points: PointCollection
    ) -> None:
        self._store, self._changes, self._points = store, changes, points
        self.encoder, self.width, self.dtype = store.encoder, store.width, store.dtype

    def __len__(self) -> int:
        return len(self._store) - self._num_replaced + len(self._changes.entries)

    @cached_property
    def _num_replaced(self) -> int:
        """Posts of the store that were replaced or deleted."""
        return sum(key in self._store for key in self._changes.keys)

    def __contains__(self, key: object) -> bool:
        changes = self._changes
        if key in changes.entries:
            return True
        if not isinstance(key, str) or key in changes.added:
            return False
        return key in self._store and find_owner(key) not in changes.deleted

    def keys(self) -> Iterator[PostId]:
        """Yield the posts, those that were added first."""
        yield from self._changes.entries
        changed = self._changes.keys
        yield from (key for key in self._store.keys() if key not in changed)

    def locate(self, keys: Sequence[PostId]) -> list[LocatedPosts]:
        """Find posts in the store, or read those that were added from their points."""
        self.require(keys)
        entries = self._changes.entries
        is_added = np.array([key in entries for key in keys], dtype=np.bool_)
        own, others = np.flatnonzero(~is_added), np.flatnonzero(is_added)
        found = [
            part._replace(places=own[part.places])
            for part in self._store.locate([keys[i] for i in own.tolist()])
        ]
        if len(others):
            asked = [keys[i] for i in others.tolist()]
            rows_of = {key: row for row, key in enumerate(dict.fromkeys(asked))}
            rows = np.array([rows_of[key] for key in asked], dtype=np.int64)
            found.append(LocatedPosts(self._read_added(list(rows_of)), rows, others))
        return found

    def _read_added(self, keys: Sequence[PostId]) -> PostVectors:
        rows = self._points.fetch([name_point(k) for k in keys], "all")
        entries = self._changes.entries
        posts = PostVectors.of(
            [entries[k]._replace(vectors=r) for k, r in zip(keys, rows, strict=True)]
        )
        # As they were added: to scale them a second time would round them again.
        exact = np.concatenate(rows).astype(self._store.dtype)
        return replace(posts, nodes=replace(posts.nodes, vectors=exact))


class QdrantIndex(VectorIndex):
    """The index of a store, open for searching.

    Raises:
        InputError: it is missing, of other vectors or damaged; :meth:`open` builds it.
    """

    def __init__(self, connection: Connection, store: VectorStore) -> None:
        self._connection, self._store = connection, store
        opened = connection.open(_name_content(connection, store))
        self._collections, self._version, self._unfinished = opened
        try:
            self.changes = Changes.read(self._collections.posts)
            for key in self.changes.damaged:
                raise DamagedFileError(
                    f"Expected post {key!r} in the index in {str(connection.folder)!r} "
                    f"as it was added or deleted: its bytes were changed; {_REMEDY}"
                )
            self.posts = ChangedPosts(store, self.changes, self._collections.posts)
            self._verify()
        except (KeyError, TypeError) as exc:
            self.close()
            raise DamagedFileError(f"Expected an index ({exc!r}); {_REMEDY}") from exc
        except BaseException:
            self.close()
            raise

    @classmethod
    def open(
        cls,
        connection: Connection,
        store: VectorStore,
        changes: Changes | None = None,
    ) -> QdrantIndex:
        """Open the index of a store; build it if it is missing, damaged or of others.

        Raises:
            LockedError: it must be built, and another process is changing it.
        """
        try:
            return cls._open(connection, store, changes)
        except InputError as exc:
            reason = exc
        with connection.lock():
            try:  # another process may have built it
                return cls._open(connection, store, changes)
            except InputError:
                logger.debug("The index is built: %s", reason)
            kept = changes if changes is not None else _rescue(connection)
            _build(connection, store, kept.without_vectors())
        return cls(connection, store)

    @classmethod
    def _open(
        cls, connection: Connection, store: VectorStore, changes: Changes | None
    ) -> QdrantIndex:
        index = cls(connection, store)
        if changes is not None and changes != index.changes:
            index.close()
            raise MissingInputError("posts were added or deleted with another encoder")
        return index

    def update(
        self,
        add: Mapping[PostId, tuple[PostEntry, Post]],
        delete: Collection[PostId],
        synced: bool = False,
    ) -> Addition:
        """Add, replace and delete posts; this object keeps what it has opened.

        Deleting a post deletes the formulas of its comments.

        Args:
            add: posts with their vectors and their clean texts.
            delete: existing posts.
            synced: whether a folder decides them: the next run of the stages forgets
                these changes, as it reads the folder itself.

        Returns:
            What was there before; posts that are the same are not written again.

        Raises:
            MissingInputError: one to delete is missing; nothing is changed.
            MalformedInputError: one to add has too many vectors; nothing is changed.
            LockedError: another process is changing the index.
        """
        with self._connection.lock():
            with QdrantIndex(self._connection, self._store) as now:
                now.posts.require(list(delete))
                outcome = replace(
                    now._compare_posts(add, synced), deleted=tuple(delete)
                )
                new = {key: add[key] for key in outcome.added}
                if not new and not delete:
                    return outcome
                update = now._plan(new, set(delete), synced)
                now._finish_killed()
            content = _name_content(self._connection, self._store)
            with self._connection.changing(content, update.formulas) as collections:
                update.write(collections)
        return outcome

    def _compare_posts(
        self, add: Mapping[PostId, tuple[PostEntry, Post]], synced: bool
    ) -> Addition:
        changes = self.changes
        same = {
            key
            for key, (_, post) in add.items()
            if key in changes.entries
            and changes.added[key] == post
            and (key in changes.synced) == synced
        }
        added = tuple(key for key in add if key not in same)
        return Addition(
            added,
            tuple(key for key in added if key in self.posts),
            tuple(key for key in add if key in same),
            sum(len(entry.formula_ids) for entry, _ in add.values()),
        )

    def _plan(
        self,
        add: Mapping[PostId, tuple[PostEntry, Post]],
        gone: set[PostId],
        synced: bool,
    ) -> _Update:
        store = self._store
        entries = [entry for entry, _ in add.values()]
        for entry in entries:
            check_size(entry.key, *np.shape(entry.vectors))
        posts = PostVectors.of(entries, width=store.width).astype(store.dtype)
        texts = {key: post for key, (_, post) in add.items()}
        hidden = [deleted_point(key, synced) for key in gone if key in store]
        touched = (*add, *gone, *self._list_comments(gone))
        return _Update(
            posts,
            chain(added_points(posts, texts, synced), hidden),
            [name_point(key) for key in gone if key not in store],
            {key: self._count_formulas(key) for key in touched},
        )

    def _list_comments(self, owners: Collection[PostId]) -> list[PostId]:
        """Return the entries of the comments of some posts."""
        if not owners:
            return []
        return [k for k in self._store.places if k not in owners
                and find_owner(k) in owners]  # fmt: skip

    def _count_formulas(self, key: PostId) -> int:
        """Return how many formulas of an entry there may be in the index, at most."""
        count = 0
        if key in self._store.places:
            part, row = self._store.places[key]
            count = int(np.diff(self._store.parts[part].formula_ptr)[row])
        if key in self.changes.entries:
            count = max(count, len(self.changes.entries[key].formula_ids))
        return max(count, self._unfinished.get(key, 0))

    def _finish_killed(self) -> None:
        """Write the formulas again of posts that a killed process was changing."""
        if self._unfinished:
            known = [key for key in self._unfinished if key in self.posts]
            posts = self.posts.read(known)
            _write_formulas(self._collections, self._unfinished, posts)

    @property
    def added(self) -> Mapping[PostId, Post]:
        """Clean texts of the posts that were added or replaced after indexing."""
        return {key: self.changes.added[key] for key in self.changes.entries}

    def is_current(self) -> bool:
        """Tell whether it is unchanged since it was opened."""
        try:
            return bool(self._connection.read_version() == self._version)
        except InputError:  # damaged: opening it rebuilds it
            return False

    def search(
        self,
        space: PostSpace,
        queries: Sequence[Vectors],
        depth: int,
        mode: SearchMode = EXACT,
        types: PostTypes = None,
    ) -> list[Hits]:
        """Find candidates exactly or by a walk, and order them by their scores."""
        self._check(mode, types, space)
        collection, hits = self._collections.posts, []
        for query in map(self._round, queries):
            if space == "all" and not mode.exact:
                rows = list(query[:, None])
                each = collection.search(rows, space, mode.hnsw_ef, mode, types)
                found = [point for points in each for point in points]
            else:
                asked = query if space == "all" else query[0]
                found = _search(collection, space, asked, depth, mode, types)
            keys = list(dict.fromkeys(point.name("post") for point in found))
            located = self.posts.locate(keys)
            if space == "all":
                scores = compare_nodes(query, located).mean(1)
            else:
                scores = compare_documents(query[0], located)
            hits.append(Hits.rank(keys, scores).top(depth))
        return hits

    def search_formulas(
        self, queries: Sequence[Vectors], depth: int
    ) -> list[FormulaHits]:
        """Find formulas by their vectors."""
        collection = self._collections.formulas
        hits = []
        for query in map(self._round, queries):
            found = _search(collection, "formula", query, depth, EXACT)
            ids = [point.name("formula") for point in found]
            rows = collection.fetch([point.point_id for point in found], "formula")
            exact = [float(row.astype("f8") @ query.astype("f8")) for row in rows]
            scores = np.round(exact, DECIMALS)
            order = np.lexsort((rank_ids(ids), -scores))[:depth].tolist()
            hits.append(
                FormulaHits(
                    [ids[i] for i in order],
                    scores[order],
                    [found[i].name("visual") for i in order],
                    [found[i].name("post") for i in order],
                )
            )
        return hits

    def _round(self, query: Vectors) -> Vectors:
        return round_query(query, self._store.dtype)

    def size(self) -> IndexSize:
        """Return how much it holds, and its size on disk if that is known."""
        counts = len(self.posts), self._collections.formulas.count()
        found = self._connection.measure()
        return IndexSize(*counts, *found, "disk") if found else IndexSize(*counts)

    def close(self) -> None:
        """Release files and connections."""
        self._collections.close()

    def __enter__(self) -> QdrantIndex:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def _check(self, mode: SearchMode, types: PostTypes, space: str) -> None:
        check_post_types(types)
        if not mode.exact and not self._connection.hnsw.edges(space):
            raise ConfigurationError(
                f"Expected an HNSW graph for search 'hnsw' in the space {space!r}; set "
                f"indexing.engine.hnsw.{space}_m to 16 and run `kedro run --pipelines "
                "indexing`, or search 'exact' (conf/<env>/parameters/indexing.yml)"
            )

    def _verify(self) -> None:
        """Compare the counts with the store, and vectors of a sample of posts."""
        store, changed = self._store, self.changes.keys
        expected = len(store) + sum(key not in store for key in changed)
        found = self._collections.posts.count()
        if found != expected:
            raise DamagedFileError(
                f"Expected {expected} posts in the index (got {found}); {_REMEDY}"
            )
        expected, found = self._expect_formulas(), self._collections.formulas.count()
        if found != expected and not self._unfinished:
            raise DamagedFileError(
                f"Expected {expected} formulas in the index (got {found}); {_REMEDY}"
            )
        skipped = {*self.changes.added, *self._unfinished}
        sample = [
            k for k in self._draw_sample() if k in self.posts and k not in skipped
        ]
        _compare(self._collections, store.read(sample))

    def _expect_formulas(self) -> int:
        changes, store = self.changes, self._store
        gone = [key for key in changes.keys if key in store]
        gone += self._list_comments(changes.deleted)
        old = int(store.read(gone).returnable.sum())
        flags = (entry.returnable or () for entry in changes.entries.values())
        return store.num_formulas() - old + sum(map(sum, flags))

    def _draw_sample(self) -> list[PostId]:
        """Return some posts of the store, chosen by chance but always the same."""
        keys = list(self._store.places)
        rng = np.random.default_rng(0)
        chosen = rng.choice(len(keys), min(_SAMPLE, len(keys)), False)
        return [keys[i] for i in np.sort(chosen)]


def _search(
    collection: PointCollection,
    space: str,
    query: Vectors,
    depth: int,
    mode: SearchMode,
    types: PostTypes = None,
) -> list[Point]:
    """Find a few more points than asked for, until the best are surely among them.

    Qdrant computes in single precision: a sum of n products of vectors of length 1 is
    off by at most n 2^-24. It ranks by the sum of MaxSim (Eq. 3.4).
    """
    tokens = len(np.atleast_2d(query))
    doubt = 2 * tokens * (query.shape[-1] + tokens + 4) * 2.0**-24
    limit = depth + max(32, depth // 16)
    while True:
        (found,) = collection.search([query], space, limit, mode, types)
        if len(found) < limit or not mode.exact:
            return found
        if found[-1].score < found[depth - 1].score - doubt:
            return found
        limit *= 4


def _name_content(connection: Connection, store: VectorStore) -> str:
    """Return what tells the index of a store from others."""
    return checksum(store.content, asdict(connection.hnsw), dict(connection.settings))


def _rescue(connection: Connection) -> Changes:
    """Return what was changed by hand in an index that cannot be used."""
    try:
        return connection.read_changes()
    except InputError as exc:
        problem = "" if isinstance(exc, MissingInputError) else f": {exc}"
        connection.report_lost(Changes(), problem)
        return Changes()


def _build(connection: Connection, store: VectorStore, changes: Changes) -> None:
    if changes:
        logger.warning(
            "%d posts that were added by hand are kept: the next search encodes them "
            "with the present encoder; %d stay deleted",
            len(changes.added),
            len(changes.deleted),
        )
    content = _name_content(connection, store)
    with connection.building(content, store.width) as collections:
        batches = _list_batches(collections, store)
        total = len(store) + store.num_formulas()
        counted = report_progress(
            batches, "points indexed", lambda batch: len(batch[1]), total=total
        )
        for collection, batch in counted:
            collection.upsert(batch)
        _hide(collections, store, changes)


def _list_batches(
    collections: Collections, store: VectorStore
) -> Iterator[tuple[Any, list[Any]]]:
    for posts in store.parts:
        for batch in in_batches(post_points(posts)):
            yield collections.posts, batch
        for batch in in_batches(formula_points(posts)):
            yield collections.formulas, batch


def _hide(collections: Collections, store: VectorStore, changes: Changes) -> None:
    """Write what was changed by hand; added posts wait for their vectors."""
    synced = changes.synced
    deleted = (deleted_point(k, k in synced) for k in changes.deleted if k in store)
    waiting = (waiting_point(p, k in synced) for k, p in changes.added.items())
    write_points(collections.posts, chain(deleted, waiting))
    replaced = {key for key in changes.added if key in store}
    gone = [
        key
        for key in (store.places if changes else ())
        if key in replaced or find_owner(key) in changes.deleted
    ]
    counts = np.diff(store.read(gone).formula_ptr).tolist()
    _delete_formulas(collections, dict(zip(gone, counts, strict=True)))


def _write_formulas(
    collections: Collections, old: Mapping[PostId, int], posts: PostVectors
) -> None:
    """Replace the formulas of some entries by those of some posts."""
    _delete_formulas(collections, old)
    write_points(collections.formulas, formula_points(posts))


def _delete_formulas(collections: Collections, counts: Mapping[PostId, int]) -> None:
    ids: list[PointId] = [
        name_point(key, place) for key, n in counts.items() for place in range(n)
    ]
    for a in range(0, len(ids), _DELETED_AT_ONCE):
        collections.formulas.delete(ids[a : a + _DELETED_AT_ONCE])


def _compare(collections: Collections, posts: PostVectors) -> None:
    for collection, points, space in (
        (collections.posts, list(post_points(posts)), "all"),
        (collections.formulas, list(formula_points(posts)), "formula"),
    ):
        found = collection.fetch([p.point_id for p in points], space)
        for point, vectors in zip(points, found, strict=True):
            expected = np.asarray(point.vectors[space], dtype=np.float32)
            if vectors.shape != expected.shape or not np.allclose(
                vectors, expected, rtol=0, atol=1e-6
            ):
                raise DamagedFileError(
                    f"Expected the vectors of post {point.name('post')!r} in the index "
                    f"as in the store; {_REMEDY}"
                )
