"""Wiring of the preprocessing stage."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kedro.pipeline import Pipeline, node

from mathamr_kedro.pipelines.preprocessing import nodes

_PARAMETERS = "params:preprocessing"
_REPORTS = ["preprocessing_statistics", "preprocessing_report", "preprocessing_figure"]


def create_pipeline(parameters: Mapping[str, Any]) -> Pipeline:
    """Return the stage: math graphs and training pairs in, prepared graphs out.

    Args:
        parameters: of the environment; with ``preprocessing.text_model``, graphs get
            the vectors of their texts.
    """
    reads_texts = parameters["preprocessing"].get("text_model") is not None
    texts = {"post_texts": "posts", "topic_texts": "topics"} if reads_texts else {}
    return Pipeline(
        [
            node(
                nodes.build_blocks,
                inputs=["math_graphs", _PARAMETERS, "params:graph_fusion"],
                outputs="graph_blocks",
                name="build_post_blocks",
            ),
            node(
                nodes.build_blocks,
                inputs=["topic_math_graphs", _PARAMETERS, "params:graph_fusion"],
                outputs="topic_graph_blocks",
                name="build_topic_blocks",
            ),
            node(
                nodes.build_formula_blocks,
                inputs={
                    "returnable_formulas": "returnable_formulas",
                    "blocks": "graph_blocks",
                    "formula_trees": "formula_trees",
                    "parameters": _PARAMETERS,
                    "fusion": "params:graph_fusion",
                },
                outputs="formula_graph_blocks",
                name="build_formula_blocks",
            ),
            node(
                nodes.split_training_pairs,
                inputs=["training_pairs", "graph_blocks", _PARAMETERS],
                outputs="pair_split",
                name="split_training_pairs",
            ),
            node(
                nodes.count_vocabularies,
                inputs=["graph_blocks", "pair_split", _PARAMETERS],
                outputs="vocabularies",
                name="count_vocabularies",
            ),
            node(
                nodes.number_graphs,
                inputs={
                    "posts": "graph_blocks",
                    "topics": "topic_graph_blocks",
                    "formulas": "formula_graph_blocks",
                    "returnable_formulas": "returnable_formulas",
                    "split": "pair_split",
                    "vocabularies": "vocabularies",
                    "training_pairs": "training_pairs",
                    "parameters": _PARAMETERS,
                    **texts,
                },
                outputs="mathamr_plus.prepared",
                name="number_graphs",
                tags="gpu" if reads_texts else None,
            ),
            node(
                nodes.describe_prepared_graphs,
                inputs=["mathamr_plus.prepared", _PARAMETERS],
                outputs=_REPORTS,
                name="describe_prepared_graphs",
            ),
        ],
        namespace="preprocessing",
        prefix_datasets_with_namespace=False,
    )
