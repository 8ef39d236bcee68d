"""Nodes of the evaluation stage: systems to runs, runs to scores, all to a report."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import pandas as pd
import plotly.graph_objects as go

from mathamr_kedro.corpus import VisualIndex
from mathamr_kedro.datasets import (
    EncoderStore,
    IndexPlaces,
    PenmanShards,
    RunFolder,
    ShardedTable,
    VectorStores,
)
from mathamr_kedro.formula import FormulaTrees, TreeStore, find_trees
from mathamr_kedro.parameters import read_parameters
from mathamr_kedro.pipelines.evaluation.parameters import SYSTEM, EvaluationConfig
from mathamr_kedro.pipelines.evaluation.report import Scoreboard
from mathamr_kedro.pipelines.evaluation.scoring import score_folder
from mathamr_kedro.records import Topic
from mathamr_kedro.runs import (
    FORMULA_SYSTEMS,
    POST_SYSTEMS,
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
from mathamr_kedro.search import EngineConfig, Strategy, find_formulas, open_index
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
    config = EvaluationConfig.read(parameters)
    encoder, store = str(index["encoder"]), post_vectors.read(str(index["encoder"]))
    strategies = config.list_strategies(
        read_parameters(Strategy, indexing["strategy"], where="indexing.strategy")
    )
    engine = read_parameters(EngineConfig, indexing["engine"], where="indexing.engine")
    folder, connect = indexes.folder(encoder), indexes.connect
    opened = open_index(engine, store, folder, connect, verify=True)
    by_task = _list_topics(topics)
    queries = {t: Queries.read(by_task[t], topic_vectors.read(encoder)) for t in TASKS}
    asks_questions = any(s.with_question for s in strategies.values())
    question_of = _find_questions(posts, store.places) if asks_questions else {}
    size = config.queries_per_batch
    runs = []
    for name, chosen in strategies.items() if queries[1].topics else ():
        search = partial(search_posts, opened, store, chosen, question_of)
        runs.append(run_search(1, name, *queries[1], search, chosen.depth, size))
    names, vectors = queries[2].formulas(by_task[2])
    if names:
        find = partial(find_formulas, opened)
        runs.append(run_search(2, SYSTEM, names, vectors, find, config.depth, size))
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
    """Search the collection for all topics by each baseline that is asked for."""
    config = EvaluationConfig.read(parameters)
    by_task = _list_topics(topics)
    sources = PostSources(
        posts.records,
        math_graphs.records,
        topic_math_graphs.records,
        text_model=config.text_model,
    )
    trees_of = partial(_find_trees, formula_trees)
    runs = []
    for system in config.list_baselines():
        if system in POST_SYSTEMS and by_task[1]:
            build: Any = partial(build_post_ranker, system, sources)
            runs.append(_search(1, system, by_task[1], build, config))
        if system in FORMULA_SYSTEMS and by_task[2]:
            found = _list_formulas(formulas, posts)
            build = partial(
                build_formula_ranker, system, found, trees_of, config.text_model
            )
            runs.append(_search(2, system, by_task[2], build, config))
    return sorted(runs, key=lambda run: run.task)


def fuse_systems(
    vector_runs: Sequence[Run],
    baseline_runs: Sequence[Run],
    parameters: Values,
) -> list[Run]:
    """Fuse ranked lists of our vectors and of baselines; return all systems."""
    config = EvaluationConfig.read(parameters)
    return add_fusions([*vector_runs, *baseline_runs], config.list_fusions())


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
    return [s.choose(run) for run in system_runs for s in sets if s.task == run.task]


def score_runs(
    runs: RunFolder,
    topics: ShardedTable,
    judgments: ShardedTable,
    posts: ShardedTable,
    formulas: ShardedTable,
    visual_index: VisualIndex,
    parameters: Values,
) -> tuple[pd.DataFrame, list[dict[str, Any]], Scoreboard]:
    """Score the runs by topic; take the means, with floor and ceiling."""
    config = EvaluationConfig.read(parameters)
    sets = _list_sets(topics, judgments, visual_index, config)
    board = Scoreboard(score_folder(runs, sets, posts, formulas, config.protocol))
    return board.list_scores(), board.list_metrics(), board


def measure_efficiency(
    encoders: EncoderStore,
    encoder: Values,
    training_history: Sequence[Values],
    index: Values,
    system_runs: Sequence[Run],
) -> dict[str, Any]:
    """Measure time, memory and size of training, index and search."""
    counts = encoders.open(str(encoder["folder"])).count_parameters()
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
    scored_runs: Scoreboard, efficiency: Values, amr_parser: Values
) -> tuple[str, go.Figure]:
    """Write the report and draw the figure of all systems."""
    return scored_runs.write_report(efficiency, amr_parser), scored_runs.draw()


def _search(
    task: int,
    system: str,
    topics: Sequence[Topic],
    build_ranker: Callable[[], Any],
    config: EvaluationConfig,
) -> Run:
    logger.info("task %d, %s: reading the collection", task, system)
    names = [topic.topic_id for topic in topics]
    size = config.queries_per_batch
    return run_search(task, system, names, topics, build_ranker(), config.depth, size)


def _find_trees(trees: TreeStore, formula: FormulaInstance) -> FormulaTrees | None:
    return find_trees(trees, formula.visual_id, formula.latex)


def _list_topics(topics: ShardedTable) -> dict[int, list[Topic]]:
    found: list[Topic] = list(topics.records())
    return {task: [t for t in found if t.task == name] for task, name in TASKS.items()}


def _list_sets(
    topics: ShardedTable,
    judgments: ShardedTable,
    visual_index: VisualIndex,
    config: EvaluationConfig,
) -> list[TopicSet]:
    return list_topic_sets(
        topics.records(), judgments.records(), config.topic_sets, visual_index
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
