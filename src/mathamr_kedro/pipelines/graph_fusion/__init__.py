"""Graph fusion: AMR graphs and formula trees to math graphs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from mathamr_kedro.base.parameters import read_parameters
from mathamr_kedro.base.workers import WorkerConfig
from mathamr_kedro.graph.fusion import FusionMode


@dataclass(frozen=True)
class GraphFusionConfig:
    """Parameters of the stage, ``conf/<env>/parameters/graph_fusion.yml``."""

    mode: FusionMode = "mathamr_plus"
    """``mathamr_plus``: both trees (thesis 3.1); ``mathamr``: only operator trees."""
    workers: WorkerConfig = field(default_factory=WorkerConfig)

    @classmethod
    def read(cls, values: Mapping[str, Any]) -> GraphFusionConfig:
        """Check what the configuration gave."""
        return read_parameters(cls, values, where="graph_fusion")
