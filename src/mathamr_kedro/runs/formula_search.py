"""One formula, any system of Task 2: what evaluation compares, asked by a person."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from threading import Event, Lock
from typing import cast

from mathamr_kedro.base.hits import FormulaHits
from mathamr_kedro.base.records import FormulaInstance
from mathamr_kedro.base.types import PostId
from mathamr_kedro.formula import PatternMatch
from mathamr_kedro.runs.baselines import (
    FORMULA_SYSTEMS,
    FormulaSystem,
    build_formula_ranker,
)
from mathamr_kedro.runs.fusion import NamedFusion
from mathamr_kedro.runs.system_search import PaperRankers, PostTypes, SystemSearch
from mathamr_kedro.search import EncodedQuery, find_formulas
from mathamr_kedro.search.finders import FindInstances
from mathamr_kedro.systems.protocol import TreeLookup
from mathamr_kedro.systems.term_rankers import FormulaRanker
from mathamr_kedro.vectors import VectorIndex, VectorStore

_TURN = 0.05
"""Seconds between two looks whether searches have ended, or one waits for us."""


@dataclass(eq=False)
class FormulaSearch(SystemSearch):
    """Finds formulas for one formula at a time.

    Raises:
        ConfigurationError: there is no such system for formulas.
    """

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
    papers: PaperRankers = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._rankers: dict[str, FormulaRanker] = {}
        self._reading, self._awaited = Lock(), Event()
        super().__post_init__()

    def prepare(self, is_idle: Callable[[float], bool]) -> None:
        """Read what a search needs beside the vectors, in a thread of its own.

        Args:
            is_idle: waits so many seconds at most for a moment without a search, and
                tells whether there is one. Two threads would slow each other down.
        """
        chosen = self._choose(None)
        parts = next((f.of for f in self.fusions if f.name == chosen), (chosen,))
        for part in parts:
            if part in FORMULA_SYSTEMS:
                self._open_ranker(part, is_idle)

    def _open_ranker(
        self, system: str, is_idle: Callable[[float], bool] | None = None
    ) -> FormulaRanker:
        """Return a baseline; it is read in idle moments, or at once where awaited."""
        if system in self._rankers:  # whoever reads another one need not end first
            return self._rankers[system]
        if is_idle is None:
            self._awaited.set()
        with self._reading:
            if is_idle is None:
                self._awaited.clear()
            if system not in self._rankers:
                formulas = self.read_formulas()
                if is_idle is not None:
                    formulas = self._take_turns(formulas, is_idle)
                known = cast(FormulaSystem, system)
                self._rankers[system] = build_formula_ranker(
                    known, formulas, self.trees_of, self.text_model
                )
            return self._rankers[system]

    def _take_turns(
        self, formulas: Iterable[FormulaInstance], is_idle: Callable[[float], bool]
    ) -> Iterator[FormulaInstance]:
        for formula in formulas:
            while not self._awaited.is_set() and not is_idle(_TURN):
                pass
            yield formula

    def __call__(
        self, query: EncodedQuery, top: int, system: str | None = None
    ) -> FormulaHits:
        """Return the best formulas, each visual id once, the first of each post.

        Raises:
            ConfigurationError: there is no such system for formulas.
        """
        chosen = self._choose(system)
        runs = self._search(query, None, system=chosen)
        hits = runs[chosen].lists[query.entry.key]
        assert isinstance(hits, FormulaHits)
        if query.pattern is not None:
            hits = self._put_first(query, hits)
        first: dict[PostId, int] = {}
        for place, post in enumerate(hits.post_ids):
            if post in self.store.places:
                first.setdefault(post, place)
        return hits.take(list(first.values())[:top])

    def match(
        self, query: EncodedQuery, formula: FormulaInstance
    ) -> PatternMatch | None:
        """Return how a formula is an instance of a query with variables.

        ``None``: it is not, or the query has no variables.
        """
        if query.pattern is None:
            return None
        trees = self.trees_of(formula)
        return query.pattern.match(trees.opt) if trees is not None else None

    def _put_first(self, query: EncodedQuery, hits: FormulaHits) -> FormulaHits:
        """Put instances of the query first, then formulas that hold one."""
        found = self.find_instances(hits.ids)
        matches = [
            self.match(query, found[key]) if key in found else None for key in hits.ids
        ]
        ranks = [2 if m is None else 0 if m.is_whole else 1 for m in matches]
        return hits.take(sorted(range(len(hits)), key=ranks.__getitem__))

    def _list_systems(self) -> dict[str, str]:
        others = dict.fromkeys(self.papers, "system")
        baselines: dict[str, str] = dict.fromkeys(FORMULA_SYSTEMS, "baseline")
        return {self.vectors: "strategy", **others, **baselines}

    def _ask(
        self, system: str, query: EncodedQuery, types: PostTypes, depth: int | None
    ) -> FormulaHits:
        (asked,) = query.entry.formula_ids[:1]
        if system == self.vectors:
            vector = query.entry.formula(asked)
            (hits,) = find_formulas(self.index, [vector], self.depth)
            return hits
        topic = self._make_topic(query)._replace(task="task2", formula_id=asked)
        if system in self.papers:
            (found,) = self.papers[system]([topic], self.depth)
            assert isinstance(found, FormulaHits)
            return found
        (hits,) = self._open_ranker(system)([topic], self.depth)
        return hits
