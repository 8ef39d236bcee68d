"""Wiring of the evaluation stage."""

from __future__ import annotations

from kedro.pipeline import Node, Pipeline, node

from mathamr_kedro.experiments import COLLECTION
from mathamr_kedro.pipelines.evaluation import nodes, recording, searches

_PARAMETERS = "params:evaluation"
_TOPICS = {"topics": "topics", "parameters": _PARAMETERS}
_JUDGED = {**_TOPICS, "judgments": "judgments", "visual_index": "visual_index"}


def create_pipeline(**kwargs: object) -> Pipeline:
    """Return the stage: an index and judgments in, runs and scores out."""
    return Pipeline(
        [*_search(), *_score(), *_record()],
        namespace="evaluation",
        prefix_datasets_with_namespace=False,
    )


def _search() -> list[Node]:
    """From topics to ranked lists of all systems."""
    return [
        node(
            searches.search_by_vectors,
            inputs={
                **_TOPICS,
                "posts": "posts",
                "index": "index",
                "post_vectors": "post_vectors",
                "topic_vectors": "topic_vectors",
                "indexes": "indexes",
                "formula_trees": "formula_trees",
                "indexing": "params:indexing",
            },
            outputs="vector_runs",
            name="search_by_vectors",
            tags="gpu",
        ),
        node(
            searches.search_by_baselines,
            inputs={
                **_TOPICS,
                "posts": "posts",
                "returnable_formulas": "returnable_formulas",
                "formula_trees": "formula_trees",
                "math_graphs": "math_graphs",
                "topic_math_graphs": "topic_math_graphs",
            },
            outputs="baseline_runs",
            name="search_by_baselines",
        ),
        node(
            searches.search_by_systems,
            inputs={
                **_TOPICS,
                "posts": "posts",
                "formula_trees": "formula_trees",
                "systems": "systems",
                "system_sources": "system_sources",
                "trained_systems": "trained_systems",
                "indexed_systems": "indexed_systems",
            },
            outputs="paper_runs",
            name="search_by_systems",
            tags="gpu",
        ),
        node(
            searches.fuse_systems,
            inputs={
                **_JUDGED,
                "vector_runs": "vector_runs",
                "baseline_runs": "baseline_runs",
                "paper_runs": "paper_runs",
                "returnable_formulas": "returnable_formulas",
            },
            outputs="system_runs",
            name="fuse_systems",
        ),
    ]


def _score() -> list[Node]:
    """From ranked lists to scores and a report."""
    return [
        node(
            nodes.split_runs,
            inputs={**_JUDGED, "system_runs": "system_runs"},
            outputs="runs",
            name="split_runs",
        ),
        node(
            nodes.score_runs,
            inputs={
                **_JUDGED,
                "runs": "runs",
                "posts": "posts",
                "returnable_formulas": "returnable_formulas",
            },
            outputs=["scores", "metrics", "scored_runs"],
            name="score_runs",
        ),
        node(
            nodes.measure_efficiency,
            inputs={
                "encoders": "encoders",
                "encoder": "encoder",
                "training_history": "training_history",
                "index": "index",
                "system_runs": "system_runs",
                "trained_systems": "trained_systems",
                "indexed_systems": "indexed_systems",
                "parameters": _PARAMETERS,
            },
            outputs="efficiency",
            name="measure_efficiency",
        ),
        node(
            nodes.report_evaluation,
            inputs=[
                "scored_runs",
                "efficiency",
                "amr_parser",
                "system_runs",
                "topics",
                "formula_trees",
            ],
            outputs=["evaluation_report", "evaluation_figure"],
            name="report_evaluation",
        ),
    ]


def _record() -> list[Node]:
    """From scores to a recorded cell of an experiment."""
    return [
        node(
            recording.identify_evaluation,
            inputs={
                **{name: name for name in COLLECTION},
                "encoder": "encoder",
                "index": "index",
                "amr_parser": "amr_parser",
                "parameters": "parameters",
            },
            outputs="evaluated_cell",
            name="identify_evaluation",
        ),
        node(
            recording.record_evaluation,
            inputs=[
                "evaluated_cell",
                "scores",
                "metrics",
                "efficiency",
                "training_history",
                "evaluation_report",
                "system_runs",
            ],
            outputs="experiment_cells",
            name="record_evaluation",
        ),
    ]
