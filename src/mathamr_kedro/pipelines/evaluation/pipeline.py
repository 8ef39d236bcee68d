"""Wiring of the evaluation stage."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from kedro.pipeline import Node, Pipeline, node

from mathamr_kedro.experiments import COLLECTION
from mathamr_kedro.pipelines import box
from mathamr_kedro.pipelines.evaluation import nodes, recording, searches
from mathamr_kedro.pipelines.evaluation.parameters import EvaluationConfig
from mathamr_kedro.systems import learns, read_system
from mathamr_kedro.systems.mathamr_plus import NAME
from mathamr_kedro.systems.search_config import SearchConfig

_PARAMETERS = "params:evaluation"
_TOPICS = {"topics": "topics", "parameters": _PARAMETERS}
_JUDGED = {**_TOPICS, "judgments": "judgments", "visual_index": "visual_index"}


def create_pipeline(parameters: Mapping[str, Any]) -> Pipeline:
    """Return the stage: indexes and judgments in, runs and scores out."""
    systems = list(_rank_systems(parameters))
    runs = [name for system in systems for name in sorted(system.outputs())]
    return Pipeline(
        [
            *systems,
            _fuse(runs),
            *_score(_list_learning(parameters)),
            *_record(),
        ],
        namespace="evaluation",
        prefix_datasets_with_namespace=False,
    )


def _rank_systems(parameters: Mapping[str, Any]) -> Iterator[Pipeline]:
    """Yield a pipeline for each system: topics and an index in, runs out."""
    config = EvaluationConfig.read(parameters["evaluation"])
    search = SearchConfig.read(parameters["indexing"])
    baselines = config.add_search(search).list_baselines()
    for name in (NAME, *(parameters.get("systems") or {}), *baselines):
        has_vectors = name == NAME
        strategies = {"indexing": "params:indexing"} if has_vectors else {}
        yield box(
            name,
            node(
                searches.rank,
                inputs={"index": f"{name}.index", **searches.TOPICS, **strategies},
                outputs=f"{name}.runs",
                name="rank",
                tags="gpu" if has_vectors else None,
            ),
        )


def _list_learning(parameters: Mapping[str, Any]) -> list[str]:
    """Return the systems beside MathAMR+ that were trained."""
    systems = (parameters.get("systems") or {}).items()
    return [name for name, values in systems if learns(read_system(name, values or {}))]


def _fuse(runs: Sequence[str]) -> Node:
    return node(
        searches.fuse_systems,
        inputs=[
            "topics",
            "judgments",
            "returnable_formulas",
            "visual_index",
            _PARAMETERS,
            "params:indexing",
            *runs,
        ],
        outputs="system_runs",
        name="fuse_systems",
    )


def _score(systems: Sequence[str]) -> list[Node]:
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
            inputs=[
                "mathamr_plus.model",
                "training_history",
                "mathamr_plus.index",
                "system_runs",
                _PARAMETERS,
                *(f"{name}.model" for name in systems),
                *(f"{name}.index" for name in systems),
            ],
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
                "model": "mathamr_plus.model",
                "index": "mathamr_plus.index",
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
                "judgments",
            ],
            outputs="experiment_cells",
            name="record_evaluation",
        ),
    ]
