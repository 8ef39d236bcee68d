"""The engine ``server``: a Qdrant server or cluster.

::

    alias             collection                    what it notes about itself
    mine_posts    ->  mine_posts_3f0c9a...          content, version, unfinished
    mine_formulas ->  mine_formulas_3f0c9a...

A build grows under names of its own; when it is complete, both aliases are switched in
one request and what they named before is deleted. Searches go through the aliases, so
readers never see half an index. The collection of posts holds the notes. While posts
are changed they are listed as unfinished: the next change after a kill repairs their
formulas. Failed requests are repeated.
"""

from __future__ import annotations

import logging
import random
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, ParamSpec, TypeVar
from urllib.parse import urlsplit

from qdrant_client import QdrantClient, models
from qdrant_client.http.exceptions import (
    ResponseHandlingException,
    UnexpectedResponse,
)

from mathamr_kedro.base.errors import MissingInputError, WorkerError
from mathamr_kedro.base.types import PostId
from mathamr_kedro.vectors.points import (
    CHANGE,
    CHANGED_AT_ONCE,
    SPACES,
    Collections,
    Point,
    PointCollection,
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
    Connection,
    Opened,
)

P = ParamSpec("P")
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
    """Repeats a request: after 0.5, 1, 2, ... seconds, a bit shorter.

    Waits are shortened by chance, so that many writers do not come back at once.
    """

    attempts: int = 6
    first_wait: float = 0.5
    sleep: Callable[[float], None] = time.sleep

    def __call__(self, call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Call until it works.

        Raises:
            WorkerError: it never did; the cause is chained. Errors that are not
                temporary are raised as they come.
        """
        name = getattr(call, "__name__", "request")
        for attempt in range(self.attempts):
            try:
                return call(*args, **kwargs)
            except Exception as exc:
                if not _is_temporary(exc):
                    raise
                if attempt + 1 == self.attempts:
                    raise WorkerError(
                        f"Qdrant's {name} failed {self.attempts} times ({exc}); is the "
                        "server up, and are its URL and key right?"
                    ) from exc
                wait = self.first_wait * 2**attempt * random.uniform(0.5, 1.0)
                logger.warning("%s failed (%s); again in %.1f s", name, exc, wait)
                self.sleep(wait)
        raise AssertionError  # pragma: no cover


class ServerConnection(Connection):
    """The index of a name on a server."""

    def __init__(
        self,
        client: QdrantClient,
        name: str,
        folder: Path,
        hnsw: HnswConfig | None = None,
        config: ServerConfig | None = None,
        retry: Retry | None = None,
    ) -> None:
        super().__init__(folder, hnsw)
        self._client, self._name = client, name
        self._config = config or ServerConfig()
        self.settings = asdict(self._config)
        self._retry = retry or Retry()

    def open(self, content: str | None) -> Opened:
        """Open the collections in use."""
        note = self._read_note()
        known = note.get("content")
        if known is None or content not in (None, known):
            raise MissingInputError(f"no index of these vectors named {self._name!r}")
        return Opened(self._collect(), _version(note), note.get("unfinished") or {})

    def read_version(self) -> Any:
        """Return the name of the collection in use, and how often it was changed."""
        return _version(self._read_note())

    @contextmanager
    def building(self, content: str, width: int) -> Iterator[Collections]:
        """Make collections, build their graphs and switch to them in one step."""
        names = {kind: f"{self._name}_{kind}_{content}" for kind in SPACES}
        if self._read_note().get("content") == content:  # the one in use is damaged
            names = {kind: f"{name}_again" for kind, name in names.items()}
        note = {"content": content, "changed": 0, "build": names["posts"]}
        for kind, name in names.items():
            # What a killed build left.
            self._retry(self._client.delete_collection, name)
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
        found = self._retry(self._client.get_aliases)
        return {a.alias_name: a.collection_name for a in found.aliases}

    def _read_note(self) -> dict[str, Any]:
        """Return what the index in use notes about itself; nothing if there is none."""
        target = self._aliases().get(f"{self._name}_posts")
        if target is None:
            return {}
        found = self._retry(self._client.get_collection, target)
        return dict(found.config.metadata or {})

    def _write_note(self, note: dict[str, Any]) -> None:
        self._retry(self._client.update_collection, note["build"], metadata=note)

    def _create(self, kind: str, name: str, width: int, note: dict[str, Any]) -> None:
        config = self._config
        self._retry(
            self._client.create_collection,
            name,
            vectors_config=make_spaces(kind, width, self.hnsw, config.on_disk),
            shard_number=config.shard_number,
            replication_factor=config.replication_factor,
            write_consistency_factor=config.write_consistency_factor,
            # Graphs are built once, when all points are written.
            optimizers_config=models.OptimizersConfigDiff(indexing_threshold=0),
            metadata=note if kind == "posts" else None,
        )

    def _build_graphs(self, names: Sequence[str]) -> None:
        threshold = models.OptimizersConfigDiff(indexing_threshold=_INDEXING_KB)
        for name in names:
            self._retry(
                self._client.update_collection, name, optimizers_config=threshold
            )
        started, wait = time.monotonic(), 0.05
        for name in names:
            ready = models.CollectionStatus.GREEN
            while self._retry(self._client.get_collection, name).status != ready:
                if time.monotonic() - started > _LONGEST_WAIT:
                    raise WorkerError(f"The graphs of {name!r} are not finished")
                self._retry.sleep(wait)
                wait = min(10.0, 2 * wait)

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
        self._retry(self._client.update_collection_aliases, operations)
        for name in set(old.values()).difference(aliases.values()):
            self._retry(self._client.delete_collection, name)
        logger.info("The index %s is now %s", self._name, names["posts"])


def _version(note: Mapping[str, Any]) -> tuple[Any, Any]:
    return note.get("build"), note.get("changed")


class ServerCollection(PointCollection):
    """One collection, by its name or an alias."""

    def __init__(self, client: QdrantClient, name: str, retry: Retry) -> None:
        self._client, self._name, self._retry = client, name, retry

    def search(
        self,
        queries: Sequence[Vectors],
        space: str,
        limit: int,
        mode: SearchMode,
        types: PostTypes = None,
    ) -> list[list[Point]]:
        """Find the nearest points of each query, by one request for all."""
        chosen = None
        if types is not None:
            match = models.MatchAny(any=sorted(types))
            chosen = models.Filter(
                must=[models.FieldCondition(key="type", match=match)]
            )
        requests = [
            models.QueryRequest(
                query=query.tolist(),
                using=space,
                limit=limit,
                params=models.SearchParams(exact=mode.exact, hnsw_ef=mode.hnsw_ef),
                filter=chosen,
                with_payload=True,
            )
            for query in queries
        ]
        answers = self._retry(self._client.query_batch_points, self._name, requests)
        return [[Point.of(p) for p in answer.points] for answer in answers]

    def _retrieve(self, point_ids: Sequence[PointId], space: str) -> Any:
        return self._retry(
            self._client.retrieve,
            self._name,
            list(point_ids),
            with_payload=False,
            with_vectors=[space],
        )

    def _scroll_changed(self, offset: Any) -> tuple[list[Any], Any]:
        empty = models.IsEmptyCondition(is_empty=models.PayloadField(key=CHANGE))
        chosen = models.Filter(must_not=[empty])
        return self._retry(
            self._client.scroll,
            self._name,
            chosen,
            limit=CHANGED_AT_ONCE,
            offset=offset,
        )

    def upsert(self, points: Sequence[Point]) -> None:
        """Write points and wait; existing ones are replaced."""
        # Values are ours and plain; checking each number again costs most of the time.
        written = [
            models.PointStruct.model_construct(
                id=p.point_id, vector=p.vectors, payload=p.payload
            )
            for p in points
        ]
        self._retry(self._client.upsert, self._name, written, wait=True)

    def delete(self, point_ids: Sequence[PointId]) -> None:
        """Delete points and wait; missing ones are skipped."""
        if point_ids:
            selector = models.PointIdsList(points=list(point_ids))
            self._retry(self._client.delete, self._name, selector, wait=True)

    def count(self) -> int:
        """Return the exact number of points."""
        return self._retry(self._client.count, self._name, exact=True).count

    def close(self) -> None:
        """Do nothing: the client belongs to who made it."""


def make_spaces(
    collection: str, width: int, hnsw: HnswConfig, on_disk: bool
) -> dict[str, models.VectorParams]:
    """Return the vector spaces of ``posts`` or ``formulas``."""
    several = models.MultiVectorConfig(comparator=models.MultiVectorComparator.MAX_SIM)
    return {
        space: models.VectorParams(
            size=width,
            distance=models.Distance.DOT,
            on_disk=on_disk,
            hnsw_config=models.HnswConfigDiff(
                m=hnsw.edges(space),
                ef_construct=EF_CONSTRUCT,
                full_scan_threshold=FULL_SCAN_KB,
            ),
            multivector_config=several if space == "all" else None,
        )
        for space in SPACES[collection]
    }
