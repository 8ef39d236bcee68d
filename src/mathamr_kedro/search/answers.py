"""What a search answers a person with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from mathamr_kedro.search.explanation import Match, ScorePart
from mathamr_kedro.types import PostId


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
    """What in the post, or in its question, is nearest to each part of the query:
    weights times similarities add up to the score of the first part that has them.
    For a formula: the one that was found."""
    parts: tuple[ScorePart, ...] = ()
    """What each system gave to the score; one, where nothing was fused."""
    statement: Mapping[str, object] | None = None
    """Kind, number, name, section and uses, where statements were read."""


class Answer(NamedTuple):
    """What a search found, best first."""

    results: tuple[Result, ...]
    warnings: tuple[str, ...] = ()
