"""Opening an index: which engine, where, with which parameters."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

from mathamr_kedro.errors import ConfigurationError
from mathamr_kedro.search.engines.exact import ExactIndex
from mathamr_kedro.search.engines.protocol import (
    EngineName,
    HnswParameters,
    ServerParameters,
    VectorIndex,
)
from mathamr_kedro.search.engines.scan_torch import ScanType
from mathamr_kedro.search.store import VectorStore


@dataclass(frozen=True)
class EngineParameters:
    """Which engine searches, and how it is built."""

    engine: EngineName = "edge"
    name: str = "mathamr_plus"
    """First part of the names of collections on a server."""
    device: str = "cpu"
    """Of the engine ``exact``: ``cuda`` scans on a GPU."""
    scan: ScanType = "float32"
    """Of the engine ``exact`` on a CPU: ``bfloat16`` takes half the memory."""
    hnsw: HnswParameters = field(default_factory=HnswParameters)
    server: ServerParameters = field(default_factory=ServerParameters)


def open_index(
    parameters: EngineParameters,
    store: VectorStore,
    folder: Path,
    connect: Callable[[], Any] | None = None,
) -> VectorIndex:
    """Open the index of a store; build or update it where it lacks something.

    Args:
        parameters: which engine.
        store: the vectors.
        folder: of the engine ``edge``.
        connect: gives a client of the engine ``server``.
    """
    if parameters.engine == "exact":
        return ExactIndex(store, parameters.device, parameters.scan)
    # Qdrant's packages are loaded only where they are used.
    if parameters.engine == "edge":
        edge = import_module("mathamr_kedro.search.engines.edge")
        opened: VectorIndex = edge.EdgeIndex.open(folder, store, parameters.hnsw)
        return opened
    if connect is None:
        raise ConfigurationError(
            "Expected the URL of a Qdrant server for the engine 'server'; give it to "
            "the dataset 'indexes' (conf/<env>/catalog/indexing.yml)"
        )
    server = import_module("mathamr_kedro.search.engines.server")
    built: VectorIndex = server.build_server_index(
        connect(),
        store,
        f"{parameters.name}_{store.encoder}",
        parameters.hnsw,
        parameters.server,
    )
    return built
