"""Which engine searches a store, and how its index is opened.

Qdrant's packages are loaded only if they are used.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from mathamr_kedro.base.errors import ConfigurationError
from mathamr_kedro.vectors.exact import ExactIndex
from mathamr_kedro.vectors.points import Changes
from mathamr_kedro.vectors.protocol import (
    EngineName,
    HnswConfig,
    ServerConfig,
    VectorIndex,
)
from mathamr_kedro.vectors.qdrant import Connection, QdrantIndex
from mathamr_kedro.vectors.scan import ScanType, check_scan
from mathamr_kedro.vectors.store import VectorStore

if TYPE_CHECKING:
    from qdrant_client import QdrantClient


@dataclass(frozen=True)
class EngineConfig:
    """Which engine searches, and how it is built."""

    engine: EngineName = "edge"
    name: str = "mathamr_plus"
    """First part of the names of collections on a server."""
    device: str = "cpu"
    """Of the engine ``exact``: ``cuda`` scans on a GPU."""
    scan: ScanType = "float32"
    """Of the engine ``exact`` on a CPU: ``int8`` takes a fourth of the memory, and the
    best by it get their true scores."""
    hnsw: HnswConfig = field(default_factory=HnswConfig)
    server: ServerConfig = field(default_factory=ServerConfig)

    def __post_init__(self) -> None:
        check_scan(self.scan, self.searches_on)

    @property
    def searches_on(self) -> str:
        """Device of torch that searches: Qdrant's engines use the CPU."""
        return self.device if self.engine == "exact" else "cpu"


def connect_index(
    config: EngineConfig,
    encoder: str,
    folder: Path,
    connect: Callable[[], QdrantClient] | None = None,
    verify: bool = False,
) -> Connection:
    """Return where the index of an encoder is, by the engine ``edge`` or ``server``.

    Args:
        config: which engine.
        encoder: its checksum.
        folder: of the engine ``edge``; locked while an index on a server is changed.
        connect: gives a client of the engine ``server``.
        verify: read the files of the engine ``edge`` whole before they are used.

    Raises:
        ConfigurationError: the engine is ``exact``, or there is no server.
    """
    connection: Connection
    if config.engine == "edge":
        edge = import_module("mathamr_kedro.vectors.edge")
        connection = edge.EdgeConnection(folder, config.hnsw, verify)
        return connection
    if config.engine == "exact":
        raise ConfigurationError(
            "Posts can be added to an index of the engine 'edge' or 'server', and "
            "deleted from it (got 'exact'); set indexing.engine.engine to one of them "
            "(conf/<env>/parameters/indexing.yml) and run `kedro run --pipelines "
            "indexing`"
        )
    if connect is None:
        raise ConfigurationError(
            "Expected the URL of a Qdrant server for the engine 'server'; give it to "
            "the dataset 'mathamr_plus.index' (conf/<env>/catalog/indexing.yml)"
        )
    server = import_module("mathamr_kedro.vectors.server")
    name = f"{config.name}_{encoder}"
    connection = server.ServerConnection(
        connect(), name, folder, config.hnsw, config.server
    )
    return connection


def open_index(
    config: EngineConfig,
    store: VectorStore,
    folder: Path,
    connect: Callable[[], QdrantClient] | None = None,
    verify: bool = False,
    changes: Changes | None = None,
) -> VectorIndex:
    """Open the index of a store; build it if it is missing, damaged or of others.

    Any number of processes may have one open.

    Raises:
        LockedError: it must be built, and another process is changing it.
    """
    if config.engine == "exact":
        return ExactIndex(store, config.device, config.scan)
    found = connect_index(config, store.encoder, folder, connect, verify)
    return QdrantIndex.open(found, store, changes)
