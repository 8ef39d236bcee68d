"""MathAMR+ as datasets: its model and its index.

A node returns what is to be made, and ``save`` makes it, or resumes. Graphs, trainings
and vectors are in folders named by their checksum (:mod:`.stores`), so that several
configurations share a data root; the model and the index of a run are noted in a file
of its own.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any, NamedTuple

from mathamr_kedro.base.errors import InputError, MissingInputError
from mathamr_kedro.base.files import write_text
from mathamr_kedro.base.formatting import count_nouns
from mathamr_kedro.base.machines import Machine
from mathamr_kedro.base.parameters import read_parameters
from mathamr_kedro.base.types import PostId
from mathamr_kedro.datasets.sharded_table import ShardedTable, ShardedTableDataset
from mathamr_kedro.datasets.systems import LazyIndex, NotedDataset
from mathamr_kedro.systems import Target
from mathamr_kedro.systems.mathamr_plus import (
    NAME,
    CollectionVectors,
    Encoder,
    MathAMRPlusIndex,
    QueryEncoder,
    Strategy,
    VectorStores,
    find_questions,
)
from mathamr_kedro.vectors import (
    Changes,
    EngineConfig,
    QdrantIndex,
    UpdatableIndex,
    VectorIndex,
    compute_bytes,
    connect_index,
    count_by_type,
    open_index,
)
from mathamr_kedro.vectors.updates import EncodePost

logger = logging.getLogger(__name__)

_LATEST = "latest.txt"
"""Checksum of the encoder whose index is in use."""


class EncoderDataset(NotedDataset[Any, Encoder]):
    """The encoder: trained when it is saved, unless it was before.

    Example of a catalog entry::

        mathamr_plus.model:
          type: mathamr_kedro.datasets.mathamr_plus.EncoderDataset
          filepath: data/06_models/systems/mathamr_plus.model.json
          path: data/06_models/encoders
    """

    def save(self, data: Any) -> None:
        """Train, or resume, below the folder of all; then note which encoder it is."""
        facts = data.train(self._base)
        self._write_note({**facts, "graphs": self._shorten(data.graphs.folder)})

    def load(self) -> Encoder:
        """Return the encoder; its weights are read when it is first called."""
        facts = self._read_note("training")
        graphs = self._base / facts.pop("graphs")
        return Encoder(self._base / facts["folder"], graphs, facts)


class VectorIndexing(NamedTuple):
    """An index of vectors to be built."""

    vectors: CollectionVectors
    posts: ShardedTable
    """Whose answers belong to which question."""
    engine: EngineConfig
    strategy: Strategy


@dataclass(eq=False, repr=False)
class BuiltVectorIndex(LazyIndex):
    """The index of MathAMR+.

    ::

        index = catalog.load("mathamr_plus.index")
        (hits,) = index.rank(index.prepare([Query("A.301")]), depth=5)
    """

    counts: Mapping[str, Any]
    """Sizes, seconds, and the checksum of the ``encoder``."""
    engine: EngineConfig
    """It was built by."""
    strategy: Strategy
    """It is asked by."""
    folder: Path
    connect: Callable[[], Any] | None
    """Gives a client of a Qdrant server."""
    stores: VectorStores
    posts: ShardedTable

    def __repr__(self) -> str:
        posts = count_nouns(self.counts["posts"], "post")
        what = f"{posts}, {count_nouns(self.counts['formulas'], 'formula')}"
        engine = self.engine.engine
        return f"<{type(self).__name__}: {what} by {engine}, in {self.folder}>"

    @property
    def encoder(self) -> str:
        """Checksum of the encoder whose vectors it holds."""
        found: str = self.counts["encoder"]
        return found

    @cached_property
    def vectors(self) -> CollectionVectors:
        """The vectors it was built from."""
        return self.stores.open(self.encoder, verify=False)

    def open(
        self,
        engine: EngineConfig | None = None,
        strategies: Mapping[str, Strategy] | None = None,
        encoder: QueryEncoder | None = None,
        verify: bool = False,
    ) -> MathAMRPlusIndex:
        """Open the index; posts that were added before it was rebuilt are encoded.

        Args:
            engine: another one; its index is built if it is missing.
            strategies: by the names of their rankings; its own if ``None``.
            encoder: encodes parts of typed queries, and posts that wait for it.
            verify: read all files whole.
        """
        engine = engine or self.engine
        topics, posts = self.stores.open(self.encoder) if verify else self.vectors
        opening = engine, posts, self.folder, self.connect, verify
        index = open_index(*opening)
        if (
            encoder is not None
            and isinstance(index, QdrantIndex)
            and index.changes.waiting
        ):
            index.close()
            self.update(lambda: encoder.encode_post, engine).encode_waiting()
            index = open_index(*opening)
        return MathAMRPlusIndex(
            index,
            strategies or {NAME: self.strategy},
            partial(self._find_questions, index),
            topics,
            encoder,
            engine.searches_on,
        )

    def update(
        self,
        load_encoder: Callable[[], EncodePost],
        engine: EngineConfig | None = None,
        lock: Callable[[], AbstractContextManager[object]] = nullcontext,
    ) -> UpdatableIndex:
        """Return what adds posts and deletes them.

        Args:
            load_encoder: gives what encodes new posts, once there are some.
            engine: another one than the index was built by.
            lock: locks what else must not be written meanwhile.
        """
        found = connect_index(
            engine or self.engine, self.encoder, self.folder, self.connect
        )
        return UpdatableIndex(found, self.vectors.posts, load_encoder, lock)

    def read_changes(self) -> Changes:
        """Return what was added and deleted since indexing."""
        if self.engine.engine == "exact":
            return Changes()
        where = self.engine, self.encoder, self.folder, self.connect
        try:
            return connect_index(*where).read_changes()
        except MissingInputError:
            return Changes()

    def list_rankings(self, target: Target) -> Sequence[str]:
        """Return the names of its rankings."""
        return [NAME]

    def _find_questions(self, index: VectorIndex) -> Mapping[PostId, PostId]:
        return find_questions(self.posts.tables(["post_id", "parent_id"]), index.posts)


class VectorIndexDataset(NotedDataset[VectorIndexing, BuiltVectorIndex]):
    """The index of MathAMR+: built or updated when it is saved.

    Example of a catalog entry; the key is ``qdrant: {api_key: ...}`` in
    ``credentials.yml`` of the same environment (``conf/local`` without ``--env``)::

        mathamr_plus.index:
          type: mathamr_kedro.datasets.mathamr_plus.VectorIndexDataset
          filepath: data/06_models/systems/mathamr_plus.index.json
          path: data/06_models
          url: https://qdrant.example.org:6333
          prefer_grpc: true
          credentials: qdrant

    Args:
        filepath: says which index is the present one, and what it holds.
        path: folder of vectors, and of embedded indexes in ``indexes/``.
        url: of a Qdrant server, for the engine ``server``.
        prefer_grpc: how to talk to it.
        credentials: its key.
        metadata: for Kedro-Viz.
    """

    def __init__(
        self,
        *,
        filepath: str,
        path: str,
        url: str | None = None,
        prefer_grpc: bool = False,
        credentials: Mapping[str, str] | None = None,
        metadata: dict[str, Any] | None = None,
    ) -> None:
        super().__init__(filepath=filepath, path=path, metadata=metadata)
        self._url, self._prefer_grpc = url, prefer_grpc
        self._credentials = dict(credentials or {})

    def save(self, data: VectorIndexing) -> None:
        """Build or update the index; then note what it holds."""
        store, engine = data.vectors.posts, data.engine
        started = time.perf_counter()
        folder, connect = self._indexes / store.encoder, self._find_connect()
        changes = self._read_changes(engine, store.encoder)
        index = open_index(engine, store, folder, connect, verify=True, changes=changes)
        seconds = time.perf_counter() - started
        counts = _describe_size(data.vectors, index)
        index.close()
        self._indexes.mkdir(parents=True, exist_ok=True)
        write_text(self._indexes / _LATEST, store.encoder)
        logger.info(
            "index of %s posts and %s formulas in %.1f s",
            counts["posts"],
            counts["formulas"],
            seconds,
        )
        noted = {
            "counts": {
                "encoder": store.encoder,
                "engine": engine.engine,
                "strategy": data.strategy.name,
                **counts,
                "seconds": round(seconds, 3),
                "machine": asdict(Machine.find()),
            },
            "engine": asdict(engine),
            "strategy": asdict(data.strategy),
            "posts": self._shorten(data.posts.path),
        }
        self._write_note(noted)

    def load(self) -> BuiltVectorIndex:
        """Return the index; it is opened, or a server called, when it is asked."""
        noted = self._read_note("indexing")
        noted["engine"].pop("rescore", None)  # a parameter of the version before
        posts = str(self._base / noted["posts"])
        return BuiltVectorIndex(
            noted["counts"],
            read_parameters(EngineConfig, noted["engine"], where="engine"),
            read_parameters(Strategy, noted["strategy"], where="strategy"),
            self._indexes / noted["counts"]["encoder"],
            self._find_connect(),
            VectorStores(self._base),
            ShardedTableDataset(filepath=posts, record="Post").load(),
        )

    @property
    def _indexes(self) -> Path:
        return self._base / "indexes"

    def _find_connect(self) -> Callable[[], Any] | None:
        if self._url is None:
            return None
        # Loaded here: the engine 'exact' needs no Qdrant.
        from mathamr_kedro.vectors.server import connect  # noqa: PLC0415

        key = self._credentials.get("api_key")
        return partial(connect, self._url, key, self._prefer_grpc)

    def _read_changes(self, engine: EngineConfig, encoder: str) -> Changes | None:
        """Return what was changed by hand in the index of the encoder before.

        What was synced with a folder is forgotten: this run has read the folder.
        """
        try:
            before = (self._indexes / _LATEST).read_text(encoding="utf-8")
        except FileNotFoundError:
            return None
        if engine.engine == "exact":
            return None
        folder = self._indexes / before
        try:
            changes = connect_index(
                engine, before, folder, self._find_connect()
            ).read_changes()
        except InputError as exc:
            if before == encoder:
                return None
            logger.info("Nothing is kept from the previous index: %s", exc)
            return None
        if before == encoder and not changes.synced:
            return None
        return changes.by_hand()

    def _describe(self) -> dict[str, Any]:
        return {**super()._describe(), "url": self._url}


def _describe_size(vectors: CollectionVectors, index: VectorIndex) -> dict[str, Any]:
    """Return what an index holds, with its bytes, and the same by type of post.

    Bytes of the whole are those that the engine tells; if it does not, and for each
    type of post, they are computed.
    """
    store, size = vectors.posts, index.size()
    counts = count_by_type(store)
    computed = compute_bytes(counts, store.width, size.number_bytes)
    posts, formulas = size.post_bytes, size.formula_bytes
    if size.source == "unknown":
        posts = sum(of_posts for of_posts, _ in computed.values())
        formulas = sum(of_formulas for _, of_formulas in computed.values())
    names = ("post_bytes", "formula_bytes")
    return {
        "posts": size.posts,
        "formulas": size.formulas,
        "topics": len(vectors.topics),
        "vectors": sum(found.vectors for found in counts.values()),
        "width": store.width,
        "bytes": posts + formulas,
        "post_bytes": posts,
        "formula_bytes": formulas,
        "bytes_from": "computed" if size.source == "unknown" else size.source,
        "post_types": {
            name: found._asdict() | dict(zip(names, computed[name], strict=True))
            for name, found in counts.items()
        },
    }
