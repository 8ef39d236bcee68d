"""Wiring of the training stage."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kedro.pipeline import Pipeline, node

from mathamr_kedro.base.errors import ConfigurationError
from mathamr_kedro.experiments.trainings import TrainingStageConfig
from mathamr_kedro.pipelines import box
from mathamr_kedro.pipelines.training import nodes, systems


def create_pipeline(parameters: Mapping[str, Any]) -> Pipeline:
    """Return the stage: prepared graphs in, the best encoder and other systems out.

    Args:
        parameters: of the environment; a teacher of documents reads the posts too.
    """
    inputs = {
        "prepared": "mathamr_plus.prepared",
        "parameters": "params:training",
        "preprocessing": "params:preprocessing",
    }
    if _reads_texts(parameters):
        inputs["posts"] = "posts"
    fit = node(
        nodes.fit_encoder,
        inputs=inputs,
        outputs="mathamr_plus.model",
        name="fit",
        tags="gpu",
    )
    return Pipeline(
        [
            box("mathamr_plus", fit),
            *systems.fit_systems(parameters),
            node(
                nodes.report_training,
                inputs="mathamr_plus.model",
                outputs=["training_history", "training_report", "training_figure"],
                name="report_training",
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
