"""Parameters of the AMR parsing stage."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from mathamr_kedro.amr import (
    AmrlibConfig,
    ParserConfig,
    ParserName,
    ParseTexts,
    TransitionConfig,
)
from mathamr_kedro.errors import ConfigurationError
from mathamr_kedro.parameters import read_parameters
from mathamr_kedro.workers import WorkerConfig


@dataclass(frozen=True)
class AmrParsingConfig:
    """What the stage reads from ``conf/<env>/parameters/amr_parsing.yml``."""

    parser: ParserName
    max_chunk_tokens: int
    """Limit of a chunk (thesis, section 3.1)."""
    posts_per_shard: int
    """A killed run loses at most the shards that were under way."""
    discard: bool = False
    """Whether graphs of another parser are thrown away, however long they took."""
    workers: WorkerConfig = field(default_factory=WorkerConfig)
    transition: TransitionConfig = field(default_factory=TransitionConfig)
    amrlib: AmrlibConfig = field(default_factory=AmrlibConfig)

    def __post_init__(self) -> None:
        for name in ("max_chunk_tokens", "posts_per_shard"):
            if getattr(self, name) < 1:
                raise ConfigurationError(
                    f"Expected at least 1 for {name!r} (got {getattr(self, name)!r})"
                )

    @classmethod
    def read(cls, values: Mapping[str, Any]) -> AmrParsingConfig:
        """Check what the configuration gave."""
        return read_parameters(cls, values, where="amr_parsing")

    @property
    def parser_settings(self) -> ParserConfig:
        """Which parser, and how."""
        return ParserConfig(self.parser, self.transition, self.amrlib)

    @property
    def runner_settings(self) -> WorkerConfig:
        """How to run it; a parser that watches a worker of its own keeps the time."""
        if self.parser != "transition":
            return self.workers
        start = self.transition.start_timeout_s * 4
        return dataclasses.replace(self.workers, timeout_s=None, start_timeout_s=start)

    def identity(self) -> dict[str, Any]:
        """Return what the shards depend on, the texts aside."""
        return {**self.parser_identity(), "posts_per_shard": self.posts_per_shard}

    def parser_identity(self) -> dict[str, Any]:
        """Return what the graph of a text depends on."""
        version = ParseTexts.VERSION
        return {
            **self.parser_settings.identity(),
            "max_chunk_tokens": self.max_chunk_tokens,
            # The first version is that of graphs from before there were versions.
            **({"chunking": version} if version > 1 else {}),
        }
