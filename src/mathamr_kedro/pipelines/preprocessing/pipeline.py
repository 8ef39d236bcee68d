"""Wiring of the preprocessing stage."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kedro.pipeline import Pipeline

from mathamr_kedro.pipelines import box, make_node
from mathamr_kedro.pipelines.preprocessing import nodes

_REPORTS = ["preprocessing_statistics", "preprocessing_report", "preprocessing_figure"]


def create_pipeline(parameters: Mapping[str, Any]) -> Pipeline:
    """Return the stage: math graphs and training pairs in, prepared graphs out.

    Args:
        parameters: of the environment; with ``preprocessing.text_model``, graphs get
            the vectors of their texts.
    """
    reads_texts = parameters["preprocessing"].get("text_model") is not None
    texts = {"posts": "posts", "topics": "topics"} if reads_texts else {}
    return box(
        "preprocessing",
        make_node(nodes.build_post_arrays, "graph_arrays"),
        make_node(nodes.build_topic_arrays, "topic_graph_arrays"),
        make_node(nodes.build_formula_arrays, "formula_graph_arrays"),
        make_node(
            nodes.prepare,
            "mathamr_plus.prepared",
            tags="gpu" if reads_texts else None,
            **texts,
        ),
        make_node(
            nodes.describe_prepared_graphs,
            _REPORTS,
            prepared_graphs="mathamr_plus.prepared",
        ),
    )
