"""Wiring of the indexing stage."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kedro.pipeline import Pipeline, node

from mathamr_kedro.pipelines import box
from mathamr_kedro.pipelines.indexing import nodes, systems

_PARAMETERS = "params:indexing"


def create_pipeline(parameters: Mapping[str, Any]) -> Pipeline:
    """Return the stage: graphs and an encoder in, vectors and indexes out."""
    encode = node(
        nodes.encode,
        inputs={
            "prepared": "mathamr_plus.prepared",
            "model": "mathamr_plus.model",
            "parameters": _PARAMETERS,
            "preprocessing": "params:preprocessing",
        },
        outputs="mathamr_plus.vectors",
        name="encode",
        tags="gpu",
    )
    index = node(
        nodes.index_vectors,
        inputs={
            "model": "mathamr_plus.model",
            "vectors": "mathamr_plus.vectors",
            "posts": "posts",
            "parameters": _PARAMETERS,
        },
        outputs="mathamr_plus.index",
        name="index",
    )
    return Pipeline(
        [
            box("mathamr_plus", encode, index),
            *systems.index_systems(parameters),
        ],
        namespace="indexing",
        prefix_datasets_with_namespace=False,
    )
