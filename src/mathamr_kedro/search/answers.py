"""What was found: results, and the texts that they were found in."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import NamedTuple, TypeAlias

from mathamr_kedro.base.records import Post
from mathamr_kedro.base.types import PostId
from mathamr_kedro.formula import PatternMatch
from mathamr_kedro.search.closeness import FAR
from mathamr_kedro.search.explanation import Match, restore_formulas
from mathamr_kedro.search.responses import IF_KNOWN
from mathamr_kedro.search.statements import StatementNote
from mathamr_kedro.systems.query import Query, ScorePart

FindTexts: TypeAlias = Callable[[Collection[PostId]], Mapping[PostId, Post]]
"""Ids to the posts that exist; comments and single formulas are texts too."""

ResultFilter: TypeAlias = Callable[[Post, Post | None], bool]
"""Whether a post, whose question is the second argument, may be returned."""

_SNIPPET = 160


@dataclass(frozen=True)
class Result:
    """One post that was found, in plain text, as ``mathamr search --json`` prints it.

    :class:`~mathamr_kedro.search.responses.FoundPost` is the same for pages and
    programs: sentences with rendered formulas.
    """

    rank: int
    post_id: PostId
    score: float
    post_type: str
    """``comment`` if a formula was found in a comment on the post."""
    title: str
    """Of the post, or of the question that it answers; may be empty."""
    snippet: str
    matches: tuple[Match, ...]
    """What in the post, or in its question, is nearest to each part of the query:
    weights times similarities add up to the score of the first part that has them.
    For a formula: the one that was found."""
    parts: tuple[ScorePart, ...] = ()
    """What each system gave to the score; one if nothing was fused."""
    statement: StatementNote | None = field(default=None, metadata=IF_KNOWN)
    """If statements were read."""
    pattern: PatternMatch | None = field(default=None, metadata=IF_KNOWN)
    """What the query variables stand for in the formula that was found."""
    closeness: float | None = field(default=None, metadata=IF_KNOWN)
    """From 0 to 1, if words and vectors were asked
    (:mod:`~mathamr_kedro.search.closeness`)."""
    close: str | None = field(default=None, metadata=IF_KNOWN)
    """The same in a word."""
    same: float | None = field(default=None, metadata=IF_KNOWN)
    """Of a search for a formula: how much of it is as in the one that was found, from
    0 to 1 (:func:`~mathamr_kedro.formula.compare_trees`)."""


class Answer(NamedTuple):
    """Results of a search, best first."""

    results: tuple[Result, ...]
    warnings: tuple[str, ...] = ()
    query: Query | None = None
    texts: Mapping[PostId, Post] = MappingProxyType({})
    """Of what was found and of its questions, by key."""
    keys: tuple[PostId, ...] = ()
    """Of the texts, one for each result: formulas may be in comments."""
    did_you_mean: str | None = None
    """The query with its typos corrected, if it has some."""

    @property
    def is_far(self) -> bool:
        """Whether nothing close was found."""
        known = [r.closeness for r in self.results if r.closeness is not None]
        return bool(known) and max(known) < FAR


class FoundTexts(dict[PostId, Post]):
    """Texts of what was found, and of the questions that it answers, by key."""

    @classmethod
    def read(cls, find_texts: FindTexts, keys: Sequence[PostId]) -> FoundTexts:
        """Return those that exist."""
        texts = dict(find_texts(keys)) if keys else {}
        parents = {p.parent_id for p in texts.values() if p.parent_id is not None}
        return cls({**texts, **find_texts(parents - texts.keys())})

    def title_of(self, key: PostId) -> str:
        """Return the title of a post or of its question; it may be empty."""
        post = self.get(key)
        parent = self.get(post.parent_id or "") if post else None
        source = post if post is not None and post.title else parent
        return restore_formulas(source.title, source.formula_map) if source else ""

    def snippet_of(self, key: PostId) -> str:
        """Return how a post begins."""
        post = self.get(key)
        if post is None:
            return ""
        return shorten(restore_formulas(post.text, post.formula_map))

    def list_kept(self, keys: Sequence[PostId], keep: ResultFilter) -> list[int]:
        """Return the places of what may be returned; nothing that has no text."""
        posts = [self.get(key) for key in keys]
        return [
            i
            for i, post in enumerate(posts)
            if post is not None and keep(post, self.get(post.parent_id or ""))
        ]


def shorten(text: str, max_length: int = _SNIPPET) -> str:
    r"""Return a text as one line, cut if it is too long.

    >>> shorten("a ring\nof integers"), shorten("a ring\nof integers", 8)
    ('a ring of integers', 'a ring …')
    """
    line = " ".join(text.split())
    return line if len(line) <= max_length else line[: max_length - 1] + "…"
