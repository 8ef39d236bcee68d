"""Graph fusion: AMR graphs and formula trees to math graphs."""

from mathamr_kedro.pipelines.graph_fusion.nodes import GraphFusionParameters
from mathamr_kedro.pipelines.graph_fusion.pipeline import create_pipeline

PARAMETERS = GraphFusionParameters

__all__ = ["PARAMETERS", "create_pipeline"]
