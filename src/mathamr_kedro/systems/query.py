"""What is asked, and what a score is made of."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from mathamr_kedro.base.errors import ConfigurationError
from mathamr_kedro.base.records import (
    CleanText,
    FormulaInstance,
    FormulaMention,
    Topic,
)
from mathamr_kedro.base.types import FormulaId, PostId

if TYPE_CHECKING:
    from mathamr_kedro.formula import FormulaTrees, QueryPattern
    from mathamr_kedro.graph import MathGraph
    from mathamr_kedro.vectors.post_vectors import PostEntry

Target: TypeAlias = Literal["posts", "formulas"]
"""What is searched for: Task 1 of ARQMath asks for posts, Task 2 for formulas."""

TARGET_OF: Mapping[str, Target] = {
    "task1": "posts",
    "task2": "formulas",
    "ntcir12": "formulas",
}
"""What the topics of each task ask for."""

TreeLookup: TypeAlias = Callable[[FormulaInstance], "FormulaTrees | None"]
"""Finds the trees of a formula; ``None``: there are none."""


@dataclass(frozen=True, eq=False)
class Query:
    """What is asked: a topic of a collection, or a typed query."""

    key: str
    """Id of the topic; ``query`` if it was typed."""
    text: str = ""
    """Words, with placeholders for formulas."""
    formula_map: tuple[FormulaMention, ...] = ()
    formula: FormulaInstance | None = None
    """The formula that is asked for; ``None``: posts are."""
    trees: FormulaTrees | None = None
    """Of that formula."""
    pattern: QueryPattern | None = None
    """What formulas are to be instances of, if it has query variables."""
    read_graph: Callable[[], MathGraph | None] = lambda: None
    """Gives the math graph of its text."""
    entry: PostEntry | None = None
    """Vectors of MathAMR+; ``None``: its index knows them, or computes them."""
    warnings: tuple[str, ...] = ()
    """What was hard to read."""
    known: float = 1.0
    """Share of its nodes that MathAMR+ knows; a sentence encoder knows all words."""

    @classmethod
    def of_topic(
        cls,
        topic: Topic,
        trees_of: TreeLookup = lambda formula: None,
        read_graph: Callable[[], MathGraph | None] = lambda: None,
    ) -> Query:
        """Return a topic as a query."""
        formula = None
        if TARGET_OF.get(topic.task) == "formulas":
            formula = find_query_formula(topic)
        trees = trees_of(formula) if formula is not None else None
        return cls(
            topic.topic_id,
            topic.text,
            topic.formula_map,
            formula,
            trees,
            read_graph=read_graph,
        )

    @cached_property
    def graph(self) -> MathGraph | None:
        """Math graph of its text, read once."""
        return self.read_graph()

    @property
    def target(self) -> Target:
        """What it asks for."""
        return "posts" if self.formula is None else "formulas"

    @property
    def asked_formula(self) -> FormulaInstance:
        """The formula that is asked for."""
        if self.formula is None:
            raise ConfigurationError(
                f"Expected a query formula in {self.key!r} (got none); topics of Task "
                "1 ask for posts"
            )
        return self.formula

    @property
    def clean(self) -> CleanText:
        """Its words with their formulas."""
        return CleanText(self.text, self.formula_map)

    @property
    def written(self) -> CleanText:
        """Its words as they were written, with query variables."""
        if self.pattern is None:
            return self.clean
        latex = self.pattern.latex
        shown = tuple(mention._replace(latex=latex) for mention in self.formula_map)
        return CleanText(self.text, shown)


class Term(NamedTuple):
    """A node of a query and its best partner: ``weight * similarity`` of a score."""

    row: int
    """Of the query."""
    owner: PostId
    """The post, or the question that it answers."""
    partner: int
    """Row of the owner."""
    similarity: float
    weight: float
    note: str = ""
    """What it is, if that is not MaxSim."""


@dataclass(frozen=True)
class WordShare:
    """A word of a query, or a token of its formulas, and what it adds to a score."""

    word: str
    share: float


class ScorePart(NamedTuple):
    """The share of one system in a score."""

    system: str
    share: float
    """The shares of all systems add up to the score."""
    score: float
    """Its own, before scores were scaled and weighted; NaN: it did not find the
    post."""
    terms: tuple[Term, ...] = ()
    """Of a system that compares vectors: what its own score is the sum of."""
    words: tuple[WordShare, ...] = ()
    """The same of a system that compares words, the largest first."""
    parts: tuple[ScorePart, ...] = ()
    """The same of a fusion: what each of its systems gave."""

    def leaves(self) -> Iterator[ScorePart]:
        """Yield the systems that it is made of; itself if that is none."""
        if not self.parts:
            yield self
        for part in self.parts:
            yield from part.leaves()

    @classmethod
    def of_score(cls, system: str, score: float | None) -> ScorePart:
        """Return the part of a system that explains its score no further."""
        return cls(system, score or 0.0, math.nan if score is None else score)


def find_query_formula(topic: Topic) -> FormulaInstance:
    """Return the formula that a topic of Task 2 asks for."""
    mentions: Mapping[FormulaId, FormulaMention] = {
        m.formula_id: m for m in topic.formula_map
    }
    if topic.formula_id is None:
        raise ConfigurationError(
            f"Expected a query formula in topic {topic.topic_id!r} (got none); topics "
            "of Task 1 ask for posts"
        )
    mention = mentions.get(topic.formula_id)
    visual = mention.visual_id if mention is not None else ""
    latex = topic.latex or (mention.latex if mention is not None else "")
    return FormulaInstance(topic.formula_id, visual, topic.topic_id, latex)
