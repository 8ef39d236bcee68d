"""Nodes of the evaluation stage behind the searches: runs to scores and a report."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.figure import Figure

from mathamr_kedro.base.records import Topic
from mathamr_kedro.corpus import VisualIndex
from mathamr_kedro.datasets import RunFolder, ShardedTable
from mathamr_kedro.datasets.mathamr_plus import BuiltVectorIndex
from mathamr_kedro.datasets.systems import BuiltIndex
from mathamr_kedro.formula import TreeStore
from mathamr_kedro.pipelines.evaluation.efficiency import (
    describe_index,
    describe_searches,
    describe_systems,
    describe_training,
)
from mathamr_kedro.pipelines.evaluation.parameters import EvaluationConfig
from mathamr_kedro.pipelines.evaluation.report import DataFrame, Scoreboard
from mathamr_kedro.pipelines.evaluation.scoring import score_folder
from mathamr_kedro.runs import (
    TopicSet,
    find_blank_queries,
    list_topic_sets,
    list_unsearched,
)
from mathamr_kedro.systems.mathamr_plus import Encoder
from mathamr_kedro.systems.training import Training
from mathamr_kedro.trec import Run

logger = logging.getLogger(__name__)

Values = Mapping[str, Any]


def split_runs(
    system_runs: Sequence[Run],
    topics: ShardedTable,
    judgments: ShardedTable,
    visual_index: VisualIndex,
    parameters: Values,
) -> list[Run]:
    """Split the ranked lists by topic set: one run for each system and set."""
    config = EvaluationConfig.read(parameters)
    sets = _list_sets(topics, judgments, visual_index, config)
    chosen = [s.choose(run) for run in system_runs for s in sets if s.task == run.task]
    # A run file of others may hold only other topics of the collection.
    return [run for run in chosen if run.lists or not run.source]


def score_runs(
    runs: RunFolder,
    topics: ShardedTable,
    judgments: ShardedTable,
    posts: ShardedTable,
    returnable_formulas: ShardedTable,
    visual_index: VisualIndex,
    parameters: Values,
) -> tuple[DataFrame, list[dict[str, Any]], Scoreboard]:
    """Score the runs by topic; take the means, with floor and ceiling."""
    config = EvaluationConfig.read(parameters)
    sets = _list_sets(topics, judgments, visual_index, config)
    scored = score_folder(
        runs, sets, posts, returnable_formulas, config.choose_protocol
    )
    board = Scoreboard(scored)
    return board.list_scores(), board.list_metrics(), board


def measure_efficiency(
    model: Encoder,
    training_history: Sequence[Values],
    index: BuiltVectorIndex,
    system_runs: Sequence[Run],
    parameters: Values,
    *systems: Training | BuiltIndex,
) -> dict[str, Any]:
    """Measure time, memory and size of training, index and search.

    ``systems`` are the trainings, then the indexes of systems that learn.
    """
    config = EvaluationConfig.read(parameters)
    counts = model.model.count_parameters()
    counts["total"] = counts.pop("all")
    return {
        "training": describe_training(training_history, counts),
        "index": describe_index(index.counts),
        "search": describe_searches(system_runs, config.queries_per_batch),
        "systems": describe_systems(systems),
    }


def report_evaluation(
    scored_runs: Scoreboard,
    efficiency: Values,
    amr_parser: Values,
    system_runs: Sequence[Run],
    topics: ShardedTable,
    formula_trees: TreeStore,
) -> tuple[str, Figure]:
    """Write the report and draw the figure; name the topics that were not searched."""
    asked: list[Topic] = list(topics.records())
    blank = find_blank_queries(asked, formula_trees.find)
    unsearched = list_unsearched(system_runs, asked, blank)
    report = scored_runs.write_report(efficiency, amr_parser, unsearched)
    return report, scored_runs.draw()


def _list_sets(
    topics: ShardedTable,
    judgments: ShardedTable,
    visual_index: VisualIndex,
    config: EvaluationConfig,
) -> list[TopicSet]:
    return list_topic_sets(
        topics.records(), judgments.records(), config.topic_sets, visual_index
    )
