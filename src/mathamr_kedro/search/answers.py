"""What was found: the answer, and the texts that it was found in."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from mathamr_kedro.base.records import Post
from mathamr_kedro.base.types import PostId
from mathamr_kedro.search.responses import FoundPost, SearchResponse
from mathamr_kedro.systems.found import Found

FindTexts: TypeAlias = Callable[[Collection[PostId]], Mapping[PostId, Post]]
"""Ids to the posts that exist; comments and single formulas are texts too."""

ResultFilter: TypeAlias = Callable[[Post, Post | None], bool]
"""Whether a post, whose question is the second argument, may be returned."""


class Answer(NamedTuple):
    """What a search found; printed, it is the list that terminals show."""

    response: SearchResponse
    """As it is shown, wherever it is."""
    found: Found
    """The same results as ids and scores, and what these are made of."""

    @property
    def results(self) -> tuple[FoundPost, ...]:
        """What was found, best first."""
        return self.response.results

    def __str__(self) -> str:
        return str(self.response)


class FoundTexts(dict[PostId, Post]):
    """Texts of what was found, and of the questions that it answers, by key."""

    @classmethod
    def read(cls, find_texts: FindTexts, keys: Sequence[PostId]) -> FoundTexts:
        """Return those that exist."""
        texts = dict(find_texts(keys)) if keys else {}
        parents = {p.parent_id for p in texts.values() if p.parent_id is not None}
        return cls({**texts, **find_texts(parents - texts.keys())})

    def question_of(self, key: PostId) -> Post | None:
        """Return the question that a post answers, or a comment is below."""
        post = self.get(key)
        return self.get(post.parent_id or "") if post is not None else None

    def list_kept(self, keys: Sequence[PostId], keep: ResultFilter) -> list[int]:
        """Return the places of what may be returned; nothing that has no text."""
        posts = [self.get(key) for key in keys]
        return [
            i
            for i, post in enumerate(posts)
            if post is not None and keep(post, self.question_of(keys[i]))
        ]
