"""One question or formula, any system: what evaluation compares, asked by a person.

::

    with_question            strategy of our vectors     search_posts
    bm25, minilm_title ...   baseline of posts           build_post_ranker
    mathamr_plus             vectors of formulas         find_formulas
    bm25_slt, bm25_opt ...   baseline of formulas        build_formula_ranker
    mathamr_plus+bm25        fusion of such systems      fuse_runs

The ranking is that of the run which evaluation writes for the same query.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeAlias, cast

from mathamr_kedro.errors import ConfigurationError, suggest
from mathamr_kedro.graph import GraphRecord
from mathamr_kedro.hits import FormulaHits, Hits
from mathamr_kedro.records import FormulaInstance, Topic
from mathamr_kedro.runs.baselines import (
    FORMULA_SYSTEMS,
    POST_SYSTEMS,
    FormulaRanker,
    FormulaSystem,
    PostRanker,
    PostSources,
    TreeLookup,
    build_formula_ranker,
    build_post_ranker,
)
from mathamr_kedro.runs.fusion import NamedFusion, fuse_runs
from mathamr_kedro.runs.named_strategies import NamedStrategy
from mathamr_kedro.runs.topic_search import search_posts
from mathamr_kedro.search import (
    EncodedQuery,
    ScorePart,
    Term,
    VectorIndex,
    VectorStore,
    find_formulas,
)
from mathamr_kedro.search.searcher import FindInstances
from mathamr_kedro.trec import Run
from mathamr_kedro.types import PostId

PostTypes: TypeAlias = tuple[str, ...] | None
_Terms: TypeAlias = tuple[Term, ...]


class _SystemSearch:
    """Asks systems, fuses them, and says what each gave to a score."""

    TASK: int
    system: str
    fusions: Sequence[NamedFusion]

    def __post_init__(self) -> None:
        self._last: tuple[EncodedQuery, PostTypes, dict[str, Run]] | None = None
        self._fused: dict[str, NamedFusion] = {}
        known = self._list_systems()
        for fusion in self.fusions:  # of those before them
            if {*fusion.of} <= {*known}:
                self._fused[fusion.name] = fusion
                known.append(fusion.name)
        if self.system not in known:
            raise self._refuse(known)

    def _refuse(self, known: list[str]) -> ConfigurationError:
        parts = next((f.of for f in self.fusions if f.name == self.system), ())
        wrong = next((part for part in parts if part not in known), self.system)
        what = "posts" if self.TASK == 1 else "formulas"
        return ConfigurationError(
            f"No system for {what} is named {wrong!r}{suggest(wrong, known) or '.'} "
            f"Known: {', '.join(known)} (indexing.search, evaluation.strategies, "
            "evaluation.fusions)"
        )

    def explain(
        self, query: EncodedQuery, key: str, post_types: Sequence[str] | None = None
    ) -> tuple[ScorePart, ...]:
        """Return what gave how much to the score of a post, or of a visual id."""
        types, name = None if post_types is None else tuple(post_types), query.entry.key
        terms = self._list_terms(self.system, query, key)
        if terms:
            score = sum(term.weight * term.similarity for term in terms)
            return (ScorePart(self.system, score, score, terms),)
        last = self._last
        is_known = last is not None and last[0] is query and last[1] == types
        runs = last[2] if last and is_known else self._search(query, types)
        if self.system not in self._fused:
            score = _find_score(runs[self.system], name, key)
            share = 0.0 if math.isnan(score) else score
            return (ScorePart(self.system, share, score),)
        fusion = self._fused[self.system]
        parts = [runs[system] for system in fusion.of]
        shares = fusion.split(parts, name).get(key, [0.0] * len(parts))
        return tuple(
            ScorePart(
                run.name,
                float(share),
                _find_score(run, name, key),
                self._list_terms(run.name, query, key),
            )
            for run, share in zip(parts, shares, strict=True)
        )

    def _list_systems(self) -> list[str]:
        raise NotImplementedError  # those that are no fusions

    def _ask(
        self, system: str, query: EncodedQuery, types: PostTypes, depth: int | None
    ) -> Hits:
        raise NotImplementedError  # asks one of them

    def _list_terms(self, system: str, query: EncodedQuery, key: str) -> _Terms:
        return ()  # what its score of a post is the sum of, if it compares vectors

    def _search(
        self, query: EncodedQuery, types: PostTypes, depth: int | None = None
    ) -> dict[str, Run]:
        """Return the list of the system, and those that it is made of."""
        runs: dict[str, Run] = {}

        def find(system: str, depth: int | None) -> Run:
            if system in self._fused:
                fusion = self._fused[system]
                parts = [find(part, None) for part in fusion.of]
                runs[system] = fuse_runs(parts, fusion, system)
            elif system not in runs:
                hits = self._ask(system, query, types, depth)
                runs[system] = Run(system, {query.entry.key: hits}, task=self.TASK)
            return runs[system]

        find(self.system, depth)
        self._last = query, types, runs
        return runs


@dataclass(eq=False)
class PostSearch(_SystemSearch):
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
    """The one to use."""
    depth: int = 1000
    """Results of a baseline that is fused."""

    def __post_init__(self) -> None:
        self._rankers: dict[tuple[str, PostTypes], PostRanker] = {}
        self._graph: GraphRecord | None = None
        super().__post_init__()

    def __call__(
        self, query: EncodedQuery, top: int, post_types: Sequence[str] | None = None
    ) -> Hits:
        """Return the best posts; types are those of the system if ``None``."""
        types = None if post_types is None else tuple(post_types)
        strategy = self.strategies.get(self.system)
        # Only where scores are mixed or fused does more than the best count.
        is_plain = strategy is not None and not strategy.mixes
        runs = self._search(query, types, top if is_plain else None)
        hits = runs[self.system].documents(query.entry.key)
        known = [i for i, key in enumerate(hits.ids) if key in self.store.places]
        return hits.take(known).top(top)

    def _list_systems(self) -> list[str]:
        return [*self.strategies, *POST_SYSTEMS]

    def _list_terms(self, system: str, query: EncodedQuery, key: str) -> _Terms:
        if system not in self.strategies:
            return ()
        strategy = self.strategies[system]
        question_of = self._question_of if strategy.with_question else {}
        return strategy.list_terms(query.entry, key, self.store, question_of)

    def _ask(
        self, system: str, query: EncodedQuery, types: PostTypes, depth: int | None
    ) -> Hits:
        if system not in self.strategies:
            return self._rank(system, query, types)
        strategy = self.strategies[system]
        if types is not None:
            strategy = replace(strategy, post_types=types)
        question_of = self._question_of if strategy.with_question else {}
        (hits,) = search_posts(
            self.index, self.store, strategy, question_of, [query.entry],
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
        (hits,) = self._rankers[system, types]([_make_topic(query)], self.depth)
        return hits

    @cached_property
    def _question_of(self) -> Mapping[PostId, PostId]:
        return self.find_questions()


@dataclass(eq=False)
class FormulaSearch(_SystemSearch):
    """Finds formulas for one formula at a time; errors as :class:`PostSearch`."""

    TASK = 2

    index: VectorIndex
    store: VectorStore
    """The vectors; a formula of a post that is not among them is never returned."""
    vectors: str
    """Name of the system that compares them."""
    fusions: Sequence[NamedFusion]
    """Those that cannot be made of systems for formulas are passed over."""
    read_formulas: Callable[[], Iterable[FormulaInstance]]
    """Those that may be returned; baselines read them when they are first asked."""
    find_instances: FindInstances
    """Those with given ids, for whoever shows what was found."""
    trees_of: TreeLookup
    system: str
    depth: int = 1000
    text_model: str | None = None

    def __post_init__(self) -> None:
        self._rankers: dict[str, FormulaRanker] = {}
        super().__post_init__()

    def __call__(self, query: EncodedQuery, top: int) -> FormulaHits:
        """Return the best formulas, each visual id once, the first of each post."""
        hits = self._search(query, None)[self.system].lists[query.entry.key]
        assert isinstance(hits, FormulaHits)
        first: dict[PostId, int] = {}
        for place, post in enumerate(hits.post_ids):
            if post in self.store.places:
                first.setdefault(post, place)
        return hits.take(list(first.values())[:top])

    def _list_systems(self) -> list[str]:
        return [self.vectors, *FORMULA_SYSTEMS]

    def _ask(
        self, system: str, query: EncodedQuery, types: PostTypes, depth: int | None
    ) -> FormulaHits:
        (asked,) = query.entry.formula_ids[:1]
        if system == self.vectors:
            vector = query.entry.formula(asked)
            (hits,) = find_formulas(self.index, [vector], self.depth)
            return hits
        if system not in self._rankers:
            known = cast(FormulaSystem, system)
            self._rankers[system] = build_formula_ranker(
                known, self.read_formulas(), self.trees_of, self.text_model
            )
        topic = _make_topic(query)._replace(task="task2", formula_id=asked)
        (hits,) = self._rankers[system]([topic], self.depth)
        return hits


def _make_topic(query: EncodedQuery) -> Topic:
    return Topic(
        query.entry.key, "task1", 0, "", (), query.clean.text, query.clean.formula_map,
        None, None, None, None, None,
    )  # fmt: skip


def _find_score(run: Run, name: str, key: str) -> float:
    """Return the score of a post or visual id in a list; NaN where it is not there."""
    return dict(run.documents(name)).get(key, math.nan)
