"""A collection as if it held some chosen posts alone.

Posts that are there to learn from become texts of the type ``example``: they come last,
and no search returns them, their formulas or their comments.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cached_property, partial
from pathlib import Path
from typing import TypeVar

from mathamr_kedro.base.checksums import checksum
from mathamr_kedro.base.records import (
    ChosenPost,
    Failure,
    Formula,
    Judgment,
    PostLink,
    Statement,
    StatementLink,
    Tag,
    TrainingPair,
    Vote,
)
from mathamr_kedro.base.types import PostId
from mathamr_kedro.corpus.raw import (
    Collection,
    Part,
    RawComment,
    RawPost,
    RawTopic,
)
from mathamr_kedro.corpus.subset import JudgedSubset, SubsetConfig
from mathamr_kedro.trec import TopicNotes

_Below = TypeVar("_Below", RawComment, PostLink, Statement, StatementLink, Vote)
_Judged = TypeVar("_Judged", RawTopic, Judgment)


class ChosenPosts:
    """Ids of chosen posts: those that can be found, and those to learn from alone."""

    def __init__(self, rows: Iterable[ChosenPost]) -> None:
        self.searched: set[PostId] = set()
        self._drawn: set[TrainingPair] = set()
        for row in rows:
            if row.answer_id is not None:
                self._drawn.add(TrainingPair(row.post_id, row.answer_id))
            else:
                self.searched.add(row.post_id)
        ends = {post for pair in self._drawn for post in pair}
        self.learnt = ends - self.searched

    def __len__(self) -> int:
        return len(self.searched) + len(self.learnt)

    def filter_pairs(self, pairs: Iterable[TrainingPair]) -> Iterator[TrainingPair]:
        """Yield the drawn pairs, and those of files that are read for training."""
        for pair in pairs:
            question = pair.question_id
            is_own = question in self.searched or question in self.learnt
            if not self._drawn or not is_own or pair in self._drawn:
                yield pair


class ChosenCollection(Collection):
    """Reads the chosen posts of a collection, and what belongs to them.

    Args:
        whole: the collection.
        rows: why posts were chosen.
        made_from: checksum of the choice.
        config: says which topics belong to it.
    """

    def __init__(
        self,
        whole: Collection,
        rows: Iterable[ChosenPost],
        made_from: str,
        config: SubsetConfig,
    ) -> None:
        super().__init__(whole.root)
        self._whole, self._made_from, self._config = whole, made_from, config
        self._chosen = ChosenPosts(rows)

    def check_layout(self) -> list[Path]:
        """Return all raw files; refuse a folder that lacks one."""
        return self._whole.check_layout()

    def checksum(self, *parts: Part) -> str:
        """Return a checksum of the raw files of some parts and of the choice."""
        return checksum(self._whole.checksum(*parts), self._made_from)

    def count_bytes(self, part: Part) -> int:
        """Return the size of the raw files of a part; posts are read twice."""
        return self._whole.count_bytes(part) * (2 if part == "posts" else 1)

    def posts(self) -> Iterator[RawPost | Failure]:
        """Yield the chosen posts; those to learn from come last, as examples."""
        for raw in self._whole.posts():
            if isinstance(raw, Failure) or raw.post_id in self._chosen.searched:
                yield raw
        for raw in self._whole.posts():
            if isinstance(raw, Failure):
                continue
            if raw.post_type == "example":  # of files that are read for training
                yield raw
            elif raw.post_id in self._chosen.learnt:
                yield raw._replace(post_type="example")

    def comments(self) -> Iterator[RawComment | Failure]:
        """Yield the comments under posts that can be found."""
        return self._filter(self._whole.comments())

    def links(self) -> Iterator[PostLink | Failure]:
        """Yield the links of posts that can be found."""
        return self._filter(self._whole.links())

    def statements(self) -> Iterator[Statement | Failure]:
        """Yield the statements among posts that can be found."""
        return self._filter(self._whole.statements())

    def statement_links(self) -> Iterator[StatementLink | Failure]:
        """Yield what the proofs of statements cite that can be found."""
        return self._filter(self._whole.statement_links())

    def tags(self) -> Iterator[Tag | Failure]:
        """Yield the tags of the whole collection."""
        return self._whole.tags()

    def votes(self) -> Iterator[Vote | Failure]:
        """Yield the votes on posts that can be found."""
        return self._filter(self._whole.votes())

    def formula_tables(
        self,
    ) -> Iterator[tuple[str, Callable[[], Iterator[Formula | Failure]]]]:
        """Yield the formula index of the chosen posts, table by table."""
        for name, read in self._whole.formula_tables():
            yield name, partial(self._filter_formulas, read)

    def topics(self) -> Iterator[RawTopic | Failure]:
        """Yield the topics of the subset."""
        return self._filter_topics(self._whole.topics())

    def topic_formulas(self) -> Iterator[Formula | Failure]:
        """Yield the formulas of all topics: files of two tasks may share them."""
        return self._whole.topic_formulas()

    def topic_notes(self) -> TopicNotes:
        """Return what the organisers noted about topics, by topic id."""
        return self._whole.topic_notes()

    def judgments(self) -> Iterator[Judgment | Failure]:
        """Yield the judgments of the subset's topics."""
        return self._filter_topics(self._whole.judgments())

    def pairs(self) -> Iterator[TrainingPair | Failure]:
        """Yield the pairs of judgments whose posts were chosen."""
        chosen = self._chosen.searched | self._chosen.learnt
        for found in self._whole.pairs():
            if isinstance(found, Failure) or chosen.issuperset(found):
                yield found

    @cached_property
    def _subset(self) -> JudgedSubset:
        return JudgedSubset(self._whole, self._config)

    def _filter(self, raw: Iterable[_Below | Failure]) -> Iterator[_Below | Failure]:
        for record in raw:
            if isinstance(record, Failure) or record.post_id in self._chosen.searched:
                yield record

    def _filter_topics(
        self, raw: Iterable[_Judged | Failure]
    ) -> Iterator[_Judged | Failure]:
        for found in raw:
            is_failure = isinstance(found, Failure)
            if is_failure or self._subset.has_topic(found.topic_id, found.task):  # type: ignore[union-attr]
                yield found

    def _filter_formulas(
        self, read: Callable[[], Iterator[Formula | Failure]]
    ) -> Iterator[Formula | Failure]:
        for formula in read():
            if isinstance(formula, Failure):
                yield formula
            elif formula.post_id in self._chosen.searched:
                yield formula
            elif formula.post_id in self._chosen.learnt:
                # Its tree is needed, but no search may return it.
                issue = formula.issue if "d" in formula.issue else f"{formula.issue}d"
                yield formula._replace(issue=issue)
