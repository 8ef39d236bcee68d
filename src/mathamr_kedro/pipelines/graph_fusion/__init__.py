"""Graph fusion: AMR graphs and formula trees to math graphs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from mathamr_kedro.base.parameters import StageParameters
from mathamr_kedro.base.workers import WorkerConfig


@dataclass(frozen=True)
class GraphFusionConfig(StageParameters):
    """Parameters of the stage, ``conf/<env>/parameters/graph_fusion.yml``."""

    STAGE: ClassVar = "graph_fusion"

    workers: WorkerConfig = field(default_factory=WorkerConfig)
