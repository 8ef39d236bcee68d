"""The judged subset of a collection: what the thesis searched in its experiments.

A collection of millions of posts takes weeks to parse; its judgments name a few ten
thousand of them. The subset holds (thesis 4.4.1)

::

    judged      posts that judgments of the chosen topics name      searched
    question    the questions of judged answers, where asked for    searched
    training    posts of pairs drawn from the whole collection      learnt from alone

:mod:`mathamr_kedro.corpus.chosen` reads a collection as if it held these posts alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

from mathamr_kedro.base.errors import ConfigurationError, MissingInputError
from mathamr_kedro.base.records import ChosenPost, Failure, Judgment, TrainingPair
from mathamr_kedro.base.types import FormulaId, PostId, TopicId, VisualId
from mathamr_kedro.corpus.raw import Collection
from mathamr_kedro.corpus.threads import Answers, Threads
from mathamr_kedro.corpus.topics import year_of_topic

_FORMULAS_OF = {"task2_formulas": "task2"}
"""Files of one task in two numberings."""


@dataclass(frozen=True)
class SubsetConfig:
    """Which judged posts make the subset, and what is learnt from beside them."""

    tasks: tuple[Literal["task1", "task2", "ntcir12"], ...] = ("task1",)
    """Whose topics and judgments count."""
    editions: Literal["last", "all"] = "last"
    """``last``: of each task the newest judged edition (ARQMath-3 of 1, 2 and 3)."""
    questions: bool = False
    """Whether the question of each judged answer can be found too."""
    posts_per_formula: int = 5
    """Posts kept for a judged visual id; the lab assessed five instances at most."""
    pairs: int = 0
    """Training pairs drawn from the whole collection; 0: those within the subset."""
    seed: int = 42
    """Of the draw."""

    def __post_init__(self) -> None:
        if not self.tasks:
            raise ConfigurationError("Expected a task in 'tasks' (got none)")
        if self.posts_per_formula < 1 or self.pairs < 0:
            raise ConfigurationError(
                "Expected posts_per_formula of at least 1 and pairs of at least 0 (got "
                f"{self.posts_per_formula!r}, {self.pairs!r})"
            )


class JudgedSubset:
    """The judgments that a subset is made from, and the posts that it keeps.

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
        """Return the posts to keep, and how many judged documents are there.

        The posts are read once, the formula index only where formulas are judged.

        Args:
            answers: which answers make training pairs with their questions.

        Raises:
            MissingInputError: none of the judged documents of a task is there.
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
        return rows, counts

    def _read_posts(
        self, wanted: set[PostId], found: dict[PostId, PostId | None]
    ) -> Iterator[tuple[PostId, str, PostId | None, PostId | None]]:
        """Yield what threads are made of; note the wanted posts with their parents."""
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
        tables = self._collection.formula_tables() if by_visual or by_id else ()
        for _, read in tables:
            for row in read():
                if isinstance(row, Failure) or "d" in row.issue:
                    continue
                if row.formula_id in by_id:
                    instances[row.formula_id] = row.post_id
                kept = posts.get(row.visual_id)
                has_room = (
                    kept is not None and len(kept) < self._config.posts_per_formula
                )
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


def _task_of(task: str) -> str:
    return _FORMULAS_OF.get(task, task)
