"""Wiring of the fusion stage."""

from __future__ import annotations

from kedro.pipeline import Pipeline

from mathamr_kedro.pipelines import box, make_node
from mathamr_kedro.pipelines.graph_fusion import nodes


def create_pipeline(**kwargs: object) -> Pipeline:
    """Return the fusion stage: AMR graphs and formula trees in, math graphs out."""
    return box(
        "graph_fusion",
        make_node(
            nodes.fuse_graphs,
            ["math_graph_failures", "math_graphs"],
            name="fuse_post_graphs",
        ),
        make_node(
            nodes.fuse_graphs,
            ["topic_math_graph_failures", "topic_math_graphs"],
            name="fuse_topic_graphs",
            amr_graphs="topic_amr_graphs",
        ),
        make_node(
            nodes.describe_math_graphs,
            ["math_graph_statistics", "math_graph_report", "math_graph_figure"],
            amr_failures="amr_post_failures",
            fusion_failures="math_graph_failures",
        ),
    )
