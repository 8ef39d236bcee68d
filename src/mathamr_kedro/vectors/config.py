"""Which engine searches vectors, and how its index is built."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from mathamr_kedro.base.errors import ConfigurationError
from mathamr_kedro.vectors.scan import ScanType, check_scan

if TYPE_CHECKING:
    from qdrant_client import QdrantClient

EngineName: TypeAlias = Literal["exact", "edge", "server"]
ENGINES: tuple[EngineName, ...] = ("exact", "edge", "server")

API_KEY = "QDRANT_API_KEY"
"""Environment variable with the key of a server: no parameter, no file."""
REMEDY = (
    "run `kedro run --pipelines indexing` with the --env of your run: it builds the "
    "index again from the vectors"
)


@dataclass(frozen=True)
class HnswConfig:
    """The HNSW graphs of an index; ``m`` 0 builds none."""

    doc_m: int = 16
    """Edges per node over document vectors."""
    all_m: int = 0
    """Over all vectors of a post by MaxSim: as costly to build as 16 × 16 products for
    each comparison."""

    def edges(self, space: str) -> int:
        """Return the edges per node in a space; formulas have no graph."""
        return {"doc": self.doc_m, "all": self.all_m}.get(space, 0)


@dataclass(frozen=True)
class ServerConfig:
    """Where a Qdrant server is, and how it keeps the collections."""

    url: str | None = None
    """E.g. ``https://qdrant.example.org:6333``."""
    prefer_grpc: bool = False
    """How to talk to it."""
    shard_number: int = 1
    """Pieces of a collection; a multiple of the number of machines."""
    replication_factor: int = 1
    """Copies of each piece; 2 survives the loss of a machine."""
    write_consistency_factor: int = 1
    """Copies that must have a write before it counts."""
    on_disk: bool = False
    """Keep vectors on disk, mapped into memory, instead of in memory."""

    def connect(self) -> QdrantClient:
        """Connect, with the key of the environment variable :data:`API_KEY`.

        Raises:
            ConfigurationError: there is no URL.
        """
        if self.url is None:
            raise ConfigurationError(
                "Expected the URL of a Qdrant server for the engine 'server' (got "
                "none); set indexing.engine.server.url "
                "(conf/<env>/parameters/indexing.yml)"
            )
        # Loaded here: the other engines need no client.
        from mathamr_kedro.vectors.server import connect  # noqa: PLC0415

        return connect(self.url, os.environ.get(API_KEY), self.prefer_grpc)


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

    def describe_result(self) -> dict[str, Any]:
        """Return what decides the files of an index, wherever its server is."""
        if self.engine == "exact":
            return {"engine": "exact"}
        found: dict[str, Any] = {"engine": self.engine, "hnsw": asdict(self.hnsw)}
        if self.engine == "server":
            server = asdict(self.server)
            del server["url"], server["prefer_grpc"]
            found |= {"name": self.name, "server": server}
        return found
