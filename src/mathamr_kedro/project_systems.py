"""The systems that evaluation compares, for one question or formula at a time."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import Any, Literal, TypeAlias

from mathamr_kedro.experiments.grid import SYSTEM
from mathamr_kedro.formula import find_trees
from mathamr_kedro.graph import GraphRecord
from mathamr_kedro.hits import Hits
from mathamr_kedro.pipelines.evaluation.parameters import EvaluationConfig
from mathamr_kedro.pipelines.indexing.parameters import IndexingConfig
from mathamr_kedro.records import FormulaInstance, Topic
from mathamr_kedro.runs import (
    FormulaSearch,
    NamedFusion,
    PostSearch,
    PostSources,
    find_questions,
)
from mathamr_kedro.search import AddedPosts, QueryEncoder, VectorIndex, VectorStore
from mathamr_kedro.systems import Ranker
from mathamr_kedro.types import FormulaId, PostId

Finds: TypeAlias = Literal["posts", "formulas"]
"""What a system is asked for."""


class ProjectSystems:
    """Opens systems over the tables of an environment.

    Args:
        catalog: of the environment.
        config: its index, and what is asked where no system is named.
        finds: what the next two find; the other is found by the default.
        system: a strategy, a baseline or a fusion; ``None``: the default.
        fuse_with: systems whose scores are averaged with its own.
    """

    def __init__(
        self,
        catalog: Any,
        config: IndexingConfig,
        finds: Finds,
        system: str | None,
        fuse_with: Sequence[str],
    ) -> None:
        self._catalog, self._config = catalog, config
        self._finds, self._system, self._fuse_with = finds, system, fuse_with
        self._papers: dict[str, Mapping[int, Mapping[str, Ranker]]] = {}
        self._evaluation = EvaluationConfig.read(catalog.load("params:evaluation"))

    def _choose(
        self, what: Finds, default: str, fusions: Sequence[NamedFusion]
    ) -> tuple[str, list[NamedFusion]]:
        """Return the system to ask, and the fusions with the one that it may be."""
        if what != self._finds:
            return default, list(fusions)
        system, others = self._system or default, self._fuse_with
        if not others:
            return system, list(fusions)
        name = "+".join((system, *others))
        fused = NamedFusion("mean", name=name, of=(system, *others))
        return name, [*fusions, fused]

    def open_posts(
        self, index: VectorIndex, store: VectorStore, encoder: QueryEncoder
    ) -> PostSearch:
        """Return what finds posts, as evaluation does.

        Raises:
            ConfigurationError: there is no such system.
        """
        config, posts = self._config, self._catalog.load("posts")
        evaluation, added = self._evaluation, AddedPosts(store.folder)
        strategies = config.search.list_strategies(config.strategy)
        for name, strategy in evaluation.list_strategies(config.strategy).items():
            strategies |= {name: strategy, strategy.name: strategy}
        system, fusions = self._choose(
            "posts", config.search.system, evaluation.fusions
        )
        sources = PostSources(
            lambda: added.join_posts(posts.records()),
            lambda: self._catalog.load("math_graphs").records(),
            text_model=evaluation.text_model,
            count=partial(posts.count, "post_type"),
        )

        def find_parents() -> Mapping[PostId, PostId]:
            return find_questions(posts.tables(["post_id", "parent_id"]), store.places)

        return PostSearch(
            index, store, strategies, fusions, sources, self._find_graph, find_parents,
            system, evaluation.depth, encoder.encode_part, self._open_papers(1),
        )  # fmt: skip

    def open_formulas(self, index: VectorIndex, store: VectorStore) -> FormulaSearch:
        """Return what finds formulas, as evaluation does.

        Raises:
            ConfigurationError: there is no such system.
        """
        config, trees = self._config.search, self._catalog.load("formula_trees")
        evaluation, added = self._evaluation, AddedPosts(store.folder)
        formulas = self._catalog.load("returnable_formulas")
        known = [config.fuse_patterns(SYSTEM), *evaluation.fusions]
        system, fusions = self._choose("formulas", config.formula_system, known)
        return FormulaSearch(
            index, store, SYSTEM, fusions,
            lambda: added.join_formulas(formulas.records()), self._find_instances,
            lambda formula: find_trees(trees, formula.visual_id, formula.latex),
            system, evaluation.depth, evaluation.text_model, self._open_papers(2),
        )  # fmt: skip

    def _open_papers(self, task: int) -> dict[str, Ranker]:
        """Return the systems of other papers that the last run trained and indexed."""
        trained = self._catalog.load("trained_systems")
        return {
            name: partial(self._rank_by_paper, trained[system]["folder"], task, name)
            for system, found in self._catalog.load("indexed_systems").items()
            for name in found["rankers"].get(str(task), ())
        }

    def _rank_by_paper(
        self, folder: str, task: int, name: str, topics: Sequence[Topic], depth: int
    ) -> Sequence[Hits]:
        if folder not in self._papers:  # opened when it is first asked
            opened = self._catalog.load("systems").open(folder)
            self._papers[folder] = opened.open(self._catalog.load("system_sources"))
        return self._papers[folder][task][name](topics, depth)

    def _find_instances(
        self, ids: Collection[FormulaId]
    ) -> Mapping[FormulaId, FormulaInstance]:
        rows = self._catalog.load("returnable_formulas").select("formula_id", ids)
        return {row.formula_id: row for row in rows}

    def _find_graph(self, key: str) -> GraphRecord | None:
        for name in ("math_graphs", "topic_math_graphs"):
            if (found := self._catalog.load(name).find(key)) is not None:
                record: GraphRecord = found
                return record
        return None
