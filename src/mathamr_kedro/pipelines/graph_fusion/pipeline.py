"""Wiring of the fusion stage."""

from __future__ import annotations

from kedro.pipeline import Pipeline, node

from mathamr_kedro.pipelines.graph_fusion import nodes

_PARAMETERS = "params:graph_fusion"


def create_pipeline(**kwargs: object) -> Pipeline:
    """Return the fusion stage: AMR graphs and formula trees in, math graphs out."""
    return Pipeline(
        [
            node(
                nodes.fuse_graphs,
                inputs=[
                    "amr_graphs",
                    "formula_trees",
                    _PARAMETERS,
                ],
                outputs=["math_graph_failures", "math_graphs"],
                name="fuse_post_graphs",
            ),
            node(
                nodes.fuse_graphs,
                inputs=[
                    "topic_amr_graphs",
                    "formula_trees",
                    _PARAMETERS,
                ],
                outputs=["topic_math_graph_failures", "topic_math_graphs"],
                name="fuse_topic_graphs",
            ),
            node(
                nodes.describe_math_graphs,
                inputs={
                    "math_graphs": "math_graphs",
                    "amr_failures": "amr_post_failures",
                    "fusion_failures": "math_graph_failures",
                    "training_pairs": "training_pairs",
                    "ingestion_statistics": "ingestion_statistics",
                    "amr_parser": "amr_parser",
                    "parameters": _PARAMETERS,
                },
                outputs=[
                    "math_graph_statistics",
                    "math_graph_report",
                    "math_graph_figure",
                ],
                name="describe_math_graphs",
            ),
        ],
        namespace="graph_fusion",
        prefix_datasets_with_namespace=False,
    )
