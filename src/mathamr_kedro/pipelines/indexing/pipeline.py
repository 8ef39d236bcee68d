"""Wiring of the indexing stage."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kedro.pipeline import Pipeline, node

from mathamr_kedro.pipelines.indexing import nodes, systems

_PARAMETERS = "params:indexing"
_ENCODER = {
    "prepared_graphs": "prepared_graphs",
    "encoders": "encoders",
    "encoder": "encoder",
    "parameters": _PARAMETERS,
    "preprocessing": "params:preprocessing",
}


def create_pipeline(parameters: Mapping[str, Any]) -> Pipeline:
    """Return the stage: graphs and an encoder in, vectors and an index out."""
    return Pipeline(
        [
            node(
                nodes.encode_posts,
                inputs={**_ENCODER, "vectors": "post_vectors"},
                outputs="encoded_posts",
                name="encode_posts",
                tags="gpu",
            ),
            node(
                nodes.encode_topics,
                inputs={**_ENCODER, "vectors": "topic_vectors"},
                outputs="encoded_topics",
                name="encode_topics",
                tags="gpu",
            ),
            node(
                nodes.build_index,
                inputs={
                    "encoded_posts": "encoded_posts",
                    "encoded_topics": "encoded_topics",
                    "vectors": "post_vectors",
                    "indexes": "indexes",
                    "parameters": _PARAMETERS,
                },
                outputs="index",
                name="build_index",
            ),
            *systems.index_systems(parameters),
        ],
        namespace="indexing",
        prefix_datasets_with_namespace=False,
    )
