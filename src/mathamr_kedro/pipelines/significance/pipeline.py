"""Wiring of the significance stage."""

from __future__ import annotations

from kedro.pipeline import Pipeline

from mathamr_kedro.experiments.figures import draw_outcome
from mathamr_kedro.pipelines import box, make_node
from mathamr_kedro.pipelines.significance import nodes


def create_pipeline(**kwargs: object) -> Pipeline:
    """Return the stage: recorded results in, tables, tests and plots out."""
    outcome, texts = "significance_outcome", "example_texts"
    return box(
        "significance",
        make_node(
            nodes.compare_results,
            outcome,
            cells="experiment_cells",
            parameters="parameters",
        ),
        make_node(
            nodes.write_tables,
            [
                "significance_report",
                "significance_csv",
                "significance_latex",
                "experiment_result",
            ],
            outcome=outcome,
        ),
        make_node(
            draw_outcome,
            ["topic_difference_figure", "seed_figure", "tradeoff_figure"],
            outcome=outcome,
        ),
        make_node(nodes.gather_texts, texts, parameters="params:evaluation"),
        make_node(
            nodes.show_examples,
            ["example_report", "node_pair_figure"],
            outcome=outcome,
            texts=texts,
        ),
    )
