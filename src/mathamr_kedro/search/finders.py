"""What a searcher asks: who finds posts and formulas, and who has their texts."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Protocol, TypeAlias

from mathamr_kedro.base.hits import FormulaHits, Hits
from mathamr_kedro.base.records import FormulaInstance, Post
from mathamr_kedro.base.types import FormulaId, PostId
from mathamr_kedro.formula import PatternMatch
from mathamr_kedro.graph import GraphRecord
from mathamr_kedro.search.explanation import ScorePart
from mathamr_kedro.search.queries import EncodedQuery

FindTexts: TypeAlias = Callable[[Collection[PostId]], Mapping[PostId, Post]]
"""Ids to the posts that are there; formulas beside the posts are texts too."""

FindTopic: TypeAlias = Callable[[str], EncodedQuery | None]
"""The id of a topic to its vectors; ``None``: it is none."""

FindGraph: TypeAlias = Callable[[PostId], GraphRecord | None]
"""The id of a post to its math graph."""

FindInstances: TypeAlias = Callable[
    [Collection[FormulaId]], Mapping[FormulaId, FormulaInstance]
]
"""Ids to the formulas of the collection that are there."""


class _Systems(Protocol):
    @property
    def system(self) -> str: ...  # the one that is asked where none is named

    @property
    def systems(self) -> Mapping[str, str]: ...  # all, and what they are

    def explain(
        self,
        query: EncodedQuery,
        key: str,
        post_types: Sequence[str] | None = None,
        system: str | None = None,
    ) -> tuple[ScorePart, ...]: ...


class FindPosts(_Systems, Protocol):
    """Ranks posts for a query, and says what their scores are the sum of."""

    @property
    def find_graph(self) -> FindGraph:
        """Gives the math graphs of posts."""

    def __call__(
        self,
        query: EncodedQuery,
        top: int,
        post_types: Sequence[str] | None = None,
        system: str | None = None,
    ) -> Hits:
        """Return the best posts, of some types and by a system."""


class FindFormulas(_Systems, Protocol):
    """Ranks formulas for a query that is one, and says what gave how much."""

    @property
    def find_instances(self) -> FindInstances:
        """Gives the formulas that were found."""

    def __call__(
        self, query: EncodedQuery, top: int, system: str | None = None
    ) -> FormulaHits:
        """Return the best formulas, the first of each post."""

    def prepare(self, is_idle: Callable[[float], bool]) -> None:
        """Read what a search needs beside the vectors, in moments without a search."""

    def match(
        self, query: EncodedQuery, formula: FormulaInstance
    ) -> PatternMatch | None:
        """Return how a formula is an instance of a query with variables."""
