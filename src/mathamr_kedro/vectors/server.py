"""The engine ``server``: a Qdrant server or cluster.

::

    alias                          collection
    mathamr_plus_3f0c_posts    ->  mathamr_plus_3f0c_posts_b
    mathamr_plus_3f0c_formulas ->  mathamr_plus_3f0c_formulas_b

The name of an index is made from its content. It grows under names of its own; when it
is complete, both aliases are put in place by one request, and what they named before is
deleted. Searches go through the aliases, so readers never see half an index. Failed
requests are repeated.
"""

from __future__ import annotations

import logging
import random
import time
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ParamSpec, TypeVar
from urllib.parse import urlsplit

from qdrant_client import QdrantClient, models
from qdrant_client.http.exceptions import (
    ResponseHandlingException,
    UnexpectedResponse,
)

from mathamr_kedro.base.errors import MissingInputError, WorkerError
from mathamr_kedro.vectors.config import (
    REMEDY,
    EngineConfig,
    HnswConfig,
    ServerConfig,
)
from mathamr_kedro.vectors.points import (
    EF_CONSTRUCT,
    FULL_SCAN_KB,
    SPACES,
    Collections,
    FoundPoints,
    Point,
    PointCollection,
)
from mathamr_kedro.vectors.post_vectors import Vectors
from mathamr_kedro.vectors.protocol import PostTypes, SearchMode
from mathamr_kedro.vectors.store import PostParts

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
    """Connect to a server."""
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


def build_collections(
    config: EngineConfig, name: str, posts: PostParts, folder: Path
) -> None:
    """Make the collections of some posts under a name."""
    client = config.server.connect()
    try:
        Server(client).build(name, posts, config.hnsw, config.server)
    finally:
        client.close()


def open_collections(config: EngineConfig, name: str, folder: Path) -> Collections:
    """Open the collections of a name.

    Raises:
        MissingInputError: there are none.
    """
    return Server(config.server.connect()).open(name)


class Server:
    """Builds indexes on a server and opens them."""

    def __init__(self, client: QdrantClient, retry: Retry | None = None) -> None:
        self._client, self._retry = client, retry or Retry()

    def build(
        self, name: str, posts: PostParts, hnsw: HnswConfig, config: ServerConfig
    ) -> None:
        """Make collections, build their graphs and put them into use in one step."""
        used = self._read_aliases().values()
        new = "a" if f"{name}_posts_b" in used else "b"
        names = {kind: f"{name}_{kind}_{new}" for kind in SPACES}
        for kind, collection in names.items():
            # What a killed build left.
            self._retry(self._client.delete_collection, collection)
            spaces = make_spaces(kind, posts.width, hnsw, config.on_disk)
            self._create(collection, spaces, config)
        self._client.create_payload_index(
            names["posts"], "type", models.PayloadSchemaType.KEYWORD, wait=True
        )
        self._collect(names.values()).fill(posts)
        self._build_graphs(list(names.values()))
        self._switch({f"{name}_{kind}": built for kind, built in names.items()})

    def open(self, name: str) -> Collections:
        """Open the collections in use.

        Raises:
            MissingInputError: there are none of this name.
        """
        if f"{name}_posts" not in self._read_aliases():
            raise MissingInputError(
                f"Expected an index named {name!r} on the Qdrant server; {REMEDY}"
            )
        return self._collect(f"{name}_{kind}" for kind in SPACES)

    def _collect(self, names: Iterable[str]) -> Collections:
        return Collections(
            *(_ServerCollection(self._client, name, self._retry) for name in names)
        )

    def _read_aliases(self) -> dict[str, str]:
        found = self._retry(self._client.get_aliases)
        return {a.alias_name: a.collection_name for a in found.aliases}

    def _create(
        self, name: str, spaces: dict[str, models.VectorParams], config: ServerConfig
    ) -> None:
        self._retry(
            self._client.create_collection,
            name,
            vectors_config=spaces,
            shard_number=config.shard_number,
            replication_factor=config.replication_factor,
            write_consistency_factor=config.write_consistency_factor,
            # Graphs are built once, when all points are written.
            optimizers_config=models.OptimizersConfigDiff(indexing_threshold=0),
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

    def _switch(self, aliases: Mapping[str, str]) -> None:
        """Switch both aliases in one request, delete the old collections."""
        old = {a: name for a, name in self._read_aliases().items() if a in aliases}
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


class _ServerCollection(PointCollection):
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
    ) -> list[FoundPoints]:
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
                with_payload=False,
            )
            for query in queries
        ]
        answers = self._retry(self._client.query_batch_points, self._name, requests)
        return [[(int(p.id), p.score) for p in found.points] for found in answers]

    def upsert(self, points: Sequence[Point]) -> None:
        """Write points and wait; existing ones are replaced."""
        # Values are ours and plain; checking each number again costs most of the time.
        written = [
            models.PointStruct.model_construct(
                id=p.number, vector=p.vectors, payload=p.payload
            )
            for p in points
        ]
        self._retry(self._client.upsert, self._name, written, wait=True)

    def count(self) -> int:
        """Return the exact number of points."""
        return self._retry(self._client.count, self._name, exact=True).count

    def close(self) -> None:
        """Close the connection."""
        self._client.close()


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
