"""Graph fusion: AMR graphs and formula trees to math graphs."""

from mathamr_kedro.pipelines.graph_fusion.parameters import GraphFusionConfig
from mathamr_kedro.pipelines.graph_fusion.pipeline import create_pipeline

PARAMETERS = GraphFusionConfig

__all__ = ["PARAMETERS", "create_pipeline"]
