"""Wiring of the training stage."""

from __future__ import annotations

from kedro.pipeline import Pipeline, node

from mathamr_kedro.pipelines.training import nodes, systems

_INPUTS = {
    "prepared_graphs": "prepared_graphs",
    "parameters": "params:training",
    "preprocessing": "params:preprocessing",
}
_TABLES = {"posts": "posts_if_there", "post_links": "post_links_if_there"}


def create_pipeline(**kwargs: object) -> Pipeline:
    """Return the stage: prepared graphs in, the best encoder and other systems out."""
    return Pipeline(
        [
            node(
                nodes.mine_text_negatives,
                inputs={**_INPUTS, **_TABLES},
                outputs="mined_negatives",
                name="mine_text_negatives",
            ),
            node(
                nodes.make_node_vectors,
                inputs=_INPUTS,
                outputs="node_vectors",
                name="make_node_vectors",
            ),
            node(
                nodes.make_document_vectors,
                inputs={**_INPUTS, "posts": _TABLES["posts"]},
                outputs="document_vectors",
                name="make_document_vectors",
            ),
            node(
                nodes.train_encoder,
                inputs={
                    **_INPUTS,
                    **_TABLES,
                    "encoders": "encoders",
                    "training_live": "training_live",
                    "mined_negatives": "mined_negatives",
                    "node_vectors": "node_vectors",
                    "document_vectors": "document_vectors",
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
            node(
                systems.prepare_systems,
                inputs=[
                    "systems",
                    "system_sources",
                    "params:systems",
                    "params:training",
                ],
                outputs="prepared_systems",
                name="prepare_systems",
            ),
            node(
                systems.train_systems,
                inputs=["systems", "prepared_systems"],
                outputs="trained_systems",
                name="train_systems",
                tags="gpu",
            ),
        ],
        namespace="training",
        prefix_datasets_with_namespace=False,
    )
