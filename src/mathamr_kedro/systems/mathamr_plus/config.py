"""Parameters of MathAMR+: those of the stages preprocessing, training and indexing."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from mathamr_kedro.base.parameters import StageParameters
from mathamr_kedro.systems.mathamr_plus.encoding import EncodingConfig
from mathamr_kedro.systems.mathamr_plus.strategies import Strategy
from mathamr_kedro.systems.search_config import SearchConfig
from mathamr_kedro.vectors import Dtype, EngineConfig


@dataclass(frozen=True)
class IndexingConfig(StageParameters):
    """How graphs become vectors and vectors an index; how both are searched."""

    STAGE: ClassVar = "indexing"

    dtype: Dtype = "float32"
    """Of the vectors on disk; ``float16`` takes half the room."""
    encoding: EncodingConfig = field(default_factory=EncodingConfig)
    engine: EngineConfig = field(default_factory=EngineConfig)
    strategy: Strategy = field(default_factory=Strategy)
    """How later stages search for posts."""
    search: SearchConfig = field(default_factory=SearchConfig)
    """How people do."""

    def check_machine(self) -> None:
        """Refuse a GPU that is not here."""
        self.encoding.compute.check_machine()
