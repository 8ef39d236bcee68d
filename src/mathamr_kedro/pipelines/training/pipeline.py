"""Wiring of the training stage."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kedro.pipeline import Pipeline, node

from mathamr_kedro.base.errors import ConfigurationError
from mathamr_kedro.pipelines.training import nodes, systems
from mathamr_kedro.pipelines.training.parameters import TrainingStageConfig

_INPUTS = {
    "prepared_graphs": "prepared_graphs",
    "parameters": "params:training",
    "preprocessing": "params:preprocessing",
}


def create_pipeline(parameters: Mapping[str, Any]) -> Pipeline:
    """Return the stage: prepared graphs in, the best encoder and other systems out.

    Args:
        parameters: of the environment; a teacher of documents reads the posts too.
    """
    texts = []
    more = {}
    if _reads_texts(parameters):
        more = {"document_vectors": "document_vectors"}
        texts.append(
            node(
                nodes.make_document_vectors,
                inputs={**_INPUTS, "posts": "posts"},
                outputs="document_vectors",
                name="make_document_vectors",
            )
        )
    return Pipeline(
        [
            *systems.fit_systems(parameters),
            *texts,
            node(
                nodes.train_encoder,
                inputs={
                    **_INPUTS,
                    **more,
                    "encoders": "encoders",
                },
                outputs=[
                    "encoder",
                    "training_history",
                    "training_report",
                    "training_figure",
                ],
                name="train_encoder",
                tags="gpu",
            ),
        ],
        namespace="training",
        prefix_datasets_with_namespace=False,
    )


def _reads_texts(parameters: Mapping[str, Any]) -> bool:
    try:
        return TrainingStageConfig.read(parameters["training"]).makes_document_vectors
    except ConfigurationError:  # refused with its reason before anything runs
        return False
