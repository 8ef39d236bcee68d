"""The engine ``server``: a Qdrant server or cluster.

::

    alias             collection                    what it notes about itself
    mine_posts    ->  mine_posts_3f0c9a...          content, version, unfinished
    mine_formulas ->  mine_formulas_3f0c9a...

A build grows under names of its own; when it is complete, both aliases are switched in
one request and what they named before is deleted. Searches go through the aliases, so
nobody ever sees half an index. The collection of posts holds the notes. While posts are
changed they are listed as unfinished: the next change after a kill repairs their
formulas. Requests are repeated if they fail.
"""

from __future__ import annotations

import logging
import random
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit
from uuid import UUID

import numpy as np
from qdrant_client import QdrantClient, models
from qdrant_client.http.exceptions import (
    ResponseHandlingException,
    UnexpectedResponse,
)

from mathamr_kedro.base.errors import MissingInputError, WorkerError
from mathamr_kedro.base.files import FolderLock
from mathamr_kedro.base.types import PostId
from mathamr_kedro.vectors.points import (
    CHANGE,
    SPACES,
    Changes,
    Collections,
    FirstStep,
    Point,
    PointId,
)
from mathamr_kedro.vectors.post_vectors import Vectors
from mathamr_kedro.vectors.protocol import (
    HnswConfig,
    PostTypes,
    SearchMode,
    ServerConfig,
)
from mathamr_kedro.vectors.qdrant import (
    EF_CONSTRUCT,
    FULL_SCAN_KB,
    OVERSAMPLING,
    QUANTILE,
    Opened,
)

T = TypeVar("T")
logger = logging.getLogger(__name__)

_TOO_MANY_REQUESTS, _SERVER_ERROR = 429, 500
_LOCAL_HOSTS = ("localhost", "127.0.0.1", "::1")
_LONGEST_WAIT = 24 * 3600.0
"""Seconds that graphs may take to be built."""
_INDEXING_KB = 10_000
"""Vectors from which on a segment gets its graph: Qdrant's default."""


def connect(
    url: str, api_key: str | None = None, prefer_grpc: bool = False, timeout: int = 60
) -> QdrantClient:
    """Connect to a server; the key comes from the catalog's credentials."""
    address = urlsplit(url)
    if api_key and address.scheme == "http" and address.hostname not in _LOCAL_HOSTS:
        logger.warning(
            "The API key goes over plain http to %s, where others can read it; use "
            "https in url, or a tunnel to localhost",
            address.hostname,
        )
    with warnings.catch_warnings():
        warnings.filterwarnings(
            "ignore", "Api key is used with an insecure"
        )  # as above
        return QdrantClient(
            url=url,
            api_key=api_key,
            prefer_grpc=prefer_grpc,
            timeout=timeout,
            check_compatibility=False,  # the first request says if there is no server
        )


def _is_temporary(error: Exception) -> bool:
    """Tell whether a request may work when it is sent again."""
    if isinstance(error, UnexpectedResponse):
        code = error.status_code or 0
        return code >= _SERVER_ERROR or code == _TOO_MANY_REQUESTS
    return isinstance(error, ResponseHandlingException | ConnectionError | TimeoutError)


@dataclass(frozen=True)
class Retry:
    """How often to try, and how long to wait: 0.5, 1, 2, ... seconds, a bit shorter.

    Waits are shortened by chance, so that many writers do not come back at once.
    """

    attempts: int = 6
    first_wait: float = 0.5
    sleep: Callable[[float], None] = time.sleep

    def __call__(self, what: str, call: Callable[[], T]) -> T:
        """Call until it works.

        Raises:
            WorkerError: it never did; the cause is chained. Errors that are not
                temporary are raised as they come.
        """
        for attempt in range(self.attempts):
            try:
                return call()
            except Exception as exc:
                if not _is_temporary(exc):
                    raise
                if attempt + 1 == self.attempts:
                    raise WorkerError(
                        f"{what} failed {self.attempts} times ({exc}); is the server "
                        "up, and are its URL and key right?"
                    ) from exc
                wait = self.first_wait * 2**attempt * random.uniform(0.5, 1.0)
                logger.warning("%s failed (%s); again in %.1f s", what, exc, wait)
                self.sleep(wait)
        raise AssertionError  # pragma: no cover


class ServerConnection:
    """The index of a name on a server.

    Args:
        client: connection to the server.
        name: of the index, first part of its aliases.
        folder: locked while the index is changed.
        hnsw: graphs to build.
        config: how the server keeps the collections.
        retry: how to repeat failed requests.
    """

    def __init__(
        self,
        client: QdrantClient,
        name: str,
        folder: Path,
        hnsw: HnswConfig | None = None,
        config: ServerConfig | None = None,
        retry: Retry | None = None,
    ) -> None:
        self._client, self._name, self._folder = client, name, folder
        self.hnsw, self._config = hnsw or HnswConfig(), config or ServerConfig()
        self.settings: Mapping[str, Any] = asdict(self._config)
        self._retry = retry or Retry()

    def lock(self) -> FolderLock:
        """Keep other processes of this machine from changing the index."""
        return FolderLock(
            self._folder, "it is changing the index: wait for it, then run this again"
        )

    def open(self, content: str) -> Opened:
        """Open the collections in use."""
        note = self._read_note()
        if note.get("content") != content:
            raise MissingInputError(f"no index of these vectors named {self._name!r}")
        return Opened(self._collect(), _version(note), note.get("unfinished") or {})

    def read_version(self) -> Any:
        """Return the name of the collection in use, and how often it was changed."""
        return _version(self._read_note())

    def read_changes(self) -> Changes:
        """Return what was changed by hand in the collections in use.

        Raises:
            MissingInputError: there are none.
        """
        if not self._read_note():
            raise MissingInputError(f"no index named {self._name!r} on the server")
        return Changes.read(self._collect().posts)

    def measure(self) -> None:
        """Return nothing: the bytes are the server's."""

    @contextmanager
    def building(self, content: str, width: int) -> Iterator[Collections]:
        """Make collections, build their graphs and switch to them in one step."""
        names = {kind: f"{self._name}_{kind}_{content}" for kind in SPACES}
        if self._read_note().get("content") == content:  # the one in use is damaged
            names = {kind: f"{name}_again" for kind, name in names.items()}
        note = {"content": content, "changed": 0, "build": names["posts"]}
        for kind, name in names.items():
            self._delete(name)  # what a killed build left
            self._create(kind, name, width, note)
        for field in ("type", CHANGE):
            self._client.create_payload_index(
                names["posts"], field, models.PayloadSchemaType.KEYWORD, wait=True
            )
        yield self._collect(names)
        self._build_graphs(list(names.values()))
        self._switch(names)

    @contextmanager
    def changing(
        self, content: str, unfinished: Mapping[PostId, int]
    ) -> Iterator[Collections]:
        """Give the collections in use; note what is being changed."""
        note = self._read_note()
        old = note.get("unfinished") or {}
        self._write_note(note | {"unfinished": {**old, **unfinished}})
        yield self._collect()
        changed = int(note.get("changed", 0)) + 1
        self._write_note(note | {"unfinished": {}, "changed": changed})

    def _collect(self, names: Mapping[str, str] | None = None) -> Collections:
        chosen = names or {kind: f"{self._name}_{kind}" for kind in SPACES}
        return Collections(
            *(ServerCollection(self._client, n, self._retry) for n in chosen.values())
        )

    def _aliases(self) -> dict[str, str]:
        found = self._retry("Looking for the index", self._client.get_aliases)
        return {a.alias_name: a.collection_name for a in found.aliases}

    def _read_note(self) -> dict[str, Any]:
        """Return what the index in use notes about itself; nothing if there is none."""
        target = self._aliases().get(f"{self._name}_posts")
        if target is None:
            return {}
        found = self._retry(
            "Reading a note", lambda: self._client.get_collection(target)
        )
        return dict(found.config.metadata or {})

    def _write_note(self, note: dict[str, Any]) -> None:
        self._retry(
            "Writing a note",
            lambda: self._client.update_collection(note["build"], metadata=note),
        )

    def _create(self, kind: str, name: str, width: int, note: dict[str, Any]) -> None:
        config = self._config
        create = partial(
            self._client.create_collection,
            name,
            vectors_config=make_spaces(kind, width, self.hnsw, config.on_disk),
            shard_number=config.shard_number,
            replication_factor=config.replication_factor,
            write_consistency_factor=config.write_consistency_factor,
            # Graphs are built once, when everything is there.
            optimizers_config=models.OptimizersConfigDiff(indexing_threshold=0),
            metadata=note if kind == "posts" else None,
        )
        self._retry("Making a collection", create)

    def _delete(self, name: str) -> None:
        delete = partial(self._client.delete_collection, name)
        self._retry("Deleting a collection", delete)

    def _build_graphs(self, names: Sequence[str]) -> None:
        threshold = models.OptimizersConfigDiff(indexing_threshold=_INDEXING_KB)
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

    def _switch(self, names: Mapping[str, str]) -> None:
        """Switch both aliases in one request, delete the old collections."""
        aliases = {f"{self._name}_{kind}": name for kind, name in names.items()}
        old = {a: name for a, name in self._aliases().items() if a in aliases}
        operations: list[models.AliasOperations] = [
            models.DeleteAliasOperation(delete_alias=models.DeleteAlias(alias_name=a))
            for a in old
        ]
        operations += [
            models.CreateAliasOperation(
                create_alias=models.CreateAlias(collection_name=name, alias_name=a)
            )
            for a, name in aliases.items()
        ]
        self._retry(
            "Switching the index",
            lambda: self._client.update_collection_aliases(operations),
        )
        for name in set(old.values()).difference(aliases.values()):
            self._delete(name)
        logger.info("The index %s is now %s", self._name, names["posts"])


def _version(note: Mapping[str, Any]) -> tuple[Any, Any]:
    return note.get("build"), note.get("changed")


class ServerCollection:
    """One collection, by its name or an alias."""

    def __init__(self, client: QdrantClient, name: str, retry: Retry) -> None:
        self.name = name
        self._client, self._retry = client, retry

    def search(
        self,
        query: Vectors,
        space: str,
        limit: int,
        mode: SearchMode,
        types: PostTypes = None,
        only: Sequence[PointId] | None = None,
        first: Sequence[FirstStep] = (),
    ) -> list[Point]:
        """Find points near a vector, or near a matrix by MaxSim."""
        params = models.SearchParams(
            exact=mode.exact,
            hnsw_ef=mode.hnsw_ef,
            quantization=models.QuantizationSearchParams(
                rescore=True, oversampling=OVERSAMPLING
            ),
        )
        chosen = _filter(types, only)
        how: dict[str, Any] = {"search_params": params, "query_filter": chosen}
        if first:
            how = {
                "prefetch": [
                    models.Prefetch(
                        query=step.query.tolist(),
                        using=step.space,
                        limit=step.limit,
                        params=params,
                        filter=chosen,
                    )
                    for step in first
                ],
                "search_params": models.SearchParams(
                    quantization=models.QuantizationSearchParams(ignore=True)
                ),
            }
        answer = self._retry(
            "A search",
            lambda: self._client.query_points(
                self.name, query.tolist(), using=space, limit=limit, with_payload=True,
                **how,
            ),
        )  # fmt: skip
        return [
            Point(_plain(p.id), p.payload or {}, {}, p.score) for p in answer.points
        ]

    def fetch(self, point_ids: Sequence[PointId], space: str) -> list[Vectors]:
        """Return the vectors of points, in the given order."""
        records = self._retry(
            "Reading points",
            lambda: self._client.retrieve(
                self.name, list(point_ids), with_payload=False, with_vectors=[space]
            ),
        )
        found = {
            _plain(r.id): r.vector[space] for r in records if isinstance(r.vector, dict)
        }
        missing = next((i for i in point_ids if i not in found), None)
        if missing is not None:
            raise MissingInputError(f"Expected point {missing!r} in {self.name!r}")
        return [np.asarray(found[i], dtype=np.float32) for i in point_ids]

    def list_changed(self) -> list[Point]:
        """Return the points with a change in their payload."""
        empty = models.IsEmptyCondition(is_empty=models.PayloadField(key=CHANGE))
        chosen = models.Filter(must_not=[empty])
        points: list[Point] = []
        offset: Any = None
        while True:
            scroll = partial(
                self._client.scroll, self.name, chosen, limit=1000, offset=offset
            )
            found, offset = self._retry("Reading changes", scroll)
            points += [Point(_plain(r.id), r.payload or {}, {}) for r in found]
            if offset is None:
                return points

    def upsert(self, points: Sequence[Point]) -> None:
        """Write points and wait; those that are there are replaced."""
        # Values are ours and plain; checking each number again costs most of the time.
        written = [
            models.PointStruct.model_construct(
                id=p.point_id, vector=p.vectors, payload=p.payload
            )
            for p in points
        ]
        self._retry(
            "Writing points",
            lambda: self._client.upsert(self.name, written, wait=True),
        )

    def delete(self, point_ids: Sequence[PointId]) -> None:
        """Delete points and wait; those that are not there are passed over."""
        if not point_ids:
            return
        selector = models.PointIdsList(points=list(point_ids))
        self._retry(
            "Deleting points",
            lambda: self._client.delete(self.name, selector, wait=True),
        )

    def count(self) -> int:
        """Return the exact number of points."""
        answer = self._retry(
            "Counting points", lambda: self._client.count(self.name, exact=True)
        )
        return answer.count

    def close(self) -> None:
        """Do nothing: the connection belongs to who made it."""


def make_spaces(
    collection: str, width: int, hnsw: HnswConfig, on_disk: bool
) -> dict[str, models.VectorParams]:
    """Return the vector spaces of ``posts`` or ``formulas``."""
    several = models.MultiVectorConfig(comparator=models.MultiVectorComparator.MAX_SIM)
    codes = models.ScalarQuantization(
        scalar=models.ScalarQuantizationConfig(
            type=models.ScalarType.INT8, quantile=QUANTILE, always_ram=True
        )
    )
    edges = {"doc": hnsw.doc_m, "all": hnsw.all_m}
    return {
        space: models.VectorParams(
            size=width,
            distance=models.Distance.DOT,
            on_disk=on_disk,
            hnsw_config=models.HnswConfigDiff(
                m=edges.get(space, 0),
                ef_construct=EF_CONSTRUCT,
                full_scan_threshold=FULL_SCAN_KB,
            ),
            multivector_config=several if space == "all" else None,
            quantization_config=codes if hnsw.int8 and edges.get(space) else None,
        )
        for space in SPACES[collection]
    }


def _filter(types: PostTypes, only: Sequence[PointId] | None) -> models.Filter | None:
    conditions: list[models.Condition] = []
    if types is not None:
        match = models.MatchAny(any=sorted(types))
        conditions.append(models.FieldCondition(key="type", match=match))
    if only is not None:
        conditions.append(models.HasIdCondition(has_id=list(only)))
    return models.Filter(must=conditions) if conditions else None


def _plain(point_id: int | str | UUID) -> PointId:
    return str(point_id) if isinstance(point_id, UUID) else point_id
