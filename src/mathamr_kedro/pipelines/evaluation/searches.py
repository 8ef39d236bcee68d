"""Nodes of the evaluation stage that search: topics in, runs of all systems out."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence, Set
from functools import partial
from operator import attrgetter
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from mathamr_kedro.base.parameters import read_parameters
from mathamr_kedro.base.records import FormulaInstance, Topic
from mathamr_kedro.base.types import PostId
from mathamr_kedro.corpus import VisualIndex
from mathamr_kedro.datasets import (
    IndexPlaces,
    PenmanShards,
    ShardedTable,
    SystemStore,
    VectorStores,
)
from mathamr_kedro.experiments.grid import SYSTEM
from mathamr_kedro.formula import FormulaTrees, TreeStore, find_trees
from mathamr_kedro.pipelines.evaluation.parameters import EvaluationConfig
from mathamr_kedro.runs import (
    FORMULA_SYSTEMS,
    POST_SYSTEMS,
    TASK_OF,
    TASKS,
    NamedFusion,
    PostSources,
    Queries,
    add_fusions,
    build_formula_ranker,
    build_post_ranker,
    find_blank_queries,
    find_questions,
    fuse_as_given,
    fuse_by_folds,
    leave_out_queries,
    list_topic_sets,
    name_judged_formulas,
    read_given_runs,
    run_search,
    search_posts,
)
from mathamr_kedro.search import Strategy, find_formulas
from mathamr_kedro.systems import Ranker, SystemSources
from mathamr_kedro.trec import Run
from mathamr_kedro.vectors import EngineConfig, open_index

logger = logging.getLogger(__name__)

Values = Mapping[str, Any]


def search_by_vectors(  # noqa: PLR0913, PLR0917 - one for each entry of the catalog
    topics: ShardedTable,
    posts: ShardedTable,
    index: Values,
    post_vectors: VectorStores,
    topic_vectors: VectorStores,
    indexes: IndexPlaces,
    formula_trees: TreeStore,
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
    by_task = _list_topics(topics, formula_trees)
    topic_store = topic_vectors.read(encoder)
    read = partial(Queries.read, by_task[1], topic_store)
    asked = {p: read(p) for p in sorted({s.query_parts for s in strategies.values()})}
    asks_questions = any(s.with_question for s in strategies.values())
    parents = posts.tables(["post_id", "parent_id"]) if asks_questions else ()
    question_of = find_questions(parents, store.places)
    batch = config.queries_per_batch, engine.searches_on
    documents = _find_documents(by_task[1], posts, config)
    runs = []
    for name, chosen in strategies.items():
        search = leave_out_queries(
            partial(search_posts, opened, store, chosen, question_of),
            attrgetter("key"),
            documents,
        )
        queries = asked[chosen.query_parts]
        if queries.topics:
            runs.append(run_search(1, name, *queries, search, chosen.depth, *batch))
    names, vectors = Queries.read(by_task[2], topic_store).formulas(by_task[2])
    if names:
        find = partial(find_formulas, opened)
        runs.append(run_search(2, SYSTEM, names, vectors, find, config.depth, *batch))
    opened.close()
    return runs


def search_by_baselines(
    topics: ShardedTable,
    posts: ShardedTable,
    returnable_formulas: ShardedTable,
    formula_trees: TreeStore,
    math_graphs: PenmanShards,
    topic_math_graphs: PenmanShards,
    parameters: Values,
) -> list[Run]:
    """Search the collection for all topics by each baseline that is asked for."""
    config = EvaluationConfig.read(parameters)
    by_task = _list_topics(topics, formula_trees)
    sources = PostSources(
        posts.records,
        math_graphs.records,
        topic_math_graphs.records,
        text_model=config.text_model,
        count=partial(posts.count, "post_type"),
    )
    trees_of = partial(_find_trees, formula_trees)
    documents = _find_documents(by_task[1], posts, config)
    runs = []
    for system in config.list_baselines():
        if system in POST_SYSTEMS and by_task[1]:
            ranker: Ranker = build_post_ranker(system, sources)
            runs.append(_search(1, system, by_task[1], ranker, config, documents))
        if system in FORMULA_SYSTEMS and by_task[2]:
            found = returnable_formulas.records()
            ranker = build_formula_ranker(system, found, trees_of, config.text_model)
            runs.append(_search(2, system, by_task[2], ranker, config))
    return sorted(runs, key=lambda run: run.task)


def search_by_systems(
    topics: ShardedTable,
    posts: ShardedTable,
    formula_trees: TreeStore,
    systems: SystemStore,
    system_sources: SystemSources,
    trained_systems: Values,
    indexed_systems: Values,
    parameters: Values,
) -> list[Run]:
    """Search for all topics by each system of another paper that was indexed."""
    config = EvaluationConfig.read(parameters)
    by_task = _list_topics(topics, formula_trees) if indexed_systems else {1: [], 2: []}
    documents = _find_documents(by_task[1], posts, config)
    runs = []
    for name in indexed_systems:
        opened = systems.open(trained_systems[name]["folder"]).open(system_sources)
        for task, rankers in opened.items():
            for system, rank in rankers.items() if by_task[task] else ():
                left_out = documents if task == 1 else frozenset()
                asked = by_task[task]
                runs.append(_search(task, system, asked, rank, config, left_out))
    return sorted(runs, key=lambda run: run.task)


def fuse_systems(
    vector_runs: Sequence[Run],
    baseline_runs: Sequence[Run],
    paper_runs: Sequence[Run],
    topics: ShardedTable,
    judgments: ShardedTable,
    returnable_formulas: ShardedTable,
    visual_index: VisualIndex,
    parameters: Values,
) -> list[Run]:
    """Fuse ranked lists of vectors, papers, baselines and files; return all systems."""
    config = EvaluationConfig.read(parameters)
    asked: list[Topic] = list(topics.records())
    read, depth = returnable_formulas.tables, config.depth
    own = [*vector_runs, *paper_runs, *baseline_runs]
    runs = name_judged_formulas(own, asked, read, depth)
    if config.run_files:
        runs += read_given_runs(config.run_files, asked, visual_index, read, depth)
    fusions = config.list_fusions()
    if not any(fusion.folds for fusion in fusions):
        return add_fusions(runs, fusions)
    sets = list_topic_sets(asked, judgments.records(), config.topic_sets, visual_index)

    def fuse(parts: Sequence[Run], fusion: NamedFusion) -> Run:
        if not fusion.folds:
            return fuse_as_given(parts, fusion)
        task = parts[0].task
        judged = [s.qrels.grades for s in sets if s.task == task]
        grades = {topic: by_id for found in judged for topic, by_id in found.items()}
        measure = config.choose_protocol(task).measures[0]
        return fuse_by_folds(parts, fusion, grades, measure)

    return add_fusions(runs, fusions, fuse)


def _search(
    task: int,
    system: str,
    topics: Sequence[Topic],
    ranker: Ranker,
    config: EvaluationConfig,
    documents: Set[PostId] = frozenset(),
) -> Run:
    names = [topic.topic_id for topic in topics]
    search = leave_out_queries(ranker, attrgetter("topic_id"), documents)
    size = config.queries_per_batch
    return run_search(task, system, names, topics, search, config.depth, size)


def _find_documents(
    topics: Sequence[Topic], posts: ShardedTable, config: EvaluationConfig
) -> set[PostId]:
    """Return the topics that are documents, where they are not to be found."""
    names = pa.array([t.topic_id for t in topics], pa.string())
    found: set[PostId] = set()
    for table in posts.tables(["post_id"]) if config.leave_out_query else ():
        ids = table["post_id"]
        found.update(ids.filter(pc.is_in(ids, value_set=names)).to_pylist())
    if found:
        logger.info("%s topics are documents: left out", f"{len(found):,}")
    return found


def _list_topics(
    topics: ShardedTable, formula_trees: TreeStore
) -> dict[int, list[Topic]]:
    """List the topics by task, without queries that show nothing."""
    found: list[Topic] = list(topics.records())
    blank = find_blank_queries(found, partial(_find_trees, formula_trees))
    for topic_id, reason in blank.items():
        logger.warning("topic %s is not searched and counts as 0: %s", topic_id, reason)
    found = [topic for topic in found if topic.topic_id not in blank]
    return {task: [t for t in found if TASK_OF.get(t.task) == task] for task in TASKS}


def _find_trees(trees: TreeStore, formula: FormulaInstance) -> FormulaTrees | None:
    return find_trees(trees, formula.visual_id, formula.latex)
