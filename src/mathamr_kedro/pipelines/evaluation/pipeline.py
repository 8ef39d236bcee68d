"""Wiring of the evaluation stage."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from kedro.pipeline import Node, Pipeline, node

from mathamr_kedro.datasets import BuiltIndex, MathGraphs, ShardedTable
from mathamr_kedro.experiments import COLLECTION
from mathamr_kedro.formula import TreeStore
from mathamr_kedro.pipelines import box, make_node
from mathamr_kedro.pipelines.evaluation import (
    EvaluationConfig,
    nodes,
    searches,
)
from mathamr_kedro.systems import learns, list_systems, read_system
from mathamr_kedro.systems.changes import ChangeStore
from mathamr_kedro.systems.mathamr_plus import IndexingConfig
from mathamr_kedro.systems.search_config import SearchConfig
from mathamr_kedro.trec import Run

_PARAMETERS = "params:evaluation"


def create_pipeline(parameters: Mapping[str, Any]) -> Pipeline:
    """Return the stage: indexes and judgments in, runs and scores out."""
    systems = list(_rank_systems(parameters))
    runs = [name for system in systems for name in sorted(system.outputs())]
    return box(
        "evaluation",
        *systems,
        _fuse(runs),
        *_score(_list_learning(parameters)),
        *_record(),
    )


def _rank_systems(parameters: Mapping[str, Any]) -> Iterator[Pipeline]:
    """Yield a pipeline for each system: topics and an index in, runs out."""
    search = SearchConfig.read(parameters["indexing"])
    config = EvaluationConfig.read(parameters["evaluation"]).add_search(search)
    values = {"text_model": config.text_model}
    baselines = {name: values for name in config.list_baselines()}
    strategy = IndexingConfig.read(parameters["indexing"]).strategy
    systems = list_systems(parameters, config.list_strategies(strategy))
    for name, stated in {**systems, **baselines}.items():
        yield box(name, _rank_system(name, stated))


def _rank_system(name: str, values: Mapping[str, Any]) -> Node:
    def rank(
        index: BuiltIndex,
        changes: ChangeStore,
        topics: ShardedTable,
        topic_math_graphs: MathGraphs,
        formula_trees: TreeStore,
        posts: ShardedTable,
        parameters: Mapping[str, Any],
    ) -> list[Run]:
        """Ask a system for all topics, by its rankings of the present parameters."""
        opened = index.verify().open(read_system(name, values))
        opened.update(changes.read())
        asked = topics, topic_math_graphs, formula_trees, posts
        return searches.rank(opened, *asked, EvaluationConfig.read(parameters))

    return make_node(
        rank,
        f"{name}.runs",
        tags="gpu" if learns(read_system(name, values)) else None,
        index=f"{name}.index",
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
        make_node(nodes.split_runs, "runs"),
        make_node(nodes.score_runs, ["scores", "metrics", "scored_runs"]),
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
        make_node(nodes.report_evaluation, ["evaluation_report", "evaluation_figure"]),
    ]


def _record() -> list[Node]:
    """From scores to a recorded cell of an experiment."""
    return [
        make_node(
            nodes.identify_evaluation,
            "evaluated_cell",
            model="mathamr_plus.model",
            index="mathamr_plus.index",
            parameters="parameters",
            **{name: name for name in COLLECTION},
        ),
        make_node(
            nodes.record_evaluation,
            "experiment_cells",
            record="evaluated_cell",
            report="evaluation_report",
        ),
    ]
