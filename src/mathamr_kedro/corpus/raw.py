"""Raw records: what the readers of all collections hand to the ingestion stage."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Literal, NamedTuple, Protocol

from mathamr_kedro.records import Failure, Formula, Judgment, PostLink, Tag, Vote
from mathamr_kedro.types import PostType

Markup = Literal["html", "markdown", "latex", "text"]
Part = Literal[
    "posts", "comments", "links", "tags", "votes", "formulas", "topics",
    "topic_formulas", "topic_notes", "qrels",
]  # fmt: skip
"""Parts of a collection, named as in the catalog."""


class RawPost(NamedTuple):
    """A post before its text is cleaned."""

    source: str
    place: str
    post_id: str
    post_type: PostType
    parent_id: str | None
    accepted_answer_id: str | None
    creation_date: str | None
    score: int | None
    tags: tuple[str, ...]
    title: str
    body: str
    markup: Markup = "html"


class RawComment(NamedTuple):
    """A comment under a post, before its text is cleaned."""

    source: str
    place: str
    comment_id: str
    post_id: str
    text: str


class RawTopic(NamedTuple):
    """A topic before its text is cleaned."""

    source: str
    topic_id: str
    task: str
    year: int
    title: str
    question: str
    tags: tuple[str, ...]
    formula_id: str | None
    latex: str | None


class TopicNotes(NamedTuple):
    """What the organisers noted about a topic."""

    category: str | None
    difficulty: str | None
    dependency: str | None


class Collection(Protocol):
    """A test collection or an own corpus.

    Every reader is lazy and yields in file order; a record that cannot be used is
    yielded as a :class:`~mathamr_kedro.records.Failure` instead.
    """

    name: str

    def fingerprint(self, *parts: Part) -> str:
        """Return a digest of the raw files of some parts (names, sizes, times).

        What is made from other parts stays as it is when these change: new topics or
        judgments leave the posts alone.
        """

    def posts(self) -> Iterator[RawPost | Failure]:
        """Yield questions, answers and documents."""

    def comments(self) -> Iterator[RawComment | Failure]:
        """Yield comments."""

    def links(self) -> Iterator[PostLink | Failure]:
        """Yield links between posts."""

    def tags(self) -> Iterator[Tag | Failure]:
        """Yield tags."""

    def votes(self) -> Iterator[Vote | Failure]:
        """Yield votes."""

    def formula_tables(
        self,
    ) -> Iterator[tuple[str, Callable[[], Iterator[Formula | Failure]]]]:
        """Yield the formula index, table by table: a name and a reader."""

    def topics(self) -> Iterator[RawTopic | Failure]:
        """Yield the topics of all tasks."""

    def topic_formulas(self) -> Iterator[Formula | Failure]:
        """Yield the formulas of the topics."""

    def topic_notes(self) -> dict[str, TopicNotes]:
        """Return what is known about topics, by topic id."""

    def judgments(self) -> Iterator[Judgment | Failure]:
        """Yield the judgments of all tasks."""


class PostsAlone:
    """The parts of a collection that has posts and nothing else.

    Readers of a :class:`Collection` that lacks most parts start from it and say what
    theirs has.
    """

    def comments(self) -> Iterator[RawComment | Failure]:
        """No comments."""
        return iter(())

    def links(self) -> Iterator[PostLink | Failure]:
        """No links between posts."""
        return iter(())

    def tags(self) -> Iterator[Tag | Failure]:
        """No tags of this kind."""
        return iter(())

    def votes(self) -> Iterator[Vote | Failure]:
        """No votes."""
        return iter(())

    def formula_tables(
        self,
    ) -> Iterator[tuple[str, Callable[[], Iterator[Formula | Failure]]]]:
        """No formula index; formulas are found in the texts."""
        return iter(())

    def topics(self) -> Iterator[RawTopic | Failure]:
        """No topics."""
        return iter(())

    def topic_formulas(self) -> Iterator[Formula | Failure]:
        """No formulas of topics."""
        return iter(())

    def topic_notes(self) -> dict[str, TopicNotes]:
        """Nothing is noted about topics."""
        return {}

    def judgments(self) -> Iterator[Judgment | Failure]:
        """No judgments."""
        return iter(())
