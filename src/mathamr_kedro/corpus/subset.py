"""The judged subset of a collection: what the thesis searched in its experiments.

A collection of millions of posts takes weeks to parse; its judgments name a few ten
thousand of them. The subset holds (thesis 4.4.1)

::

    judged      posts that judgments of the chosen topics name      searched
    question    the questions of judged answers, if asked for       searched
    training    posts of pairs drawn from the whole collection      learnt from only

A subset is a collection: it reads its posts and what belongs to them. Posts that are
there to learn from become texts of the type ``example``: they come last, and no search
returns them, their formulas or their comments.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal, TypeVar

import numpy as np

from mathamr_kedro.base.checksums import checksum
from mathamr_kedro.base.errors import ConfigurationError, MissingInputError
from mathamr_kedro.base.parameters import check_range
from mathamr_kedro.base.records import (
    ChosenPost,
    Failure,
    Formula,
    Judgment,
    Statement,
    StatementLink,
    TrainingPair,
)
from mathamr_kedro.base.types import FormulaId, PostId, TopicId, VisualId
from mathamr_kedro.corpus.raw import (
    Collection,
    Part,
    RawComment,
    RawPost,
    RawTopic,
    convert,
)
from mathamr_kedro.corpus.topics import year_of_topic
from mathamr_kedro.corpus.training import Answers, Threads
from mathamr_kedro.trec import TopicNotes

_Below = TypeVar("_Below", RawComment, Statement, StatementLink)
_Judged = TypeVar("_Judged", RawTopic, Judgment)

_FORMULAS_OF = {"task2_formulas": "task2"}
"""Files of one task in two numberings."""


@dataclass(frozen=True)
class SubsetConfig:
    """Which judged posts the subset contains, and which texts to learn from."""

    tasks: tuple[Literal["task1", "task2", "ntcir12"], ...] = ("task1",)
    """Editions whose topics and judgments count."""
    editions: Literal["last", "all"] = "last"
    """``last``: of each task the newest judged edition (ARQMath-3 of 1, 2 and 3)."""
    questions: bool = False
    """Whether the question of each judged answer is searched too."""
    posts_per_formula: int = 5
    """Posts kept for a judged visual id; the lab assessed five instances at most."""
    pairs: int = 0
    """Training pairs drawn from the whole collection; 0: those within the subset."""
    seed: int = 42
    """Of the draw."""

    def __post_init__(self) -> None:
        if not self.tasks:
            raise ConfigurationError("Expected a task in 'tasks' (got none)")
        check_range(self, "posts_per_formula", least=1)
        check_range(self, "pairs", least=0)


class PostChoice:
    """The choice of a subset's posts, by the judgments of its topics.

    Raises:
        MissingInputError: the collection has no judgments of the tasks.
    """

    def __init__(self, collection: Collection, config: SubsetConfig) -> None:
        self._collection, self._config = collection, config
        judged: set[tuple[str, TopicId, str]] = set()
        for found in collection.judgments():
            if isinstance(found, Judgment) and _task_of(found.task) in config.tasks:
                judged.add((found.task, found.topic_id, found.doc_id))
        if not judged:
            raise MissingInputError(
                f"Expected judgments of {list(config.tasks)} for the judged subset of "
                f"{str(collection.root)!r} (got none); list its files in 'qrels' of "
                "the dataset 'collection', choose other 'tasks' in ingestion.subset, "
                "or run without the subset (ingestion.subset: null)"
            )
        self._last: dict[str, int] = {}
        for task, topic, _ in judged:
            year = max(self._last.get(_task_of(task), 0), year_of_topic(topic))
            self._last[_task_of(task)] = year
        self._judged: dict[str, set[str]] = {}
        for task, topic, document in judged:
            if self.has_topic(topic, task):
                self._judged.setdefault(task, set()).add(document)

    def has_topic(self, topic_id: TopicId, task: str) -> bool:
        """Tell whether a topic belongs to the subset."""
        task = _task_of(task)
        if task not in self._config.tasks:
            return False
        is_last = year_of_topic(topic_id) == self._last.get(task)
        return is_last or self._config.editions == "all"

    def choose(self, answers: Answers) -> tuple[list[ChosenPost], Counter[str]]:
        """Return the posts to keep, and how many judged documents were found.

        The posts are read once, the formula index only if formulas are judged.

        Raises:
            MissingInputError: none of the judged documents of a task was found.
        """
        counts: Counter[str] = Counter()
        wanted = self._judged.get("task1", set()) | self._find_formulas(counts)
        found: dict[PostId, PostId | None] = {}
        threads = Threads(self._read_posts(wanted, found))
        self._count(counts, "task1", self._judged.get("task1", set()), found)
        rows = [ChosenPost(post, "judged", None) for post in found]
        if self._config.questions:
            asked = dict.fromkeys(q for q in found.values() if q is not None)
            rows += [ChosenPost(q, "question", None) for q in asked if q not in found]
        rows += [ChosenPost(q, "training", a) for q, a in self._draw(threads, answers)]
        counts.update(row.reason for row in rows)
        ends = {row.answer_id for row in rows} | {row.post_id for row in rows}
        counts["posts"] = len(ends - {None})
        return rows, counts

    def _read_posts(
        self, wanted: set[PostId], found: dict[PostId, PostId | None]
    ) -> Iterator[tuple[PostId, str, PostId | None, PostId | None]]:
        """Yield the columns of threads; note the wanted posts with their parents."""
        for raw in self._collection.posts():
            if isinstance(raw, Failure) or raw.post_type == "example":
                continue
            if raw.post_id in wanted:
                found.setdefault(raw.post_id, raw.parent_id)
            if self._config.pairs:
                ids = raw.parent_id, raw.accepted_answer_id
                yield raw.post_id, raw.post_type, *ids

    def _find_formulas(self, counts: Counter[str]) -> set[PostId]:
        """Return posts of the judged formulas, of each visual id the first ones."""
        by_visual = self._judged.get("task2", set())
        by_id = {
            i for t in ("task2_formulas", "ntcir12") for i in self._judged.get(t, ())
        }
        posts: dict[VisualId, list[PostId]] = {i: [] for i in by_visual}
        instances: dict[FormulaId, PostId] = {}
        for row in self._collection.formulas() if by_visual or by_id else ():
            if isinstance(row, Failure) or "d" in row.issue:
                continue
            if row.formula_id in by_id:
                instances[row.formula_id] = row.post_id
            kept = posts.get(row.visual_id)
            has_room = kept is not None and len(kept) < self._config.posts_per_formula
            if kept is not None and has_room and row.post_id not in kept:
                kept.append(row.post_id)
        self._count(counts, "task2", by_visual, [i for i in posts if posts[i]])
        for task in ("task2_formulas", "ntcir12"):
            self._count(counts, task, self._judged.get(task, set()), instances)
        return {p for kept in posts.values() for p in kept} | {*instances.values()}

    def _count(
        self, counts: Counter[str], task: str, judged: set[str], found: Iterable[str]
    ) -> None:
        if not judged:
            return
        counts[f"{task}_judged"] = len(judged)
        counts[f"{task}_found"] = len(judged.intersection(found))
        if not counts[f"{task}_found"]:
            example = min(judged)
            raise MissingInputError(
                f"None of the {len(judged):,} judged documents of {task!r} (for "
                f"instance {example!r}) is in {str(self._collection.root)!r}; check "
                "that 'qrels' of the dataset 'collection' judges this collection"
            )

    def _draw(self, threads: Threads, answers: Answers) -> list[TrainingPair]:
        if answers == "judged":
            found = self._collection.pairs()
            pairs = [pair for pair in found if not isinstance(pair, Failure)]
        else:
            pairs = list(threads.pairs(answers))
        rng = np.random.default_rng(self._config.seed)
        drawn = rng.permutation(len(pairs))[: self._config.pairs]
        return [pairs[place] for place in sorted(drawn.tolist())]


class SubsetCollection(Collection):
    """The chosen posts of a collection, and what belongs to them."""

    def __init__(
        self,
        whole: Collection,
        rows: Iterable[ChosenPost],
        made_from: str,
        config: SubsetConfig,
    ) -> None:
        super().__init__(whole.root)
        self._whole, self._made_from, self._config = whole, made_from, config
        self._searched: set[PostId] = set()
        self._drawn: set[TrainingPair] = set()
        for row in rows:
            if row.answer_id is not None:
                self._drawn.add(TrainingPair(row.post_id, row.answer_id))
            else:
                self._searched.add(row.post_id)
        ends = {post for pair in self._drawn for post in pair}
        self._learnt = ends - self._searched

    def list_files(self, part: Part) -> list[Path]:
        """Return the raw files of a part, in order."""
        return self._whole.list_files(part)

    def checksum(self, *parts: Part) -> str:
        """Return a checksum of the raw files of some parts and of the choice."""
        return checksum(self._whole.checksum(*parts), self._made_from)

    def count_bytes(self, part: Part) -> int:
        """Return the size of the raw files of a part; posts are read twice."""
        return self._whole.count_bytes(part) * (2 if part == "posts" else 1)

    def posts(self) -> Iterator[RawPost | Failure]:
        """Yield the chosen posts; those to learn from come last, as examples."""
        for raw in self._whole.posts():
            if isinstance(raw, Failure) or raw.post_id in self._searched:
                yield raw
        for raw in self._whole.posts():
            if isinstance(raw, Failure):
                continue
            if raw.post_type == "example":  # of files that are read for training
                yield raw
            elif raw.post_id in self._learnt:
                yield raw._replace(post_type="example")

    def comments(self) -> Iterator[RawComment | Failure]:
        """Yield the comments under posts that can be found."""
        return self._filter(self._whole.comments())

    def statements(self) -> Iterator[Statement | Failure]:
        """Yield the statements among posts that can be found."""
        return self._filter(self._whole.statements())

    def statement_links(self) -> Iterator[StatementLink | Failure]:
        """Yield the citations between statements that can be found."""
        return self._filter(self._whole.statement_links())

    def formulas(self) -> Iterator[Formula | Failure]:
        """Yield the formula index of the chosen posts."""

        def keep(formula: Formula) -> Formula | None:
            if formula.post_id in self._searched:
                return formula
            if formula.post_id not in self._learnt:
                return None
            # Its tree is needed, but no search may return it.
            issue = formula.issue if "d" in formula.issue else f"{formula.issue}d"
            return formula._replace(issue=issue)

        return convert(self._whole.formulas(), keep)

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
        chosen = self._searched | self._learnt
        pairs = self._whole.pairs()
        return convert(pairs, lambda pair: pair if chosen.issuperset(pair) else None)

    def keeps_pair(self, pair: TrainingPair) -> bool:
        """Tell whether a pair was drawn, or comes from a file for training."""
        question = pair.question_id
        is_own = question in self._searched or question in self._learnt
        return not self._drawn or not is_own or pair in self._drawn

    @cached_property
    def _choice(self) -> PostChoice:
        return PostChoice(self._whole, self._config)

    def _filter(self, raw: Iterable[_Below | Failure]) -> Iterator[_Below | Failure]:
        searched = self._searched
        return convert(raw, lambda row: row if row.post_id in searched else None)

    def _filter_topics(
        self, raw: Iterable[_Judged | Failure]
    ) -> Iterator[_Judged | Failure]:
        def keep(found: _Judged) -> _Judged | None:
            is_ours = self._choice.has_topic(found.topic_id, found.task)
            return found if is_ours else None

        return convert(raw, keep)


def _task_of(task: str) -> str:
    return _FORMULAS_OF.get(task, task)
