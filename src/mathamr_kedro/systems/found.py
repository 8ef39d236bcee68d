"""What a ranking found for a query, and what gave how much to each score."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from mathamr_kedro.base.hits import Hits
from mathamr_kedro.systems.query import Query, ScorePart, Term

if TYPE_CHECKING:
    from mathamr_kedro.systems.base import Index


@dataclass(frozen=True, eq=False)
class Found:
    """What a ranking found for a query, and what its scores are made of."""

    name: str
    """Of the ranking."""
    query: Query
    hits: Hits
    index: Index | None = None
    """That was asked; ``None``: a fusion."""
    ranking: str | None = None
    """Its name in the index."""
    parts: tuple[Found, ...] = ()
    """Of a fusion: what was fused."""
    split: Callable[[], Mapping[str, Iterable[float]]] = field(default=dict, repr=False)
    """Gives, for each document of a fusion, the share of each part."""

    def explain(self, key: str) -> tuple[ScorePart, ...]:
        """Return what gave how much to the score of a post, or of a visual id."""
        if self.parts:
            return self._list_parts(key)
        if terms := self._list_terms(key):
            score = sum(term.weight * term.similarity for term in terms)
            return (ScorePart(self.name, score, score, terms),)
        return (self._describe(key),)

    def _describe(self, key: str) -> ScorePart:
        part = ScorePart.of_score(self.name, self._scores.get(key))
        if self.index is None:
            return part._replace(parts=self._list_parts(key))
        words = self.index.explain_words(self.query, key)
        return part._replace(terms=self._list_terms(key), words=words)

    def _list_parts(self, key: str) -> tuple[ScorePart, ...]:
        shares = self._shares.get(key, [0.0] * len(self.parts))
        return tuple(
            part._describe(key)._replace(share=float(share))
            for part, share in zip(self.parts, shares, strict=True)
        )

    def _list_terms(self, key: str) -> tuple[Term, ...]:
        if self.index is None:
            return ()
        return self.index.explain(self.query, key, self.ranking)

    @cached_property
    def _scores(self) -> dict[str, float]:
        return dict(zip(self.hits.judged_ids, self.hits.scores.tolist(), strict=True))

    @cached_property
    def _shares(self) -> Mapping[str, Iterable[float]]:
        return self.split()
