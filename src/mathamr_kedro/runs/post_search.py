"""One question, any system: what evaluation compares, asked by a person.

::

    with_question            strategy of our vectors     search_posts
    bm25, minilm_title ...   baseline                    build_post_ranker
    mathamr_plus+bm25        fusion of such systems      fuse_runs

The ranking is that of the run which evaluation writes for the same query.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from mathamr_kedro.errors import ConfigurationError, suggest
from mathamr_kedro.graph import GraphRecord
from mathamr_kedro.hits import Hits
from mathamr_kedro.records import Topic
from mathamr_kedro.runs.baselines import (
    POST_SYSTEMS,
    PostRanker,
    PostSources,
    build_post_ranker,
)
from mathamr_kedro.runs.fusion import NamedFusion, fuse_runs
from mathamr_kedro.runs.topic_search import NamedStrategy, search_posts
from mathamr_kedro.search import EncodedQuery, VectorIndex, VectorStore
from mathamr_kedro.trec import Run
from mathamr_kedro.types import PostId

FindGraph = Callable[[PostId], GraphRecord | None]
FindQuestions = Callable[[], Mapping[PostId, PostId]]


@dataclass(eq=False)
class PostSearch:
    """Finds posts for one query at a time.

    Raises:
        ConfigurationError: there is no such system.
    """

    index: VectorIndex
    """Where our vectors are searched."""
    store: VectorStore
    """The vectors; a post that is not among them is never returned."""
    strategies: Mapping[str, NamedStrategy]
    fusions: Sequence[NamedFusion]
    """Of strategies, baselines and other fusions."""
    sources: PostSources
    """What baselines read when they are first asked."""
    find_graph: FindGraph
    """Math graph of a post or topic, for ``bm25_graph``."""
    find_questions: FindQuestions
    """Question of each answer in the index; read when first needed."""
    system: str
    """The one to use."""
    depth: int = 1000
    """Results of a baseline that is fused."""

    def __post_init__(self) -> None:
        self._fused = {fusion.name: fusion for fusion in self.fusions}
        self._rankers: dict[tuple[str, tuple[str, ...] | None], PostRanker] = {}
        self._graph: GraphRecord | None = None
        self._check(self.system)

    def __call__(
        self,
        query: EncodedQuery,
        top: int,
        post_types: Sequence[str] | None = None,
        system: str | None = None,
    ) -> Hits:
        """Return the best posts; types are those of the system if ``None``.

        Raises:
            ConfigurationError: there is no such system.
        """
        types = None if post_types is None else tuple(post_types)
        chosen = system or self.system
        self._check(chosen)
        strategy = self.strategies.get(chosen)
        # Only where scores are mixed or fused does more than the best count.
        is_plain = strategy is not None and not strategy.mixes
        hits = self._search(chosen, query, types, top if is_plain else None)
        known = [i for i, key in enumerate(hits.ids) if key in self.store.places]
        return hits.take(known).top(top)

    @property
    def systems(self) -> dict[str, str]:
        """Names of what can be asked to what they are."""
        return {
            **dict.fromkeys(self.strategies, "strategy"),
            **dict.fromkeys(self._fused, "fusion"),
            **dict.fromkeys(POST_SYSTEMS, "baseline"),
        }

    def _check(self, system: str) -> None:
        known = list(self.systems)
        if system not in known:
            raise ConfigurationError(
                f"No system is named {system!r}{suggest(system, known) or '.'} Known: "
                f"{', '.join(known)} (indexing.search, evaluation.strategies, "
                "evaluation.fusions)"
            )
        for part in self._fused[system].of if system in self._fused else ():
            self._check(part)

    def _search(
        self,
        system: str,
        query: EncodedQuery,
        types: tuple[str, ...] | None,
        depth: int | None = None,
    ) -> Hits:
        if system in self._fused:
            fusion, name = self._fused[system], query.entry.key
            parts = [
                Run(part, {name: self._search(part, query, types)}, task=1)
                for part in fusion.of
            ]
            return fuse_runs(parts, fusion, system).documents(name)
        if system in self.strategies:
            strategy = self.strategies[system]
            if types is not None:
                strategy = replace(strategy, post_types=types)
            question_of = self._question_of if strategy.with_question else {}
            (hits,) = search_posts(
                self.index, self.store, strategy, question_of, [query.entry],
                depth or strategy.depth,
            )  # fmt: skip
            return hits
        return self._rank(system, query, types)

    def _rank(
        self, system: str, query: EncodedQuery, types: tuple[str, ...] | None
    ) -> Hits:
        """Ask a baseline, which reads the collection the first time."""
        if system == "bm25_graph":
            self._graph = query.graph or self.find_graph(query.entry.key)
        if (system, types) not in self._rankers:
            sources = replace(self.sources, topic_graphs=self._list_graphs)
            if types is not None:
                sources = replace(sources, post_types=types)
            self._rankers[system, types] = build_post_ranker(system, sources)  # type: ignore[arg-type]
        topic = Topic(
            query.entry.key, "task1", 0, "", (), query.clean.text,
            query.clean.formula_map, None, None, None, None, None,
        )  # fmt: skip
        (hits,) = self._rankers[system, types]([topic], self.depth)
        return hits

    def _list_graphs(self) -> list[GraphRecord]:
        return [] if self._graph is None else [self._graph]

    @cached_property
    def _question_of(self) -> Mapping[PostId, PostId]:
        return self.find_questions()
