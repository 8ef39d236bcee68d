"""A shard of qdrant-edge as a collection of points."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np
import qdrant_edge as qe

from mathamr_kedro.errors import MissingInputError
from mathamr_kedro.search.engines.points import FirstStep, Found, Point, PointId
from mathamr_kedro.search.engines.protocol import HnswParameters, PostTypes, SearchMode
from mathamr_kedro.search.post_vectors import Vectors


class EdgeCollection:
    """One shard; a process has it alone."""

    def __init__(self, shard: Any) -> None:
        self._shard = shard

    @classmethod
    def open(cls, folder: Path, spaces: dict[str, Any], is_new: bool) -> EdgeCollection:
        """Open a shard, or make one.

        Args:
            folder: where it is.
            spaces: parameters of its vectors by name.
            is_new: whether to make it.
        """
        if not is_new:
            return cls(qe.EdgeShard.load(str(folder)))
        folder.mkdir(parents=True)
        config = qe.EdgeConfig(vectors=spaces)
        return cls(qe.EdgeShard.create(str(folder), config))

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
        request = qe.QueryRequest(
            limit=limit,
            query=qe.Query.Nearest(query.tolist(), using=space),
            params=_parameters(mode),
            filter=_filter(types, only),
            with_payload=True,
        )
        return _found(self._shard.query(request))

    def search_candidates(
        self,
        query: Vectors,
        first: FirstStep,
        limit: int,
        mode: SearchMode,
        types: PostTypes,
    ) -> list[Found]:
        """Find candidates in one space, order them by exact MaxSim."""
        nearest = qe.Prefetch(
            limit=first.limit,
            query=qe.Query.Nearest(first.query.tolist(), using=first.space),
            params=_parameters(mode),
            filter=_filter(types, None),
        )
        request = qe.QueryRequest(
            limit=limit,
            prefetches=[nearest],
            query=qe.Query.Nearest(query.tolist(), using="all"),
            with_payload=True,
        )
        return _found(self._shard.query(request))

    def fetch(self, point_ids: Sequence[PointId], space: str) -> list[Vectors]:
        """Return the vectors of points, in the given order."""
        records = self._shard.retrieve(list(point_ids), False, [space])
        found = {_plain(r.id): r.vector[space] for r in records}
        missing = next((i for i in point_ids if i not in found), None)
        if missing is not None:
            raise MissingInputError(f"Expected point {missing!r} in the index")
        return [np.asarray(found[i], dtype=np.float32) for i in point_ids]

    def upsert(self, points: Sequence[Point]) -> None:
        """Write points; those that are there are replaced."""
        written = [qe.Point(*point) for point in points]
        self._shard.update(qe.UpdateOperation.upsert_points(written))

    def delete(self, point_ids: Sequence[PointId]) -> None:
        """Delete points; those that are not there are passed over."""
        self._shard.update(qe.UpdateOperation.delete_points(list(point_ids)))

    def count(self) -> int:
        """Return the number of points."""
        return int(self._shard.count(qe.CountRequest(exact=True)))

    def flush(self) -> None:
        """Write everything to disk."""
        self._shard.flush()

    def optimize(self) -> None:
        """Merge segments and build the graphs."""
        self._shard.optimize()

    def close(self) -> None:
        """Write everything to disk and release the files."""
        self._shard.close()


def post_spaces(width: int, hnsw: HnswParameters) -> dict[str, Any]:
    """Return the vector spaces of posts: ``doc`` and ``all``."""
    maxsim = qe.MultiVectorConfig(qe.MultiVectorComparator.MaxSim)
    return {
        "doc": _space(width, hnsw, hnsw.doc_m),
        "all": _space(width, hnsw, hnsw.all_m, maxsim),
    }


def formula_spaces(width: int, hnsw: HnswParameters) -> dict[str, Any]:
    """Return the vector space of formulas."""
    return {"formula": _space(width, hnsw, hnsw.formula_m)}


def _space(width: int, hnsw: HnswParameters, m: int, several: Any = None) -> Any:
    graph = qe.HnswIndexConfig(
        m=m,
        ef_construct=hnsw.ef_construct,
        full_scan_threshold=hnsw.full_scan_threshold,
    )
    return qe.EdgeVectorParams(
        size=width,
        distance=qe.Distance.Dot,
        multivector_config=several,
        hnsw_config=graph,
    )


def _parameters(mode: SearchMode) -> Any:
    return qe.SearchParams(exact=mode.exact, hnsw_ef=mode.hnsw_ef)


def _filter(types: PostTypes, only: Sequence[PointId] | None) -> Any:
    conditions: list[Any] = []
    if types is not None:
        match = qe.MatchAny(sorted(types))
        conditions.append(qe.FieldCondition(key="type", match=match))
    if only is not None:
        conditions.append(qe.HasIdCondition(set(only)))
    return qe.Filter(must=conditions) if conditions else None


def _found(points: list[Any]) -> list[Found]:
    return [Found(_plain(p.id), p.score, p.payload) for p in points]


def _plain(point_id: Any) -> PointId:
    return str(point_id) if isinstance(point_id, UUID) else point_id
