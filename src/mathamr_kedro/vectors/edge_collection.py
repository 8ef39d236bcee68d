"""A shard of qdrant-edge as a collection of points; a process has it alone."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np
import qdrant_edge as qe

from mathamr_kedro.base.errors import DamagedFileError, MissingInputError
from mathamr_kedro.vectors.points import SPACES, FirstStep, Point, PointId
from mathamr_kedro.vectors.post_vectors import Vectors
from mathamr_kedro.vectors.protocol import (
    HnswConfig,
    PostTypes,
    QuantisationConfig,
    SearchMode,
)


class EdgeCollection:
    """One collection, in a folder of its own."""

    def __init__(self, shard: Any) -> None:
        self._shard = shard

    @classmethod
    def open(cls, folder: Path) -> EdgeCollection:
        """Open a collection.

        Raises:
            DamagedFileError: the engine cannot read it.
        """
        try:
            return cls(qe.EdgeShard.load(str(folder)))
        except BaseException as exc:  # a panic of Rust is no Exception
            if isinstance(exc, Exception) or type(exc).__name__ == "PanicException":
                raise DamagedFileError(
                    f"Expected an index in {str(folder)!r} ({exc}); delete that folder"
                ) from exc
            raise

    @classmethod
    def create(
        cls, folder: Path, kind: str, width: int, hnsw: HnswConfig
    ) -> EdgeCollection:
        """Make a collection of ``posts`` or ``formulas``."""
        folder.mkdir(parents=True)
        spaces = {s: _make_space(width, hnsw, s) for s in SPACES[kind]}
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
        first: Sequence[FirstStep] = (),
    ) -> list[Point]:
        """Find points near a vector, or near a matrix by MaxSim."""
        how: dict[str, Any] = {
            "params": qe.SearchParams(
                exact=mode.exact,
                hnsw_ef=mode.hnsw_ef,
                quantization=qe.QuantizationSearchParams(
                    rescore=mode.oversampling is not None,
                    oversampling=mode.oversampling,
                ),
            ),
            "filter": _filter(types, only),
        }
        if first:
            near = [(s.limit, _near(s.query, s.space)) for s in first]
            how = {
                "prefetches": [qe.Prefetch(limit=k, query=n, **how) for k, n in near],
                "params": qe.SearchParams(
                    quantization=qe.QuantizationSearchParams(ignore=True)
                ),
            }
        nearest = _near(query, space)
        request = qe.QueryRequest(limit=limit, query=nearest, with_payload=True, **how)
        found = self._shard.query(request)
        return [Point(_plain(p.id), p.payload or {}, {}, p.score) for p in found]

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
        written = [qe.Point(p.point_id, p.vectors, p.payload) for p in points]
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
        """Build the graphs."""
        self._shard.optimize()

    def close(self) -> None:
        """Release the folder."""
        self._shard.close()


def _make_space(width: int, hnsw: HnswConfig, space: str) -> Any:
    several = qe.MultiVectorConfig(qe.MultiVectorComparator.MaxSim)
    graph = qe.HnswIndexConfig(
        m=getattr(hnsw, f"{space}_m"),
        ef_construct=hnsw.ef_construct,
        full_scan_threshold=hnsw.full_scan_threshold,
    )
    return qe.EdgeVectorParams(
        size=width,
        distance=qe.Distance.Dot,
        multivector_config=several if space == "all" else None,
        hnsw_config=graph,
        quantization_config=_quantise(hnsw.quantisation) if graph.m else None,
    )


def _quantise(config: QuantisationConfig) -> Any:
    memory = qe.Memory.Pinned if config.always_ram else qe.Memory.Cold
    match config.kind:
        case "scalar":
            return qe.ScalarQuantizationConfig(
                qe.ScalarType.Int8, config.quantile, memory=memory
            )
        case "product":
            ratio = getattr(qe.CompressionRatio, config.compression.upper())
            return qe.ProductQuantizationConfig(ratio, memory=memory)
        case "binary":
            return qe.BinaryQuantizationConfig(memory=memory)
        case _:
            return None


def _near(query: Vectors, space: str) -> Any:
    return qe.Query.Nearest(query.tolist(), using=space)


def _filter(types: PostTypes, only: Sequence[PointId] | None) -> Any:
    conditions: list[Any] = []
    if types is not None:
        match = qe.MatchAny(sorted(types))
        conditions.append(qe.FieldCondition(key="type", match=match))
    if only is not None:
        conditions.append(qe.HasIdCondition(set(only)))
    return qe.Filter(must=conditions) if conditions else None


def _plain(point_id: Any) -> PointId:
    return str(point_id) if isinstance(point_id, UUID) else point_id
