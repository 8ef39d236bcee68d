"""What a search found, for people."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import NamedTuple, TypeAlias

from mathamr_kedro.records import Post
from mathamr_kedro.search.explanation import Match
from mathamr_kedro.search.queries import EncodedQuery
from mathamr_kedro.types import PostId

Keep: TypeAlias = Callable[[Post, Post | None], bool]
"""Whether a post, whose question is the second argument, may be returned."""


class Result(NamedTuple):
    """One post that was found."""

    rank: int
    post_id: PostId
    score: float
    post_type: str
    """``comment`` where a formula was found in a comment on the post."""
    title: str
    """Of the post, or of the question that it answers; may be empty."""
    snippet: str
    matches: tuple[Match, ...]
    """What in the post is nearest to each sentence and formula of the query."""


class Answer(NamedTuple):
    """What a search found, best first."""

    results: tuple[Result, ...]
    warnings: tuple[str, ...] = ()
    query: EncodedQuery | None = None
    texts: Mapping[PostId, Post] = MappingProxyType({})
    """Of what was found and of its questions, by key."""
    keys: tuple[PostId, ...] = ()
    """Of the texts, one for each result: formulas may stand in comments."""
