"""Systems asked by one person, fused, and what each gave to a score."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TypeAlias

from mathamr_kedro.base.errors import ConfigurationError, suggest
from mathamr_kedro.base.hits import Hits
from mathamr_kedro.base.records import Topic
from mathamr_kedro.runs.fusion import NamedFusion, fuse_runs
from mathamr_kedro.search import EncodedQuery, ScorePart, Term
from mathamr_kedro.systems import SYSTEMS, Ranker
from mathamr_kedro.trec import Run

PostTypes: TypeAlias = tuple[str, ...] | None
PaperRankers: TypeAlias = Mapping[str, Ranker]
"""Systems of other papers that were trained, by name."""
Terms: TypeAlias = tuple[Term, ...]


class SystemSearch:
    """Asks systems, fuses them, and says what each gave to a score."""

    TASK: int
    system: str
    """The one to ask where none is named."""
    fusions: Sequence[NamedFusion]
    systems: dict[str, str]
    """All that can be asked, and what they are: strategy, system, baseline, fusion."""

    def __post_init__(self) -> None:
        self._last: tuple[EncodedQuery, PostTypes, dict[str, Run]] | None = None
        self._fused: dict[str, NamedFusion] = {}
        self.systems = self._list_systems()
        for fusion in self.fusions:  # of those before them
            if {*fusion.of} <= {*self.systems}:
                self._fused[fusion.name] = fusion
                self.systems[fusion.name] = "fusion"
        self._choose(self.system)

    def _choose(self, system: str | None) -> str:
        """Return the system to ask: the usual one, if none is named.

        Raises:
            ConfigurationError: there is no such system.
        """
        chosen, known = system or self.system, list(self.systems)
        if chosen in self.systems:
            return chosen
        parts = next((f.of for f in self.fusions if f.name == chosen), ())
        wrong = next((part for part in parts if part not in known), chosen)
        what = "posts" if self.TASK == 1 else "formulas"
        name = wrong.partition("/")[0]
        if name in SYSTEMS:
            raise ConfigurationError(
                f"The system {wrong!r} was not trained here to find {what}; train it "
                f"in an environment with its overlay, as `kedro run --env demo+{name}` "
                f"does (docs/systems/{name}.md)"
            )
        raise ConfigurationError(
            f"No system for {what} is named {wrong!r}{suggest(wrong, known) or '.'} "
            f"Known: {', '.join(known)} (indexing.search, evaluation.strategies, "
            "evaluation.fusions)"
        )

    def explain(
        self,
        query: EncodedQuery,
        key: str,
        post_types: Sequence[str] | None = None,
        system: str | None = None,
    ) -> tuple[ScorePart, ...]:
        """Return what gave how much to the score of a post, or of a visual id."""
        types, name = None if post_types is None else tuple(post_types), query.entry.key
        chosen = self._choose(system)
        terms = self._list_terms(chosen, query, key)
        if terms:
            score = sum(term.weight * term.similarity for term in terms)
            return (ScorePart(chosen, score, score, terms),)
        last = self._last
        is_known = last is not None and last[0] is query and last[1] == types
        runs = last[2] if last and is_known and chosen in last[2] else None
        runs = runs or self._search(query, types, system=chosen)
        if chosen not in self._fused:
            score = _find_score(runs[chosen], name, key)
            share = 0.0 if math.isnan(score) else score
            return (ScorePart(chosen, share, score),)
        fusion = self._fused[chosen]
        parts = [runs[part] for part in fusion.of]
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

    @staticmethod
    def _make_topic(query: EncodedQuery) -> Topic:
        return Topic(
            query.entry.key, "task1", 0, "", (), query.clean.text,
            query.clean.formula_map, None, None, None, None, None,
        )  # fmt: skip

    def _list_systems(self) -> dict[str, str]:
        raise NotImplementedError  # those that are no fusions, and what they are

    def _ask(
        self, system: str, query: EncodedQuery, types: PostTypes, depth: int | None
    ) -> Hits:
        raise NotImplementedError  # asks one of them

    def _list_terms(self, system: str, query: EncodedQuery, key: str) -> Terms:
        return ()  # what its score of a post is the sum of, if it compares vectors

    def _search(
        self,
        query: EncodedQuery,
        types: PostTypes,
        depth: int | None = None,
        system: str | None = None,
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

        find(self._choose(system), depth)
        self._last = query, types, runs
        return runs


def _find_score(run: Run, name: str, key: str) -> float:
    """Return the score of a post or visual id in a list; NaN where it is not there."""
    return dict(run.documents(name)).get(key, math.nan)
