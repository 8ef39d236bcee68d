"""Wiring of the significance stage."""

from __future__ import annotations

from kedro.pipeline import Pipeline, node

from mathamr_kedro.pipelines.significance import nodes

_TEXTS = ("topics", "judgments", "posts", "formulas", "visual_index")


def create_pipeline(**kwargs: object) -> Pipeline:
    """Return the stage: recorded results in, tables, tests and plots out."""
    return Pipeline(
        [
            node(
                nodes.compare_results,
                inputs=["experiment_cells", "parameters"],
                outputs="significance_outcome",
                name="compare_results",
            ),
            node(
                nodes.write_tables,
                inputs="significance_outcome",
                outputs=[
                    "significance_report",
                    "significance_csv",
                    "significance_latex",
                    "experiment_result",
                ],
                name="write_tables",
            ),
            node(
                nodes.draw_figures,
                inputs="significance_outcome",
                outputs=[
                    "topic_difference_figure",
                    "seed_figure",
                    "tradeoff_figure",
                ],
                name="draw_figures",
            ),
            node(
                nodes.gather_texts,
                inputs={
                    **{name: name for name in _TEXTS},
                    "parameters": "params:evaluation",
                },
                outputs="example_texts",
                name="gather_texts",
            ),
            node(
                nodes.compare_pair,
                inputs=[
                    "significance_outcome",
                    "example_texts",
                    "mathamr_plus.vectors",
                    "parameters",
                ],
                outputs=["node_pair", "node_pair_figure"],
                name="compare_pair",
            ),
            node(
                nodes.show_examples,
                inputs=[
                    "significance_outcome",
                    "example_texts",
                    "node_pair",
                    "params:significance",
                ],
                outputs="example_report",
                name="show_examples",
            ),
        ],
        namespace="significance",
        prefix_datasets_with_namespace=False,
    )
