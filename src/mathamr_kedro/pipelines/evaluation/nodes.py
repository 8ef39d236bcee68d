"""Nodes of the evaluation stage: systems to runs, runs to scores, all to a report."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import pandas as pd
import plotly.graph_objects as go
import pyarrow as pa
import pyarrow.compute as pc

from mathamr_kedro.corpus import VisualIndex
from mathamr_kedro.datasets.encoders import EncoderStore
from mathamr_kedro.datasets.penman_shards import PenmanShards
from mathamr_kedro.datasets.run_folder import RunFolder
from mathamr_kedro.datasets.sharded_table import ShardedTable
from mathamr_kedro.datasets.vector_stores import IndexPlaces, VectorStores
from mathamr_kedro.formula.tree import BothTrees
from mathamr_kedro.formula.tree_store import TreeStore, find_trees
from mathamr_kedro.metrics import evaluate_run
from mathamr_kedro.model.mathamr_plus import count_parameters
from mathamr_kedro.parameters import read_parameters
from mathamr_kedro.pipelines.evaluation.figure import draw_scores
from mathamr_kedro.pipelines.evaluation.parameters import SYSTEM, EvaluationParameters
from mathamr_kedro.pipelines.evaluation.report import (
    ScoredRun,
    list_metrics,
    list_scores,
    write_report,
)
from mathamr_kedro.records import Topic
from mathamr_kedro.runs import (
    FORMULA_SYSTEMS,
    POST_SYSTEMS,
    TASK_1_TYPES,
    TASKS,
    FormulaInstance,
    PostSources,
    Queries,
    TopicSet,
    add_fusions,
    build_formula_ranker,
    build_post_ranker,
    list_topic_sets,
    run_search,
    search_posts,
)
from mathamr_kedro.search.engines.opening import EngineParameters, open_index
from mathamr_kedro.search.strategies import Strategy, find_formulas
from mathamr_kedro.trec import Run
from mathamr_kedro.types import PostId

logger = logging.getLogger(__name__)

Values = Mapping[str, Any]


def search_by_vectors(
    topics: ShardedTable,
    posts: ShardedTable,
    index: Values,
    post_vectors: VectorStores,
    topic_vectors: VectorStores,
    indexes: IndexPlaces,
    indexing: Values,
    parameters: Values,
) -> list[Run]:
    """Search the index for all topics: posts by each strategy, formulas by one."""
    settings = EvaluationParameters.read(parameters)
    encoder, store = str(index["encoder"]), post_vectors.read(str(index["encoder"]))
    strategies = settings.list_strategies(
        read_parameters(Strategy, indexing["strategy"], where="indexing.strategy")
    )
    engine = read_parameters(
        EngineParameters, indexing["engine"], where="indexing.engine"
    )
    opened = open_index(engine, store, indexes.folder(encoder), indexes.connect)
    by_task = _list_topics(topics)
    queries = {t: Queries.read(by_task[t], topic_vectors.read(encoder)) for t in TASKS}
    question_of: dict[PostId, PostId] = {}
    if any(s.with_question for s in strategies.values()):
        question_of = _find_questions(posts, store.places)
    size = settings.queries_per_batch
    runs = [
        run_search(
            1,
            name,
            queries[1].topics,
            queries[1].posts,
            partial(search_posts, opened, store, chosen, question_of),
            chosen.depth,
            size,
        )
        for name, chosen in strategies.items()
        if queries[1].topics
    ]
    names, vectors = queries[2].formulas(by_task[2])
    if names:
        find = partial(find_formulas, opened)
        runs.append(run_search(2, SYSTEM, names, vectors, find, settings.depth, size))
    opened.close()
    return runs


def search_by_baselines(
    topics: ShardedTable,
    posts: ShardedTable,
    formulas: ShardedTable,
    formula_trees: TreeStore,
    math_graphs: PenmanShards,
    topic_math_graphs: PenmanShards,
    parameters: Values,
) -> list[Run]:
    """Search by each baseline that is asked for."""
    settings = EvaluationParameters.read(parameters)
    by_task = _list_topics(topics)
    folder = settings.model_folder
    sources = PostSources(
        posts.records,
        math_graphs.records,
        topic_math_graphs.records,
        model_folder=folder,
    )

    def trees_of(formula: FormulaInstance) -> BothTrees | None:
        return find_trees(formula_trees, formula.visual_id, formula.latex)

    runs = []
    for system in settings.list_baselines():
        rankers: dict[int, Callable[[], Any]] = {}
        if system in POST_SYSTEMS:
            rankers[1] = partial(build_post_ranker, system, sources)
        if system in FORMULA_SYSTEMS:
            instances = _list_formulas(formulas, posts)
            rankers[2] = partial(
                build_formula_ranker, system, instances, trees_of, folder
            )
        for task, build in rankers.items():
            if not by_task[task]:
                continue
            logger.info("task %d, %s: reading the collection", task, system)
            found = run_search(
                task,
                system,
                [topic.topic_id for topic in by_task[task]],
                by_task[task],
                build(),
                settings.depth,
                settings.queries_per_batch,
            )
            runs.append(found)
    return sorted(runs, key=lambda run: run.task)


def fuse_systems(
    vector_runs: Sequence[Run],
    baseline_runs: Sequence[Run],
    parameters: Values,
) -> list[Run]:
    """Return all systems: our vectors, the baselines, and fusions of them."""
    settings = EvaluationParameters.read(parameters)
    return add_fusions([*vector_runs, *baseline_runs], settings.list_fusions())


def split_runs(
    system_runs: Sequence[Run],
    topics: ShardedTable,
    judgments: ShardedTable,
    visual_index: VisualIndex,
    parameters: Values,
) -> list[Run]:
    """Return a run for each system and topic set."""
    settings = EvaluationParameters.read(parameters)
    sets = _list_sets(topics, judgments, visual_index, settings)
    return [s.choose(run) for run in system_runs for s in sets if s.task == run.task]


def score_runs(
    runs: RunFolder,
    topics: ShardedTable,
    judgments: ShardedTable,
    posts: ShardedTable,
    formulas: ShardedTable,
    visual_index: VisualIndex,
    parameters: Values,
) -> tuple[pd.DataFrame, list[dict[str, Any]], list[ScoredRun]]:
    """Return scores by topic, their means with floor and ceiling, and all of it."""
    settings = EvaluationParameters.read(parameters)
    sets = {
        (s.task, s.name): s
        for s in _list_sets(topics, judgments, visual_index, settings)
        if s.qrels.grades
    }
    corpora = {
        key: _find_in_corpus(chosen, posts, formulas) for key, chosen in sets.items()
    }
    scored = []
    for entry, run in runs:
        chosen = sets.get((entry.task, entry.topic_set))
        if chosen is None:
            logger.warning(
                "task %d, %s: no judgments, no scores", entry.task, entry.topic_set
            )
            continue
        judged = {t: run.lists[t] for t in chosen.qrels.grades if t in run.lists}
        returned = {i for topic in judged for i in run.documents(topic).keys}
        known = corpora[entry.task, entry.topic_set]
        corpus = None if known is None else known | returned
        evaluation = evaluate_run(
            replace(run, lists=judged),
            chosen.qrels,
            settings.protocol(entry.task),
            corpus_ids=corpus,
        )
        scored.append(
            ScoredRun(entry, evaluation, tuple(evaluation.break_down(chosen.notes)))
        )
    return list_scores(scored), list_metrics(scored), scored


def measure_efficiency(
    encoders: EncoderStore,
    encoder: Values,
    training_history: Sequence[Values],
    index: Values,
    system_runs: Sequence[Run],
) -> dict[str, Any]:
    """Return time, memory and size of training, index and search."""
    counts = count_parameters(encoders.open(str(encoder["folder"])))
    total = counts.pop("all")
    epochs = [float(record["seconds"]) for record in training_history]
    memory = [float(record["memory_mib"]) for record in training_history]
    return {
        "training": {
            "seconds_per_epoch": sum(epochs) / len(epochs) if epochs else None,
            "peak_memory_mib": max(memory, default=None),
            "parameters": counts | {"total": total},
        },
        "index": {
            name: index[name]
            for name in ("posts", "formulas", "vectors", "bytes", "seconds")
        },
        "search": [
            {
                "task": run.task,
                "system": run.name,
                "queries": len(run.lists),
                "seconds": run.seconds,
                "queries_per_second": len(run.lists) / max(run.seconds, 1e-9),
            }
            for run in system_runs
        ],
    }


def report_evaluation(
    scored_runs: Sequence[ScoredRun], efficiency: Values
) -> tuple[str, go.Figure]:
    """Return the report and the figure."""
    return write_report(scored_runs, efficiency), draw_scores(list_metrics(scored_runs))


def _list_topics(topics: ShardedTable) -> dict[int, list[Topic]]:
    found: list[Topic] = list(topics.records())
    return {task: [t for t in found if t.task == name] for task, name in TASKS.items()}


def _list_sets(
    topics: ShardedTable,
    judgments: ShardedTable,
    visual_index: VisualIndex,
    settings: EvaluationParameters,
) -> list[TopicSet]:
    return list_topic_sets(
        topics.records(), judgments.records(), settings.topic_sets, visual_index
    )


def _find_questions(
    posts: ShardedTable, indexed: Mapping[PostId, Any]
) -> dict[PostId, PostId]:
    """Return the question of each answer, where both are in the index."""
    return {
        post: parent
        for table in posts.tables(["post_id", "parent_id"])
        for post, parent in zip(*(c.to_pylist() for c in table.columns), strict=True)
        if parent in indexed and post in indexed
    }


def _list_formulas(
    formulas: ShardedTable, posts: ShardedTable
) -> Iterator[FormulaInstance]:
    """Yield what Task 2 may return: the formula index, or else the posts' formulas."""
    if formulas.counts.get("written"):
        for table in formulas.tables(["issue", *FormulaInstance._fields]):
            kept = table.filter(VisualIndex.mark_retrievable(table["issue"]))
            columns = (kept[name].to_pylist() for name in FormulaInstance._fields)
            yield from map(FormulaInstance._make, zip(*columns, strict=True))
        return
    for post in posts.records():
        for m in post.formula_map if post.post_type != "example" else ():
            yield FormulaInstance(m.formula_id, m.visual_id, post.post_id, m.latex)


def _find_in_corpus(
    chosen: TopicSet, posts: ShardedTable, formulas: ShardedTable
) -> frozenset[str] | None:
    """Return the judged documents that a system could return; ``None``: unknown."""
    judged = pa.array(sorted({i for g in chosen.qrels.grades.values() for i in g}))
    if chosen.task == 1:
        column, tables = "post_id", posts.tables(["post_id", "post_type"])
    elif formulas.counts.get("written"):
        column, tables = "visual_id", formulas.tables(["visual_id", "issue"])
    else:
        return None
    found: set[str] = set()
    for table in tables:
        if chosen.task == 1:
            is_allowed = pc.is_in(table["post_type"], value_set=pa.array(TASK_1_TYPES))
        else:
            is_allowed = VisualIndex.mark_retrievable(table["issue"])
        is_judged = pc.is_in(table[column], value_set=judged)
        kept = table[column].filter(pc.and_(is_judged, is_allowed))
        found.update(kept.to_pylist())
    return frozenset(found)
