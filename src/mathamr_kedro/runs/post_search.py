"""One question or formula, any system: what evaluation compares, asked by a person.

::

    with_question            strategy of our vectors     search_posts
    marf ...                 system of another paper     PaperSystem.open
    bm25, minilm_title ...   baseline of posts           build_post_ranker
    mathamr_plus             vectors of formulas         find_formulas
    bm25_slt, bm25_opt ...   baseline of formulas        build_formula_ranker
    mathamr_plus+bm25        fusion of such systems      fuse_runs

The ranking is that of the run which evaluation writes for the same query.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TypeAlias

from mathamr_kedro.base.hits import Hits
from mathamr_kedro.base.types import PostId
from mathamr_kedro.corpus import QueryPart
from mathamr_kedro.graph import GraphRecord
from mathamr_kedro.runs.baselines import (
    POST_SYSTEMS,
    PostRanker,
    PostSources,
    build_post_ranker,
)
from mathamr_kedro.runs.fusion import NamedFusion
from mathamr_kedro.runs.mixtures import search_posts
from mathamr_kedro.runs.named_strategies import NamedStrategy
from mathamr_kedro.runs.system_search import (
    PaperRankers,
    PostTypes,
    SystemSearch,
    Terms,
)
from mathamr_kedro.search import EncodedQuery
from mathamr_kedro.vectors import PostEntry, VectorIndex, VectorStore

EncodePart: TypeAlias = Callable[[EncodedQuery, QueryPart], PostEntry]


@dataclass(eq=False)
class PostSearch(SystemSearch):
    """Finds posts for one query at a time.

    Raises:
        ConfigurationError: there is no such system.
    """

    TASK = 1

    index: VectorIndex
    """Where our vectors are searched."""
    store: VectorStore
    """The vectors; a post that is not among them is never returned."""
    strategies: Mapping[str, NamedStrategy]
    fusions: Sequence[NamedFusion]
    """Of strategies, baselines and other fusions."""
    sources: PostSources
    """What baselines read when they are first asked."""
    find_graph: Callable[[PostId], GraphRecord | None]
    """Math graph of a post or topic, for ``bm25_graph``."""
    find_questions: Callable[[], Mapping[PostId, PostId]]
    """Question of each answer in the index; read when first needed."""
    system: str
    depth: int = 1000
    """Results of a baseline that is fused."""
    encode_part: EncodePart | None = None
    """Encodes one part of a query, for strategies that ask for its words alone."""
    papers: PaperRankers = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._rankers: dict[tuple[str, PostTypes], PostRanker] = {}
        self._graph: GraphRecord | None = None
        super().__post_init__()

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
        chosen = self._choose(system)
        strategy = self.strategies.get(chosen)
        # Only where scores are mixed or fused does more than the best count.
        is_plain = strategy is not None and not strategy.mixes
        runs = self._search(query, types, top if is_plain else None, chosen)
        hits = runs[chosen].documents(query.entry.key)
        known = [i for i, key in enumerate(hits.ids) if key in self.store.places]
        return hits.take(known).top(top)

    def deepen(self, depth: int) -> None:
        """Let every part of a system return at least so many posts."""
        self.depth = max(self.depth, depth)
        self.strategies = {
            name: replace(strategy, depth=max(strategy.depth, depth))
            for name, strategy in self.strategies.items()
        }

    def _list_systems(self) -> dict[str, str]:
        ours = dict.fromkeys(self.strategies, "strategy")
        others = dict.fromkeys(self.papers, "system")
        return {**ours, **others, **dict.fromkeys(POST_SYSTEMS, "baseline")}

    def _list_terms(self, system: str, query: EncodedQuery, key: str) -> Terms:
        if system not in self.strategies:
            return ()
        strategy = self.strategies[system]
        question_of = self._question_of if strategy.with_question else {}
        return strategy.list_terms(query.entry, key, self.store, question_of)

    def _ask(
        self, system: str, query: EncodedQuery, types: PostTypes, depth: int | None
    ) -> Hits:
        if system in self.papers:
            (hits,) = self.papers[system]([self._make_topic(query)], self.depth)
            return hits
        if system not in self.strategies:
            return self._rank(system, query, types)
        strategy = self.strategies[system]
        if types is not None:
            strategy = replace(strategy, post_types=types)
        question_of = self._question_of if strategy.with_question else {}
        entry = query.entry
        if strategy.query_parts != "all" and self.encode_part is not None:
            entry = self.encode_part(query, strategy.query_parts)
        (hits,) = search_posts(
            self.index, self.store, strategy, question_of, [entry],
            depth or strategy.depth,
        )  # fmt: skip
        return hits

    def _rank(self, system: str, query: EncodedQuery, types: PostTypes) -> Hits:
        """Ask a baseline, which reads the collection the first time."""
        if system == "bm25_graph":
            self._graph = query.graph or self.find_graph(query.entry.key)
        if (system, types) not in self._rankers:
            graphs = lambda: [self._graph] if self._graph else []  # noqa: E731
            sources = replace(self.sources, topic_graphs=graphs)
            if types is not None:
                sources = replace(sources, post_types=types)
            self._rankers[system, types] = build_post_ranker(system, sources)  # type: ignore[arg-type]
        (hits,) = self._rankers[system, types]([self._make_topic(query)], self.depth)
        return hits

    @cached_property
    def _question_of(self) -> Mapping[PostId, PostId]:
        return self.find_questions()
