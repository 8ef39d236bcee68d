"""Parameters of the indexing stage."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from mathamr_kedro.parameters import read_parameters
from mathamr_kedro.search import Dtype, EncodingConfig, EngineConfig, Strategy


@dataclass(frozen=True)
class IndexingConfig:
    """What the stage reads from ``conf/<env>/parameters/indexing.yml``."""

    dtype: Dtype = "float32"
    """Of the vectors on disk; ``float16`` takes half the room."""
    encoding: EncodingConfig = field(default_factory=EncodingConfig)
    engine: EngineConfig = field(default_factory=EngineConfig)
    strategy: Strategy = field(default_factory=Strategy)
    """How later stages search for posts."""

    @classmethod
    def read(cls, values: Mapping[str, Any]) -> IndexingConfig:
        """Check what the configuration gave."""
        return read_parameters(cls, values, where="indexing")
