"""Nodes of the evaluation stage that ask systems: topics in, runs out."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from contextlib import closing
from functools import partial
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from mathamr_kedro.base.records import Topic
from mathamr_kedro.base.types import PostId
from mathamr_kedro.corpus import VisualIndex
from mathamr_kedro.datasets import MathGraphs, ShardedTable
from mathamr_kedro.formula import TreeStore
from mathamr_kedro.pipelines.evaluation import EvaluationConfig
from mathamr_kedro.runs import (
    add_fusions,
    fuse_by_folds,
    list_topic_sets,
    name_judged_formulas,
    read_given_runs,
    read_queries,
    run_system,
)
from mathamr_kedro.systems import Fusion, Index, Query, Target, fuse_runs
from mathamr_kedro.systems.search_config import SearchConfig
from mathamr_kedro.trec import Run

logger = logging.getLogger(__name__)

Values = Mapping[str, Any]


def rank(
    index: Index,
    topics: ShardedTable,
    topic_graphs: MathGraphs,
    formula_trees: TreeStore,
    posts: ShardedTable,
    config: EvaluationConfig,
) -> list[Run]:
    """Ask an index for all topics: by each of its rankings, posts and formulas."""
    queries = _read_queries(topics, topic_graphs, formula_trees)
    with closing(index):
        index.verify()
        return _run(index, queries, posts, config)


def fuse_systems(
    topics: ShardedTable,
    judgments: ShardedTable,
    returnable_formulas: ShardedTable,
    visual_index: VisualIndex,
    parameters: Values,
    indexing: Values,
    *runs_of_systems: Sequence[Run],
) -> list[Run]:
    """Fuse ranked lists of systems and files; return those of all systems."""
    config = EvaluationConfig.read(parameters).add_search(SearchConfig.read(indexing))
    asked: list[Topic] = list(topics.records())
    read, depth = returnable_formulas.tables, config.depth
    own = [run for runs in runs_of_systems for run in runs]
    own.sort(key=lambda run: run.task)
    runs = name_judged_formulas(own, asked, read, depth)
    if config.run_files:
        runs += read_given_runs(config.run_files, asked, visual_index, read, depth)
    fusions = config.list_fusions()
    if not any(fusion.folds for fusion in fusions):
        return add_fusions(runs, fusions)
    sets = list_topic_sets(asked, judgments.records(), config.topic_sets, visual_index)

    def fuse(parts: Sequence[Run], fusion: Fusion) -> Run:
        if not fusion.folds:
            return fuse_runs(parts, fusion)
        task = parts[0].task
        judged = [s.qrels.grades for s in sets if s.task == task]
        grades = {topic: by_id for found in judged for topic, by_id in found.items()}
        measure = config.choose_protocol(task).measures[0]
        return fuse_by_folds(parts, fusion, grades, measure)

    return add_fusions(runs, fusions, fuse)


def _run(
    index: Index,
    queries: Mapping[Target, Sequence[Query]],
    posts: ShardedTable,
    config: EvaluationConfig,
) -> list[Run]:
    documents = _find_documents(queries["posts"], posts)
    ask = partial(run_system, index, batch_size=config.queries_per_batch)
    runs = []
    for target, asked in queries.items():
        for ranking in index.list_rankings(target) if asked else ():
            own = documents if target == "posts" else frozenset()
            run = ask(ranking, asked, config.depth, documents=own)
            if run.lists:
                runs.append(run)
    return runs


def _read_queries(
    topics: ShardedTable, topic_graphs: MathGraphs, formula_trees: TreeStore
) -> dict[Target, list[Query]]:
    graphs: dict[str, Any] = {}

    def find_graph(topic: str) -> Any:
        if not graphs:  # read if a system asks for them
            graphs.update((r.graph_id, r) for r in topic_graphs.records())
        return graphs.get(topic)

    return read_queries(topics.records(), formula_trees.find, find_graph)


def _find_documents(queries: Sequence[Query], posts: ShardedTable) -> set[PostId]:
    """Return the topics that are documents: none is a result of its own, as in BEIR."""
    names = pa.array([query.key for query in queries], pa.string())
    found: set[PostId] = set()
    for table in posts.tables(["post_id"]):
        ids = table["post_id"]
        found.update(ids.filter(pc.is_in(ids, value_set=names)).to_pylist())
    if found:
        logger.info(
            "%s topics are also documents; excluded from their own results",
            f"{len(found):,}",
        )
    return found
