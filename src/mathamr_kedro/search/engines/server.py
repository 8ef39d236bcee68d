"""The engine ``server``: a Qdrant server or cluster.

::

    alias             collection                    what it notes about itself
    mine_posts    ->  mine_posts_3f0c9a...          encoder, generation, progress
    mine_formulas ->  mine_formulas_3f0c9a...

A build grows under names of its own; when it is complete and checked, both aliases are
switched in one request and what they named before is deleted. Searches go through the
aliases, so nobody ever sees half an index. The collection of posts notes how far it is:
a killed build goes on where it stopped, a living index applies what it lacks again.
"""

from __future__ import annotations

import logging
import time
from dataclasses import asdict
from functools import partial
from typing import Any

from qdrant_client import QdrantClient, models

from mathamr_kedro.errors import MissingInputError, WorkerError
from mathamr_kedro.files import fingerprint
from mathamr_kedro.parameters import read_parameters
from mathamr_kedro.search.engines.following import apply_changes, verify_collections
from mathamr_kedro.search.engines.protocol import HnswParameters, ServerParameters
from mathamr_kedro.search.engines.qdrant import Collections, QdrantIndex
from mathamr_kedro.search.engines.retrying import Retry
from mathamr_kedro.search.engines.server_collection import (
    ServerCollection,
    formula_spaces,
    is_temporary,
    post_spaces,
)
from mathamr_kedro.search.store import VectorStore

logger = logging.getLogger(__name__)

_KINDS = ("posts", "formulas")
_NOTE_EVERY = 32
"""Batches between two notes of progress."""
_LONGEST_WAIT = 24 * 3600.0
"""Seconds that graphs may take to be built."""


def connect(
    url: str, api_key: str | None = None, prefer_grpc: bool = False, timeout: int = 60
) -> QdrantClient:
    """Connect to a server; the key comes from the catalog's credentials."""
    return QdrantClient(
        url=url,
        api_key=api_key,
        prefer_grpc=prefer_grpc,
        timeout=timeout,
        check_compatibility=False,  # the first request says it if there is no server
    )


class ServerIndex(QdrantIndex):
    """An index on a server, for searching.

    ::

        build_server_index(client, store, "mine")       # once, and after each commit
        index = ServerIndex(client, "mine")             # anywhere
    """

    def __init__(
        self, client: QdrantClient, name: str, retry: Retry | None = None
    ) -> None:
        retry = retry or Retry(is_temporary=is_temporary)
        note = retry("Looking for the index", lambda: _read_note(client, name))
        if note is None:
            raise MissingInputError(
                f"Expected an index {name!r} on the server; run the stage 'indexing'"
            )
        posts, formulas = (
            ServerCollection(client, f"{name}_{kind}", retry) for kind in _KINDS
        )
        hnsw = read_parameters(HnswParameters, note["hnsw"], "indexing.hnsw")
        super().__init__(
            Collections(posts, formulas), note["encoder"], note["dtype"], hnsw
        )


def build_server_index(
    client: QdrantClient,
    store: VectorStore,
    name: str,
    hnsw: HnswParameters | None = None,
    parameters: ServerParameters | None = None,
    retry: Retry | None = None,
) -> ServerIndex:
    """Make or update the index of a store on a server.

    Args:
        client: connection to the server.
        store: the vectors.
        name: of the index, first part of its aliases.
        hnsw: graphs to build.
        parameters: how the server keeps the collections.
        retry: how to repeat failed requests.
    """
    parameters = parameters or ServerParameters()
    retry = retry or Retry(parameters.attempts, is_temporary=is_temporary)
    builder = _Builder(client, store, name, hnsw or HnswParameters(), parameters, retry)
    note = retry("Looking for the index", lambda: _read_note(client, name))
    if note is not None and builder.can_follow(note):
        builder.follow(note)
    else:
        builder.build()
    return ServerIndex(client, name, retry)


class _Builder:
    def __init__(
        self,
        client: QdrantClient,
        store: VectorStore,
        name: str,
        hnsw: HnswParameters,
        parameters: ServerParameters,
        retry: Retry,
    ) -> None:
        self._client, self._store, self._name = client, store, name
        self._hnsw, self._parameters, self._retry = hnsw, parameters, retry
        state = store.state
        kept = asdict(parameters) | {"attempts": None}
        self._config = fingerprint(
            state.identity, state.encoder, state.width, asdict(hnsw), kept
        )
        self._use(fingerprint(self._config, store.generation))

    def _use(self, build: str) -> None:
        self._build = build
        self._names = {kind: f"{self._name}_{kind}_{build}" for kind in _KINDS}
        posts, formulas = (
            ServerCollection(self._client, name, self._retry)
            for name in self._names.values()
        )
        self._collections = Collections(posts, formulas)

    def can_follow(self, note: dict[str, Any]) -> bool:
        generation = note["generation"]
        return (
            note["config"] == self._config
            and generation <= self._store.generation
            and not self._store.has_forgotten(generation)
        )

    def follow(self, note: dict[str, Any]) -> None:
        if note["generation"] == self._store.generation:
            return
        self._use(note["build"])
        changes = self._store.changes_since(note["generation"])
        for _ in apply_changes(self._collections, changes):
            pass
        self._write_note(changes.generation)

    def build(self) -> None:
        changes = self._store.changes_since(0)
        done = self._begin(changes.generation)
        for number in apply_changes(self._collections, changes, done):
            if number % _NOTE_EVERY == 0:
                self._write_note(changes.generation, number)
        self._finish_graphs()
        verify_collections(self._collections, self._store)
        self._write_note(changes.generation)
        self._switch()

    def _begin(self, generation: int) -> int:
        """Make the collections, or find how far a killed build came."""
        note = _read_metadata(self._client, self._names["posts"])
        exists = all(map(self._client.collection_exists, self._names.values()))
        if exists and note.get("generation") == generation:
            return int(note.get("progress") or 0)
        width, on_disk = self._store.width, self._parameters.on_disk
        spaces = {
            "posts": post_spaces(width, self._hnsw, on_disk),
            "formulas": formula_spaces(width, self._hnsw, on_disk),
        }
        for kind in reversed(_KINDS):  # the one with the note last
            name = self._names[kind]
            self._delete(name)
            create = partial(
                self._client.create_collection,
                name,
                vectors_config=spaces[kind],
                shard_number=self._parameters.shard_number,
                replication_factor=self._parameters.replication_factor,
                write_consistency_factor=self._parameters.write_consistency_factor,
                # Graphs are built once, when everything is there.
                optimizers_config=models.OptimizersConfigDiff(indexing_threshold=0),
                metadata=self._note(generation, 0) if kind == "posts" else None,
            )
            self._retry("Making a collection", create)
        self._client.create_payload_index(
            self._names["posts"], "type", models.PayloadSchemaType.KEYWORD, wait=True
        )
        return 0

    def _delete(self, name: str) -> None:
        delete = partial(self._client.delete_collection, name)
        self._retry("Deleting a collection", delete)

    def _finish_graphs(self) -> None:
        threshold = models.OptimizersConfigDiff(
            indexing_threshold=self._parameters.indexing_threshold
        )
        for name in self._names.values():
            start = partial(
                self._client.update_collection, name, optimizers_config=threshold
            )
            self._retry("Starting the graphs", start)
        started, wait = time.monotonic(), 0.05
        for name in self._names.values():
            while self._status(name) != models.CollectionStatus.GREEN:
                if time.monotonic() - started > _LONGEST_WAIT:
                    raise WorkerError(f"The graphs of {name!r} are not finished")
                self._retry.sleep(wait)
                wait = min(10.0, 2 * wait)

    def _status(self, name: str) -> models.CollectionStatus:
        return self._retry(
            "Reading the status", lambda: self._client.get_collection(name).status
        )

    def _switch(self) -> None:
        """Put the new collections into use in one request, delete the old ones."""
        aliases = {f"{self._name}_{kind}": self._names[kind] for kind in _KINDS}
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
        logger.info("The index %s is now build %s", self._name, self._build)

    def _note(self, generation: int, progress: int | None) -> dict[str, Any]:
        return {
            "config": self._config,
            "build": self._build,
            "encoder": self._store.encoder,
            "dtype": self._store.state.dtype,
            "hnsw": asdict(self._hnsw),
            "generation": generation,
            "progress": progress,
        }

    def _write_note(self, generation: int, progress: int | None = None) -> None:
        note = self._note(generation, progress)
        self._retry(
            "Writing a note",
            lambda: self._client.update_collection(self._names["posts"], metadata=note),
        )


def _read_note(client: QdrantClient, name: str) -> dict[str, Any] | None:
    """Return what the index in use notes about itself; ``None`` where there is none."""
    aliases = {a.alias_name: a.collection_name for a in client.get_aliases().aliases}
    target = aliases.get(f"{name}_posts")
    return _read_metadata(client, target) if target else None


def _read_metadata(client: QdrantClient, collection: str) -> dict[str, Any]:
    if not client.collection_exists(collection):
        return {}
    return dict(client.get_collection(collection).config.metadata or {})
