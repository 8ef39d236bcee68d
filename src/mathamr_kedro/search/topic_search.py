"""Topics in, runs out: searches over many topics, batch by batch, with their time."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeVar

from mathamr_kedro.errors import ConfigurationError, MalformedInputError
from mathamr_kedro.records import Topic
from mathamr_kedro.search.baselines.systems import TASK_1_TYPES
from mathamr_kedro.search.index import FormulaHits, Hits, VectorIndex, make_hits
from mathamr_kedro.search.post_vectors import PostEntry, Vectors
from mathamr_kedro.search.strategies import Strategy, find_posts
from mathamr_kedro.search.system_runs import RankedList, SystemRun
from mathamr_kedro.search.vectors import VectorStore
from mathamr_kedro.types import PostId, TopicId

logger = logging.getLogger(__name__)

Q = TypeVar("Q")
Search = Callable[[Sequence[Q], int], Sequence[Hits | FormulaHits]]
"""Queries and a depth in, a list for each query out."""


@dataclass(frozen=True)
class NamedStrategy(Strategy):
    """A strategy as a system: with a name, and perhaps with the question's vectors."""

    post_types: tuple[str, ...] = TASK_1_TYPES
    name: str = ""
    """By default that of the strategy, e.g. ``rerank-5000-hnsw``."""
    with_question: float = 0.0
    """Beyond the thesis: share of the question's score in that of an answer, 0 to 1."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.name:
            strategy = Strategy(self.retrieval, self.search, self.candidates)
            suffix = f"-question-{self.with_question:g}" if self.with_question else ""
            object.__setattr__(self, "name", strategy.name + suffix)
        if not 0 <= self.with_question <= 1:
            raise ConfigurationError(
                f"Expected with_question from 0 to 1 (got {self.with_question!r})"
            )
        if self.with_question and self.retrieval == "single":
            raise ConfigurationError(
                "Expected retrieval 'maxsim' or 'rerank' for with_question (got "
                "'single'): questions are compared by MaxSim"
            )


def name_strategy(strategy: Strategy) -> NamedStrategy:
    """Return a plain strategy as a system."""
    values = {name: getattr(strategy, name) for name in Strategy.__dataclass_fields__}
    return NamedStrategy(**values)


class Queries(NamedTuple):
    """Topics of one task that can be asked, and what is asked."""

    topics: list[TopicId]
    posts: list[PostEntry]

    @classmethod
    def read(cls, topics: Sequence[Topic], store: VectorStore) -> Queries:
        """Find the vectors of topics; those without a graph are left out, aloud."""
        known = [t.topic_id for t in topics if t.topic_id in store.places]
        missing = [t.topic_id for t in topics if t.topic_id not in store.places]
        if missing:
            logger.warning(
                "%s topics have no vectors and count as 0, e.g. %s",
                len(missing),
                ", ".join(missing[:3]),
            )
        return cls(known, list(store.read(known).entries()))

    def formulas(self, topics: Sequence[Topic]) -> tuple[list[TopicId], list[Vectors]]:
        """Return the vectors of the query formulas; the others are left out, aloud."""
        wanted = {t.topic_id: t.formula_id or "" for t in topics}
        found: dict[TopicId, Vectors] = {}
        for topic, post in zip(self.topics, self.posts, strict=True):
            try:
                found[topic] = post.formula(wanted[topic])
            except MalformedInputError as problem:
                logger.warning("topic %s counts as 0: %s", topic, problem)
        return list(found), list(found.values())


def run_search(
    task: int,
    system: str,
    topics: Sequence[TopicId],
    queries: Sequence[Q],
    search: Search[Q],
    depth: int,
    batch_size: int,
) -> SystemRun:
    """Search for all topics, ``batch_size`` at once; only searches are timed."""
    lists: dict[TopicId, RankedList] = {}
    seconds = 0.0
    for start in range(0, len(queries), batch_size):
        batch = slice(start, start + batch_size)
        started = time.perf_counter()
        found = search(queries[batch], depth)
        seconds += time.perf_counter() - started
        names = topics[batch]
        lists.update(
            (topic, RankedList.of(hits))
            for topic, hits in zip(names, found, strict=True)
        )
    logger.info(
        "task %d, %s: %s topics, %s/s", task, system, len(lists),
        f"{len(lists) / max(seconds, 1e-9):,.1f}",
    )  # fmt: skip
    return SystemRun(task, system, lists, seconds)


def search_posts(
    index: VectorIndex,
    strategy: NamedStrategy,
    question_of: Mapping[PostId, PostId],
    queries: Sequence[PostEntry],
    depth: int,
) -> list[Hits]:
    """Return the best posts for each query, alone or together with their questions."""
    strategy = replace(strategy, depth=depth)
    if not strategy.with_question:
        return find_posts(index, queries, strategy)
    return find_with_questions(index, queries, strategy, question_of)


def find_with_questions(
    index: VectorIndex,
    queries: Sequence[PostEntry],
    strategy: NamedStrategy,
    question_of: Mapping[PostId, PostId],
) -> list[Hits]:
    r"""Score answers as :math:`(1 - w) s(\text{answer}) + w\, s(\text{question})`.

    Candidates are the best answers and the answers of the best questions; an answer
    whose question is not in the index is scored alone.

    Args:
        index: where to search.
        queries: the topics.
        strategy: how to find candidates; its ``with_question`` is :math:`w`.
        question_of: question of each answer, where both are in the index.
    """
    answers_of: dict[PostId, list[PostId]] = {}
    for answer, question in question_of.items():
        answers_of.setdefault(question, []).append(answer)
    by_answer = find_posts(index, queries, strategy)
    asked = replace(strategy, post_types=("question",))
    by_question = find_posts(index, queries, asked)
    candidates = [
        dict.fromkeys(
            [*a.keys, *(k for key in q.keys for k in answers_of.get(key, ()))]
        )
        for a, q in zip(by_answer, by_question, strict=True)
    ]
    scored = index.rerank(
        [query.vectors for query in queries],
        [
            list(dict.fromkeys([*keys, *(question_of.get(k, k) for k in keys)]))
            for keys in candidates
        ],
    )
    share, results = strategy.with_question, []
    for keys, hits in zip(candidates, scored, strict=True):
        score = dict(zip(hits.keys, hits.scores.tolist(), strict=True))
        mixed = [
            (1 - share) * score[k] + share * score[question_of.get(k, k)] for k in keys
        ]
        best = make_hits(list(keys), mixed)
        results.append(Hits(best.keys[: strategy.depth], best.scores[: strategy.depth]))
    return results
