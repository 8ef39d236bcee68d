"""A collection of a Qdrant server, reached through qdrant-client."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

import numpy as np
from qdrant_client import QdrantClient, models
from qdrant_client.http.exceptions import (
    ResponseHandlingException,
    UnexpectedResponse,
)

from mathamr_kedro.errors import MissingInputError
from mathamr_kedro.search.engines.points import FirstStep, Found, Point, PointId
from mathamr_kedro.search.engines.protocol import HnswParameters, PostTypes, SearchMode
from mathamr_kedro.search.engines.retrying import Retry
from mathamr_kedro.search.post_vectors import Vectors

_TOO_MANY_REQUESTS, _SERVER_ERROR = 429, 500


def is_temporary(error: Exception) -> bool:
    """Tell whether a request may work when it is sent again."""
    if isinstance(error, UnexpectedResponse):
        code = error.status_code or 0
        return code >= _SERVER_ERROR or code == _TOO_MANY_REQUESTS
    return isinstance(error, ResponseHandlingException | ConnectionError | TimeoutError)


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
    ) -> list[Found]:
        """Find points near a vector, or near a matrix by MaxSim."""
        return self._query(
            query=query.tolist(),
            using=space,
            limit=limit,
            search_params=_parameters(mode),
            query_filter=_filter(types, only),
        )

    def search_candidates(
        self,
        query: Vectors,
        first: FirstStep,
        limit: int,
        mode: SearchMode,
        types: PostTypes,
    ) -> list[Found]:
        """Find candidates in one space, order them by exact MaxSim."""
        nearest = models.Prefetch(
            query=first.query.tolist(),
            using=first.space,
            limit=first.limit,
            params=_parameters(mode),
            filter=_filter(types, None),
        )
        return self._query(
            prefetch=nearest, query=query.tolist(), using="all", limit=limit
        )

    def _query(self, **request: Any) -> list[Found]:
        answer = self._retry(
            "A search",
            lambda: self._client.query_points(self.name, with_payload=True, **request),
        )
        return [Found(_plain(p.id), p.score, p.payload or {}) for p in answer.points]

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
            models.PointStruct.model_construct(id=i, vector=v, payload=p)
            for i, v, p in points
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

    def close(self) -> None:
        """Do nothing: the connection belongs to who made it."""


def post_spaces(
    width: int, hnsw: HnswParameters, on_disk: bool
) -> dict[str, models.VectorParams]:
    """Return the vector spaces of posts: ``doc`` and ``all``."""
    several = models.MultiVectorConfig(comparator=models.MultiVectorComparator.MAX_SIM)
    return {
        "doc": _space(width, hnsw, hnsw.doc_m, on_disk),
        "all": _space(width, hnsw, hnsw.all_m, on_disk, several),
    }


def formula_spaces(
    width: int, hnsw: HnswParameters, on_disk: bool
) -> dict[str, models.VectorParams]:
    """Return the vector space of formulas."""
    return {"formula": _space(width, hnsw, hnsw.formula_m, on_disk)}


def _space(
    width: int,
    hnsw: HnswParameters,
    m: int,
    on_disk: bool,
    several: models.MultiVectorConfig | None = None,
) -> models.VectorParams:
    graph = models.HnswConfigDiff(
        m=m,
        ef_construct=hnsw.ef_construct,
        full_scan_threshold=hnsw.full_scan_threshold,
    )
    return models.VectorParams(
        size=width,
        distance=models.Distance.DOT,
        on_disk=on_disk,
        hnsw_config=graph,
        multivector_config=several,
    )


def _parameters(mode: SearchMode) -> models.SearchParams:
    return models.SearchParams(exact=mode.exact, hnsw_ef=mode.hnsw_ef)


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
