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
    texts = {"post_texts": "posts", "topic_texts": "topics"} if reads_texts else {}
    return box(
        "preprocessing",
        make_node(
            nodes.build_blocks,
            "graph_blocks",
            name="build_post_blocks",
        ),
        make_node(
            nodes.build_blocks,
            "topic_graph_blocks",
            name="build_topic_blocks",
            math_graphs="topic_math_graphs",
        ),
        make_node(
            nodes.build_formula_blocks,
            "formula_graph_blocks",
            blocks="graph_blocks",
        ),
        make_node(nodes.split_training_pairs, "pair_split", blocks="graph_blocks"),
        make_node(
            nodes.count_vocabularies,
            "vocabularies",
            blocks="graph_blocks",
            split="pair_split",
        ),
        make_node(
            nodes.number_graphs,
            "mathamr_plus.prepared",
            tags="gpu" if reads_texts else None,
            posts="graph_blocks",
            topics="topic_graph_blocks",
            formulas="formula_graph_blocks",
            split="pair_split",
            **texts,
        ),
        make_node(
            nodes.describe_prepared_graphs,
            _REPORTS,
            prepared_graphs="mathamr_plus.prepared",
        ),
    )
