"""Topics in, runs out: searches over many topics, batch by batch, with their time."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from mathamr_kedro.errors import ConfigurationError, MalformedInputError
from mathamr_kedro.graph import SENTENCE
from mathamr_kedro.hits import FormulaHits, Hits
from mathamr_kedro.progress import report_progress
from mathamr_kedro.records import Topic
from mathamr_kedro.runs.baselines import TASK_1_TYPES
from mathamr_kedro.search import (
    PostEntry,
    Strategy,
    VectorIndex,
    Vectors,
    VectorStore,
    find_posts,
)
from mathamr_kedro.trec import Run
from mathamr_kedro.types import PostId, TopicId
from mathamr_kedro.wording import format_duration

logger = logging.getLogger(__name__)

Q = TypeVar("Q")
Search = Callable[[Sequence[Q], int], Sequence[Hits | FormulaHits]]
"""Queries and a depth in, a list for each query out."""


@dataclass(frozen=True)
class NamedStrategy(Strategy):
    """A strategy as a system: with a name, and perhaps with more than MaxSim."""

    post_types: tuple[str, ...] = TASK_1_TYPES
    name: str = ""
    """By default that of the strategy, e.g. ``rerank-5000-hnsw``."""
    with_question: float = 0.0
    """Beyond the thesis: share of MaxSim over an answer and its question together."""
    with_document: float = 0.0
    """Beyond the thesis: weight of the similarity of document vectors beside MaxSim."""
    sentence_weight: float = 1.0
    """Beyond the thesis: of a query's sentences in the mean of MaxSim; formulas and
    the document have 1."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.name:
            strategy = Strategy(
                self.retrieval,
                self.search,
                self.candidates,
                hnsw_walks=self.hnsw_walks,
            )
            parts = {
                "question": self.with_question,
                "document": self.with_document,
                "sentence": self.sentence_weight if self.sentence_weight != 1 else 0,
            }
            suffix = "".join(f"-{part}-{w:g}" for part, w in parts.items() if w)
            object.__setattr__(self, "name", strategy.name + suffix)
        if not 0 <= self.with_question <= 1:
            raise ConfigurationError(
                f"Expected with_question from 0 to 1 (got {self.with_question!r})"
            )
        if self.with_document < 0:
            raise ConfigurationError(
                f"Expected with_document of at least 0 (got {self.with_document!r})"
            )
        if self.sentence_weight <= 0:
            raise ConfigurationError(
                f"Expected a positive sentence_weight (got {self.sentence_weight!r})"
            )
        if self.mixes and self.retrieval == "single":
            raise ConfigurationError(
                "Expected retrieval 'maxsim' or 'rerank' for with_question, "
                "with_document and sentence_weight (got 'single'): they change MaxSim"
            )

    @classmethod
    def of(cls, strategy: Strategy) -> NamedStrategy:
        """Return a plain strategy as a system."""
        names = Strategy.__dataclass_fields__
        return cls(**{name: getattr(strategy, name) for name in names})

    @property
    def needs_documents(self) -> bool:
        """Whether posts need a document vector."""
        return super().needs_documents or self.with_document > 0

    @property
    def mixes(self) -> bool:
        """Whether scores are more than MaxSim."""
        is_weighted = self.sentence_weight != 1
        return self.with_question > 0 or self.with_document > 0 or is_weighted


class Queries(NamedTuple):
    """Topics of one task that can be asked, and what is asked."""

    topics: list[TopicId]
    posts: list[PostEntry]

    @classmethod
    def read(cls, topics: Sequence[Topic], store: VectorStore) -> Queries:
        """Find the vectors of topics; topics without are skipped with a warning."""
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
        """Return vectors of the query formulas; others are skipped with a warning."""
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
    device: str = "cpu",
) -> Run:
    """Search for all topics, ``batch_size`` at once; only searches are timed.

    The first query is searched once more before all others: that loads what they find
    loaded, and does not count. With one query at once the time of each is kept.
    """
    lists: dict[TopicId, Hits | FormulaHits] = {}
    times: list[float] = []
    if queries:
        search(queries[:1], depth)
    starts = range(0, len(queries), batch_size)
    for start in report_progress(
        starts,
        f"task {task}, {system}: topics",
        lambda start: min(batch_size, len(queries) - start),
        total=len(queries),
        ends=False,
    ):
        batch = slice(start, start + batch_size)
        started = time.perf_counter()
        found = search(queries[batch], depth)
        times.append(time.perf_counter() - started)
        lists.update(zip(topics[batch], found, strict=True))
    seconds = sum(times)
    logger.info(
        "task %d, %s: %s topics searched in %s",
        task, system, len(lists), format_duration(seconds),
    )  # fmt: skip
    each = dict(zip(topics, times, strict=True)) if batch_size == 1 else {}
    return Run(
        system, lists, task=task, seconds=seconds, query_seconds=each, device=device
    )


def find_questions(
    tables: Iterable[pa.Table], indexed: Container[PostId]
) -> dict[PostId, PostId]:
    """Return the question of each answer, where both are in the index.

    Args:
        tables: posts, with the columns ``post_id`` and ``parent_id``.
        indexed: posts in the index.
    """
    columns = ("post_id", "parent_id")
    return {
        post: parent
        for table in tables
        for post, parent in zip(*(table[c].to_pylist() for c in columns), strict=True)
        if parent in indexed and post in indexed
    }


def search_posts(
    index: VectorIndex,
    store: VectorStore,
    strategy: NamedStrategy,
    question_of: Mapping[PostId, PostId],
    queries: Sequence[PostEntry],
    depth: int,
) -> list[Hits]:
    """Return the best posts for each query, by MaxSim alone or with more.

    Args:
        index: where to search.
        store: the vectors that the index was made from.
        strategy: how to search.
        question_of: question of each answer, where both are in the index.
        queries: the topics.
        depth: posts in a list.
    """
    strategy = replace(strategy, depth=depth)
    if not strategy.mixes:
        return find_posts(index, queries, strategy)
    results = []
    candidates = _list_candidates(index, strategy, question_of, queries)
    for query, keys in zip(queries, candidates, strict=True):
        scores = _mix_scores(query, keys, store, strategy, question_of)
        results.append(Hits.rank(keys, scores).top(depth))
    return results


def _list_candidates(
    index: VectorIndex,
    strategy: NamedStrategy,
    question_of: Mapping[PostId, PostId],
    queries: Sequence[PostEntry],
) -> list[list[PostId]]:
    """Return the best posts by MaxSim, then the answers of the best questions."""
    found = [hits.ids for hits in find_posts(index, queries, strategy)]
    if not strategy.with_question or "answer" not in (strategy.types or ("answer",)):
        return found
    asked = replace(strategy, post_types=("question",))
    questions = [hits.ids for hits in find_posts(index, queries, asked)]
    wanted = {key for keys in questions for key in keys}
    answers_of: dict[PostId, list[PostId]] = {key: [] for key in wanted}
    for answer, question in question_of.items():
        if question in wanted:
            answers_of[question].append(answer)
    return [
        list(dict.fromkeys([*keys, *(a for q in best for a in answers_of[q])]))
        for keys, best in zip(found, questions, strict=True)
    ]


def _mix_scores(
    query: PostEntry,
    keys: Sequence[PostId],
    store: VectorStore,
    strategy: NamedStrategy,
    question_of: Mapping[PostId, PostId],
) -> NDArray[np.float64]:
    r"""Score answers together with their questions and by their document vectors.

    .. math::
        (1 - w) \, S(q, a) + w \, S(q, a \cup b) + \lambda \left(
            (1 - w) \, q_D \cdot a_D + w \, q_D \cdot b_D\right)

    :math:`S` is MaxSim (Eq. 3.7), in whose mean over the query's vectors a sentence
    has ``sentence_weight``; :math:`a \cup b` are the vectors of an answer and of its
    question, :math:`D` is the document vector, :math:`w` is ``with_question`` and
    :math:`\lambda` ``with_document``. A post without a question in the index is its
    own.

    Raises:
        ConfigurationError: document vectors are asked for, and the graphs have none.
    """
    if not keys:
        return np.zeros(0)
    share, weight = strategy.with_question, strategy.with_document
    asked = {k: question_of.get(k, k) if share else k for k in keys}
    places = {k: n for n, k in enumerate(dict.fromkeys([*keys, *asked.values()]))}
    posts = store.read(list(places))
    similarity = query.vectors.astype(np.float64) @ posts.vectors.T.astype(np.float64)
    nearest = np.maximum.reduceat(similarity, posts.ptr[:-1], axis=1)
    answer = np.array([places[k] for k in keys], dtype=np.int64)
    question = np.array([places[asked[k]] for k in keys], dtype=np.int64)
    is_sentence = np.asarray(query.kinds) == SENTENCE
    weights = np.where(is_sentence, strategy.sentence_weight, 1.0)
    weights /= weights.sum()
    together = weights @ np.maximum(nearest[:, answer], nearest[:, question])
    alone = weights @ nearest[:, answer]
    scores: NDArray[np.float64] = (1 - share) * alone + share * together
    if weight:
        whole = query.document()
        if whole is None or (posts.document_rows < 0).any():
            raise ConfigurationError(
                "Expected a document vector for every post for with_document (got "
                "posts without); prepare graphs with preprocessing.graph.structure "
                "'hierarchy' or 'global_maxsim', or drop with_document"
            )
        similar = posts.vectors[posts.document_rows].astype(np.float64) @ whole
        scores += weight * ((1 - share) * similar[answer] + share * similar[question])
    return scores
