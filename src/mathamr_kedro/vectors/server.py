"""The engine ``server``: a Qdrant server or cluster.

::

    alias             collection                    what it notes about itself
    mine_posts    ->  mine_posts_3f0c9a...          encoder, generation, progress
    mine_formulas ->  mine_formulas_3f0c9a...

A build grows under names of its own; when it is complete and checked, both aliases are
switched in one request and what they named before is deleted. Searches go through the
aliases, so nobody ever sees half an index. The collection of posts holds the note.
"""

from __future__ import annotations

import logging
import time
from dataclasses import asdict
from functools import partial
from typing import Any

from qdrant_client import QdrantClient, models

from mathamr_kedro.base.errors import MissingInputError, WorkerError
from mathamr_kedro.base.parameters import read_parameters
from mathamr_kedro.vectors.following import Follower, Note
from mathamr_kedro.vectors.points import SPACES, Collections
from mathamr_kedro.vectors.protocol import (
    HnswConfig,
    IndexSize,
    ServerConfig,
)
from mathamr_kedro.vectors.qdrant import QdrantIndex
from mathamr_kedro.vectors.server_collection import Retry, ServerCollection
from mathamr_kedro.vectors.store import VectorStore

logger = logging.getLogger(__name__)

_LONGEST_WAIT = 24 * 3600.0
"""Seconds that graphs may take to be built."""


class ServerIndex(QdrantIndex):
    """An index on a server, for searching.

    ::

        ServerIndex.build(client, store, "mine")        # once, and after each commit
        index = ServerIndex(client, "mine")             # anywhere
    """

    def __init__(
        self, client: QdrantClient, name: str, retry: Retry | None = None
    ) -> None:
        retry = retry or Retry()
        note = retry("Looking for the index", lambda: _read_note(client, name))
        if not note:
            raise MissingInputError(
                f"Expected an index {name!r} on the server; run the stage 'indexing'"
            )
        posts, formulas = (
            ServerCollection(client, f"{name}_{kind}", retry) for kind in SPACES
        )
        hnsw = read_parameters(HnswConfig, note["hnsw"], "indexing.hnsw")
        super().__init__(
            Collections(posts, formulas), note["encoder"], note["dtype"], hnsw
        )

    @classmethod
    def build(
        cls,
        client: QdrantClient,
        store: VectorStore,
        name: str,
        hnsw: HnswConfig | None = None,
        config: ServerConfig | None = None,
        retry: Retry | None = None,
    ) -> ServerIndex:
        """Make or update the index of a store on a server, and open it.

        Args:
            client: connection to the server.
            store: the vectors.
            name: of the index, first part of its aliases.
            hnsw: graphs to build.
            config: how the server keeps the collections.
            retry: how to repeat failed requests.
        """
        config = config or ServerConfig()
        retry = retry or Retry(config.attempts)
        _make_follower(client, store, name, hnsw or HnswConfig(), config, retry).open()
        return cls(client, name, retry)

    @staticmethod
    def reached(
        client: QdrantClient,
        store: VectorStore,
        name: str,
        hnsw: HnswConfig,
        config: ServerConfig,
    ) -> int | None:
        """Return the generation of an index; ``None`` if it must be built."""
        retry = Retry(config.attempts)
        return _make_follower(client, store, name, hnsw, config, retry).reached()

    def size(self) -> IndexSize:
        """Return how much it holds, and the bytes that the server tells."""
        known = super().size()
        found = [c for c in self._collections if isinstance(c, ServerCollection)]
        posts, formulas = (collection.measure() for collection in found)
        if posts is None or formulas is None:
            return known
        return IndexSize(*known[:2], posts, formulas, "telemetry")


def _make_follower(
    client: QdrantClient,
    store: VectorStore,
    name: str,
    hnsw: HnswConfig,
    config: ServerConfig,
    retry: Retry,
) -> Follower:
    builds = _ServerBuilds(client, store, name, hnsw, config, retry)
    return Follower(builds, store, asdict(hnsw), asdict(config) | {"attempts": None})


class _ServerBuilds:
    """The builds of an index as collections of a server."""

    def __init__(
        self,
        client: QdrantClient,
        store: VectorStore,
        name: str,
        hnsw: HnswConfig,
        config: ServerConfig,
        retry: Retry,
    ) -> None:
        self._client, self._store, self._name = client, store, name
        self._hnsw, self._config, self._retry = hnsw, config, retry

    def _names(self, note: Note) -> dict[str, str]:
        return {kind: f"{self._name}_{kind}_{note.build}" for kind in SPACES}

    def read_note(self) -> Note | None:
        found = self._retry(
            "Looking for the index", lambda: _read_note(self._client, self._name)
        )
        if not found:
            return None
        return Note(found["config"], found["build"], found["generation"])

    def claim(self, note: Note) -> Note:
        return note  # the server keeps searches and changes apart

    def announce(self, note: Note) -> None:
        """Do nothing: the server keeps its files, and checks them itself."""

    def needs_note(self) -> bool:
        return False

    def reserve(self, num_bytes: int) -> None:
        """Do nothing: the disk is the server's."""

    def write_note(self, collections: Collections, note: Note) -> None:
        self._write(note, None)

    def _write(self, note: Note, progress: int | None) -> None:
        content, name = self._describe(note, progress), self._names(note)["posts"]
        self._retry(
            "Writing a note",
            lambda: self._client.update_collection(name, metadata=content),
        )

    def _describe(self, note: Note, progress: int | None) -> dict[str, Any]:
        return asdict(note) | {
            "encoder": self._store.encoder,
            "dtype": self._store.state.dtype,
            "hnsw": asdict(self._hnsw),
            "progress": progress,
        }

    def load(self, note: Note) -> Collections:
        posts, formulas = (
            ServerCollection(self._client, name, self._retry)
            for name in self._names(note).values()
        )
        return Collections(posts, formulas)

    def discard(self, note: Note) -> None:
        for name in self._names(note).values():
            self._delete(name)

    def begin(self, note: Note) -> tuple[Collections, int]:
        names = self._names(note)
        left = _read_metadata(self._client, names["posts"])
        exists = all(map(self._client.collection_exists, names.values()))
        if exists and left.get("generation") == note.generation:
            return self.load(note), int(left.get("progress") or 0)
        for kind, name in reversed(names.items()):  # the one with the note last
            self._delete(name)
            self._create(kind, name, self._describe(note, 0))
        self._client.create_payload_index(
            names["posts"], "type", models.PayloadSchemaType.KEYWORD, wait=True
        )
        return self.load(note), 0

    def _create(self, kind: str, name: str, about: dict[str, Any]) -> None:
        config = self._config
        create = partial(
            self._client.create_collection,
            name,
            vectors_config=ServerCollection.make_spaces(
                kind, self._store.width, self._hnsw, config.on_disk
            ),
            shard_number=config.shard_number,
            replication_factor=config.replication_factor,
            write_consistency_factor=config.write_consistency_factor,
            # Graphs are built once, when everything is there.
            optimizers_config=models.OptimizersConfigDiff(indexing_threshold=0),
            metadata=about if kind == "posts" else None,
        )
        self._retry("Making a collection", create)

    def _delete(self, name: str) -> None:
        delete = partial(self._client.delete_collection, name)
        self._retry("Deleting a collection", delete)

    def save_progress(self, collections: Collections, note: Note, done: int) -> None:
        self._write(note, done)

    def finish(self, collections: Collections) -> None:
        threshold = models.OptimizersConfigDiff(
            indexing_threshold=self._config.indexing_threshold
        )
        names = [c.name for c in collections if isinstance(c, ServerCollection)]
        for name in names:
            start = partial(
                self._client.update_collection, name, optimizers_config=threshold
            )
            self._retry("Starting the graphs", start)
        started, wait = time.monotonic(), 0.05
        for name in names:
            while self._status(name) != models.CollectionStatus.GREEN:
                if time.monotonic() - started > _LONGEST_WAIT:
                    raise WorkerError(f"The graphs of {name!r} are not finished")
                self._retry.sleep(wait)
                wait = min(10.0, 2 * wait)

    def _status(self, name: str) -> models.CollectionStatus:
        return self._retry(
            "Reading the status", lambda: self._client.get_collection(name).status
        )

    def put_into_use(self, collections: Collections, note: Note) -> None:
        """Switch both aliases in one request, delete the old collections."""
        self.write_note(collections, note)
        names = self._names(note)
        aliases = {f"{self._name}_{kind}": name for kind, name in names.items()}
        old = {
            a.alias_name: a.collection_name
            for a in self._client.get_aliases().aliases
            if a.alias_name in aliases
        }
        operations: list[models.AliasOperations] = []
        for alias, name in aliases.items():
            if alias in old:
                operations.append(
                    models.DeleteAliasOperation(
                        delete_alias=models.DeleteAlias(alias_name=alias)
                    )
                )
            operations.append(
                models.CreateAliasOperation(
                    create_alias=models.CreateAlias(
                        collection_name=name, alias_name=alias
                    )
                )
            )
        self._retry(
            "Switching the index",
            lambda: self._client.update_collection_aliases(operations),
        )
        for name in set(old.values()).difference(aliases.values()):
            self._delete(name)
        logger.info("The index %s is now build %s", self._name, note.build)


def _read_note(client: QdrantClient, name: str) -> dict[str, Any] | None:
    """Return what the index in use notes about itself; ``None`` where there is none."""
    aliases = {a.alias_name: a.collection_name for a in client.get_aliases().aliases}
    target = aliases.get(f"{name}_posts")
    return _read_metadata(client, target) if target else None


def _read_metadata(client: QdrantClient, collection: str) -> dict[str, Any]:
    if not client.collection_exists(collection):
        return {}
    return dict(client.get_collection(collection).config.metadata or {})
