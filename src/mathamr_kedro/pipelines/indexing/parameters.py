"""Parameters of the indexing stage."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from mathamr_kedro.parameters import read_parameters
from mathamr_kedro.search.encoding import EncodingParameters
from mathamr_kedro.search.engines.opening import EngineParameters
from mathamr_kedro.search.store_files import Dtype
from mathamr_kedro.search.strategies import Strategy


@dataclass(frozen=True)
class IndexingConfig:
    """What the stage reads from ``conf/<env>/parameters/indexing.yml``."""

    dtype: Dtype = "float32"
    """Of the vectors on disk; ``float16`` takes half the room."""
    encoding: EncodingParameters = field(default_factory=EncodingParameters)
    engine: EngineParameters = field(default_factory=EngineParameters)
    strategy: Strategy = field(default_factory=Strategy)
    """How later stages search for posts."""

    @classmethod
    def read(cls, values: Mapping[str, Any]) -> IndexingConfig:
        """Check what the configuration gave."""
        return read_parameters(cls, values, where="indexing")
