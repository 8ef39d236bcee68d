"""The systems that evaluation compares, for one question or formula at a time."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import Any, Literal, TypeAlias

from mathamr_kedro.base.errors import ConfigurationError, suggest
from mathamr_kedro.base.hits import Hits
from mathamr_kedro.base.records import FormulaInstance, Topic
from mathamr_kedro.base.types import FormulaId, PostId
from mathamr_kedro.experiments.grid import SYSTEM
from mathamr_kedro.formula import find_trees
from mathamr_kedro.graph import GraphRecord
from mathamr_kedro.pipelines.evaluation.parameters import EvaluationConfig
from mathamr_kedro.pipelines.indexing.parameters import IndexingConfig
from mathamr_kedro.project import open_catalog
from mathamr_kedro.runs import (
    FormulaSearch,
    NamedFusion,
    PostSearch,
    PostSources,
    find_questions,
)
from mathamr_kedro.search import QueryEncoder
from mathamr_kedro.systems import Ranker
from mathamr_kedro.vectors import AddedPosts, VectorIndex, VectorStore

Finds: TypeAlias = Literal["posts", "formulas"]
"""What a system is asked for."""


def explain_formula(
    text: str,
    found: FormulaId,
    system: str,
    env: str | None = None,
    data_root: str | None = None,
) -> Sequence[Any]:
    """Ask a system of another paper what it matched.

    Args:
        text: LaTeX, or the id of a topic of Task 2.
        found: id of a formula, or of its post.
        system: as evaluation names it, e.g. ``formula_rgcn/slg``.
        env: an environment of ``conf/``; ``None`` for the default one.
        data_root: another folder for what the stages wrote.

    Returns:
        What the system's ``explain`` returns, e.g.
        :class:`~mathamr_kedro.systems.formula_rgcn.NodeMatches`.

    Raises:
        ConfigurationError: there is no such system, or it cannot tell.
    """
    catalog: Any = open_catalog(env, data_root)
    indexed, trained = catalog.load("indexed_systems"), catalog.load("trained_systems")
    known = [n for i in indexed.values() for n in i["rankers"].get("2", ())]
    if system not in known:
        raise ConfigurationError(
            f"No system of another paper for formulas is named {system!r}"
            f"{suggest(system, known) or '.'} The last run indexed: "
            f"{', '.join(known) or 'none'} (conf/<env>/parameters/systems.yml)"
        )
    folder = trained[system.partition("/")[0]]["folder"]
    opened = catalog.load("systems").open(folder).open(catalog.load("system_sources"))
    explain = getattr(opened[2][system], "explain", None)
    if explain is None:
        raise ConfigurationError(
            f"Expected a system that compares parts of formulas (got {system!r}, which "
            "compares them whole)"
        )
    topic = catalog.load("topics").find("topic_id", text)
    matches: Sequence[Any] = explain(topic or _ask_for(text), found)
    return matches


def _ask_for(latex: str) -> Topic:
    return Topic("query", "task2", 0, "", (), "", (), "q", latex, None, None, None)


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
