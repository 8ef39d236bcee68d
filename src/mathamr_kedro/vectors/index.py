"""Which engine searches a store, and how it is opened; Qdrant is loaded if needed."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

from mathamr_kedro.base.errors import ConfigurationError, LockedError
from mathamr_kedro.vectors.exact import ExactIndex
from mathamr_kedro.vectors.protocol import (
    EngineName,
    HnswConfig,
    ServerConfig,
    VectorIndex,
)
from mathamr_kedro.vectors.scan_config import ScanConfig, ScanType
from mathamr_kedro.vectors.store import VectorStore

logger = logging.getLogger(__name__)

_PATIENCE = 10.0
"""Seconds that a search waits for a writer: most add a few posts."""


@dataclass(frozen=True)
class EngineConfig:
    """Which engine searches, and how it is built."""

    engine: EngineName = "edge"
    name: str = "mathamr_plus"
    """First part of the names of collections on a server."""
    device: str = "cpu"
    """Of the engine ``exact``: ``cuda`` scans on a GPU."""
    scan: ScanType = "float32"
    """Of the engine ``exact`` on a CPU: ``bfloat16`` takes half the memory, ``int8`` a
    fourth, ``principal`` an eighth, ``binary`` a thirty-second."""
    rescore: int | None = None
    """Of the engine ``exact``: how many of the best by the scan get their true scores;
    as many as it takes for the true ranking if ``None``."""
    pooling: float | None = None
    """Of the engine ``exact``: cosine from which on vectors of a post are scanned as
    one."""
    hnsw: HnswConfig = field(default_factory=HnswConfig)
    server: ServerConfig = field(default_factory=ServerConfig)

    def __post_init__(self) -> None:
        scan = ScanConfig(self.scan, self.rescore, self.pooling)
        scan.check_device(self.searches_on)

    def scan_store(
        self, store: VectorStore, device: str, stands_in: bool = False
    ) -> ExactIndex:
        """Return the engine ``exact`` for a store."""
        how = self.scan, stands_in, self.rescore, self.pooling
        return ExactIndex(store, device, *how)

    @property
    def searches_on(self) -> str:
        """Device of torch that searches: Qdrant's engines use the CPU."""
        return self.device if self.engine == "exact" else "cpu"

    def name_on_server(self, store: VectorStore) -> str:
        """Return the name of the index of a store on a server."""
        return f"{self.name}_{store.encoder}"

    def read_generation(
        self,
        store: VectorStore,
        folder: Path,
        connect: Callable[[], Any] | None = None,
    ) -> int | None:
        """Return the commit of a store that its index has reached, without opening it.

        ``None`` if the index must be built anew; ``exact`` is always up to date.
        Arguments as of :func:`open_index`.
        """
        if self.engine == "exact":
            return store.generation
        found: int | None
        if self.engine == "edge":
            edge = import_module("mathamr_kedro.vectors.edge")
            found = edge.EdgeIndex.reached(folder, store, self.hnsw)
            return found
        server = import_module("mathamr_kedro.vectors.server")
        name = self.name_on_server(store)
        found = server.ServerIndex.reached(
            _call(connect), store, name, self.hnsw, self.server
        )
        return found


def open_index(
    config: EngineConfig,
    store: VectorStore,
    folder: Path,
    connect: Callable[[], Any] | None = None,
    verify: bool = False,
    beside_writers: bool = False,
) -> VectorIndex:
    """Open the index of a store; build or update it where it lacks something.

    One that does not hold what the store holds is built anew. Any number of processes
    may have one open.

    Args:
        config: which engine.
        store: the vectors.
        folder: of the engine ``edge``.
        connect: gives a client of the engine ``server``.
        verify: read the files of the engine ``edge`` whole before they are used.
        beside_writers: scan the vectors themselves while another process builds the
            index; such a scan answers every search, exactly.

    Raises:
        LockedError: the index lacks something, and another process is changing it.
    """
    if config.engine == "exact":
        return config.scan_store(store, config.device)
    opened: VectorIndex
    if config.engine == "edge":
        edge = import_module("mathamr_kedro.vectors.edge")
        patience = _PATIENCE if beside_writers else 0.0
        try:
            opened = edge.EdgeIndex.open(folder, store, config.hnsw, verify, patience)
        except LockedError as exc:
            if not beside_writers:
                raise
            logger.warning("%s. Until then all vectors are scanned", exc)
            store.refresh()
            return config.scan_store(store, "cpu", stands_in=True)
        return opened
    server = import_module("mathamr_kedro.vectors.server")
    name = config.name_on_server(store)
    opened = server.ServerIndex.build(
        _call(connect), store, name, config.hnsw, config.server
    )
    return opened


def _call(connect: Callable[[], Any] | None) -> Any:
    if connect is None:
        raise ConfigurationError(
            "Expected the URL of a Qdrant server for the engine 'server'; give it to "
            "the dataset 'indexes' (conf/<env>/catalog/indexing.yml)"
        )
    return connect()
