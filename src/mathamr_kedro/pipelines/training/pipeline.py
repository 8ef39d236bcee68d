"""Wiring of the training stage."""

from __future__ import annotations

from kedro.pipeline import Pipeline, node

from mathamr_kedro.pipelines.training import nodes


def create_pipeline(**kwargs: object) -> Pipeline:
    """Return the stage: prepared graphs in, the best encoder out."""
    return Pipeline(
        [
            node(
                nodes.train_encoder,
                inputs={
                    "prepared_graphs": "prepared_graphs",
                    "encoders": "encoders",
                    "parameters": "params:training",
                    "preprocessing": "params:preprocessing",
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
        tags="training",
    )
