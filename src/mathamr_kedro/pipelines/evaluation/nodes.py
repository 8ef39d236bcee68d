"""Nodes of the evaluation stage behind the searches: runs to scores and a report."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa
from matplotlib.figure import Figure

from mathamr_kedro.amr import describe_parser
from mathamr_kedro.base.checksums import checksum
from mathamr_kedro.base.progress import report_progress
from mathamr_kedro.base.records import Topic
from mathamr_kedro.corpus import VisualIndex
from mathamr_kedro.datasets import BuiltIndex, MathGraphs, RunFolder, ShardedTable
from mathamr_kedro.evaluation.metrics import evaluate_run
from mathamr_kedro.evaluation.tables.report import DataFrame, Scoreboard, ScoredRun
from mathamr_kedro.experiments import (
    COLLECTION,
    CellOutputs,
    CellRecord,
    checksum_collection,
)
from mathamr_kedro.experiments.cells import tabulate_results
from mathamr_kedro.formula import TreeStore
from mathamr_kedro.graph import PreprocessingConfig
from mathamr_kedro.learning.stage import TrainingStageConfig
from mathamr_kedro.pipelines.evaluation import EvaluationConfig
from mathamr_kedro.pipelines.evaluation.efficiency import (
    describe_index,
    describe_searches,
    describe_systems,
    describe_training,
)
from mathamr_kedro.runs import (
    TopicSet,
    find_blank_queries,
    list_topic_sets,
    list_unsearched,
)
from mathamr_kedro.systems.changes import ChangeStore
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
    scored = score_folder(runs, sets, posts, returnable_formulas, config)
    board = Scoreboard(scored)
    return board.list_scores(), board.list_metrics(), board


def measure_efficiency(
    model: Encoder,
    training_history: Sequence[Values],
    index: BuiltIndex,
    system_runs: Sequence[Run],
    parameters: Values,
    *systems: Training | BuiltIndex,
) -> dict[str, Any]:
    """Measure time, memory and size of training, index and search.

    ``systems`` are the trainings, then the indexes of systems that learn.
    """
    config = EvaluationConfig.read(parameters)
    counts = model.network.count_parameters()
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
    parser = describe_parser(amr_parser)
    report = scored_runs.write_report(efficiency, parser, unsearched)
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


def score_folder(
    runs: RunFolder,
    topic_sets: Iterable[TopicSet],
    posts: ShardedTable,
    returnable: ShardedTable,
    config: EvaluationConfig,
) -> list[ScoredRun]:
    """Score all runs of judged topic sets; warn of those that are not judged."""
    sets = {(s.task, s.name): s for s in topic_sets if s.qrels.grades}
    found = {
        key: s.find_candidates(posts.tables, returnable.tables)
        for key, s in sets.items()
    }
    parts = {key: _split(s, posts, config) for key, s in sets.items()}
    scored = []
    for entry, run in report_progress(runs, "runs scored", total=len(runs.entries)):
        key = entry.task, entry.topic_set
        if key not in sets:
            logger.warning("task %d, %s: no judgments, no scores", *key)
            continue
        known, size = found[key]
        for chosen in (sets[key], *parts[key]):
            judged = {t: run.lists[t] for t in chosen.qrels.grades if t in run.lists}
            returned = {i for topic in judged for i in run.documents(topic).ids}
            evaluation = evaluate_run(
                replace(run, lists=judged),
                chosen.qrels,
                config.choose_protocol(entry.task),
                corpus_ids=known | returned,
                num_documents=size,
            )
            groups = tuple(evaluation.break_down(chosen.notes))
            whose = entry.task, chosen.name, entry.system
            scored.append(
                ScoredRun(*whose, evaluation, groups, entry.results, entry.ties)
            )
    return scored


def _split(
    chosen: TopicSet, posts: ShardedTable, config: EvaluationConfig
) -> list[TopicSet]:
    """Return the parts of a set of Task 1 by their share of formulas."""
    if chosen.task != 1 or not config.formula_shares:
        return []
    judged = {d for by_id in chosen.qrels.grades.values() for d in by_id}
    level = config.choose_protocol(1).measures[0].relevant_from
    documents = posts.select("post_id", judged)
    return chosen.split_by_formulas(config.formula_shares, documents, level)


_PICTURE = re.compile(r"^!\[.*\)\n+", re.MULTILINE)
"""Of a page; the folder of a cell has none."""


def identify_evaluation(
    model: Encoder,
    index: BuiltIndex,
    changes: ChangeStore,
    amr_parser: Values,
    parameters: Values,
    **data: MathGraphs | ShardedTable,
) -> CellRecord:
    """Note under which parameters, and on which data, the encoder was evaluated."""
    collection = checksum_collection(*(data[name] for name in COLLECTION))
    graphs = PreprocessingConfig.read(parameters["preprocessing"])
    training = TrainingStageConfig.read(parameters["training"])
    stated = model.system.config
    trained = stated.preprocessing.key, stated.training.describe_result()
    is_current = trained == (graphs.key, training.describe_result())
    if not is_current:
        logger.warning(
            "encoder %s was trained with other parameters than the present ones: no "
            "experiment will count its scores",
            model.folder.name,
        )
    if changed := changes.read():
        logger.warning(
            "%d posts were added and %d deleted since indexing: the scores are not "
            "those of the collection and get a cell of their own",
            len(changed.added),
            len(changed.deleted),
        )
        collection = checksum(collection, changes.read_version())
    named = {**model.facts, "vectors": index.counts["vectors_folder"]}
    return CellRecord.identify(parameters, named, collection, amr_parser, is_current)


def record_evaluation(
    record: CellRecord,
    scores: DataFrame,
    metrics: Sequence[Values],
    efficiency: Values,
    training_history: Sequence[Values],
    report: str,
    system_runs: Sequence[Run],
    judgments: ShardedTable,
) -> CellOutputs:
    """Record the evaluation where experiments look for finished cells.

    The report is written last of all, so a recorded cell lacks nothing.
    """
    table = pa.Table.from_pandas(scores, preserve_index=False)
    results = tabulate_results(system_runs, judgments.records())
    page = _PICTURE.sub("", report)
    return CellOutputs(
        record, table, results, metrics, efficiency, training_history, page
    )
