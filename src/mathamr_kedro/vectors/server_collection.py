"""A collection of a Qdrant server, reached through qdrant-client; requests repeat."""

from __future__ import annotations

import logging
import random
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar
from urllib.parse import urlsplit
from uuid import UUID

import numpy as np
from qdrant_client import QdrantClient, models
from qdrant_client.http.exceptions import (
    ResponseHandlingException,
    UnexpectedResponse,
)

from mathamr_kedro.base.errors import ConfigurationError, MissingInputError, WorkerError
from mathamr_kedro.vectors.points import SPACES, FirstStep, Point, PointId
from mathamr_kedro.vectors.post_vectors import Vectors
from mathamr_kedro.vectors.protocol import HnswConfig, PostTypes, SearchMode

T = TypeVar("T")
logger = logging.getLogger(__name__)

_TOO_MANY_REQUESTS, _SERVER_ERROR = 429, 500
_SHARD_DETAILS = 4
"""Level of telemetry at which shards tell their sizes."""
_LOCAL_HOSTS = ("localhost", "127.0.0.1", "::1")


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

    def __post_init__(self) -> None:
        if self.attempts < 1:
            raise ConfigurationError(
                f"Expected attempts of at least 1 (got {self.attempts!r})"
            )

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
                rescore=mode.oversampling is not None, oversampling=mode.oversampling
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

    def measure(self) -> int | None:
        """Return the bytes of one copy of its vectors and payloads.

        They are an estimate of the server (``GET /telemetry``). ``None`` where it does
        not tell: other machines of a cluster hold a part, the key does not allow it,
        or there is no server (local mode).
        """
        try:
            telemetry = self._client.http.service_api.telemetry(
                details_level=_SHARD_DETAILS
            ).result
            aliases = self._client.get_aliases().aliases
        except Exception as exc:  # whatever it is, the size can be computed instead
            logger.info("The server does not tell sizes (%s)", exc)
            return None
        names = {a.alias_name: a.collection_name for a in aliases}
        name = names.get(self.name, self.name)
        listed = (telemetry.collections.collections or []) if telemetry else []
        found: list[Any] = [c for c in listed if getattr(c, "id", None) == name]
        shards = [shard.local for c in found for shard in c.shards or ()]
        if not shards or any(s is None or s.vectors_size_bytes is None for s in shards):
            return None
        return sum(
            (s.vectors_size_bytes or 0) + (s.payloads_size_bytes or 0) for s in shards
        )

    def close(self) -> None:
        """Do nothing: the connection belongs to who made it."""

    @staticmethod
    def make_spaces(
        collection: str, width: int, hnsw: HnswConfig, on_disk: bool
    ) -> dict[str, models.VectorParams]:
        """Return the vector spaces of ``posts`` or ``formulas``."""
        several = models.MultiVectorConfig(
            comparator=models.MultiVectorComparator.MAX_SIM
        )
        return {
            space: models.VectorParams(
                size=width,
                distance=models.Distance.DOT,
                on_disk=on_disk,
                hnsw_config=models.HnswConfigDiff(
                    m=getattr(hnsw, f"{space}_m"),
                    ef_construct=hnsw.ef_construct,
                    full_scan_threshold=hnsw.full_scan_threshold,
                ),
                multivector_config=several if space == "all" else None,
                quantization_config=_quantise(hnsw, space),
            )
            for space in SPACES[collection]
        }


def _quantise(hnsw: HnswConfig, space: str) -> models.QuantizationConfig | None:
    config = hnsw.quantisation
    if not getattr(hnsw, f"{space}_m"):
        return None
    match config.kind:
        case "scalar":
            scalar = models.ScalarQuantizationConfig(
                type=models.ScalarType.INT8,
                quantile=config.quantile,
                always_ram=config.always_ram,
            )
            return models.ScalarQuantization(scalar=scalar)
        case "product":
            product = models.ProductQuantizationConfig(
                compression=models.CompressionRatio(config.compression),
                always_ram=config.always_ram,
            )
            return models.ProductQuantization(product=product)
        case "binary":
            binary = models.BinaryQuantizationConfig(always_ram=config.always_ram)
            return models.BinaryQuantization(binary=binary)
        case _:
            return None


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
