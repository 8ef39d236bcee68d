r"""From queries to ranked lists: six ways to find posts, one to find formulas.

==========  ================================================  =======================
retrieval   what is compared (thesis 3.5.2)                   search
==========  ================================================  =======================
single      document vector with document vector              exact or hnsw
rerank      the same for candidates, then MaxSim of these     exact or hnsw, then exact
maxsim      MaxSim over all vectors                           exact or hnsw
==========  ================================================  =======================

Posts may be found by more than the MaxSim of their own vectors::

    candidates    the best answers, and the answers of the best questions
    compared      each of them and its question once, all vectors in one product
    nearest       (posts, query vectors): the best partner of each query vector
    mixed         answers and their questions, sentences, document vectors as weighted

.. math::
    M = (1 - w) \, S(q, a) + w \, S(q, a \cup b) \qquad
    C = (1 - w) \, q_D \cdot a_D + w \, q_D \cdot b_D

:math:`S` is MaxSim (Eq. 3.7), in whose mean over the query's vectors a sentence has
``sentence_weight``; :math:`a \cup b` are the vectors of an answer and of its question,
:math:`D` is the document vector and :math:`w` is ``with_question``. A post without a
question in the index is its own. The score is :math:`M + \lambda C` with
``with_document`` for :math:`\lambda`.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from mathamr_kedro.base.errors import ConfigurationError
from mathamr_kedro.base.hits import FormulaHits, Hits, rank_ids
from mathamr_kedro.base.parameters import check_range
from mathamr_kedro.base.types import PostId
from mathamr_kedro.corpus import QueryParts
from mathamr_kedro.graph import SENTENCE, find_owner
from mathamr_kedro.systems.base import TASK_1_TYPES
from mathamr_kedro.vectors import PostReader
from mathamr_kedro.vectors.post_vectors import PostEntry, Vectors
from mathamr_kedro.vectors.protocol import (
    PostTypes,
    SearchMode,
    VectorIndex,
    check_post_types,
    document_vector,
)
from mathamr_kedro.vectors.rescoring import Choice
from mathamr_kedro.vectors.store import compare_documents, compare_nodes

if TYPE_CHECKING:
    from mathamr_kedro.vectors import EngineConfig


@dataclass(frozen=True)
class Strategy:
    """How posts are found for Task 1."""

    retrieval: Literal["single", "rerank", "maxsim"] = "maxsim"
    search: Literal["exact", "hnsw"] = "exact"
    candidates: int = 1000
    """The ``k`` of ``rerank``: 1000 and 5000 in Tables 4.15 and 4.16."""
    hnsw_ef: int = 128
    """Thesis 3.5.2."""
    depth: int = 1000
    """Posts returned; ARQMath counts 1000."""
    post_types: tuple[str, ...] = TASK_1_TYPES
    """Types of post that may be returned; empty: all. Task 1 asks for answers."""
    name: str = ""
    """In tables and run files; by default what it does, e.g. ``rerank-5000-hnsw``."""
    with_question: float = 0.0
    """Beyond the thesis: share of MaxSim over an answer and its question together."""
    with_document: float = 0.0
    """Beyond the thesis: weight of the similarity of document vectors beside MaxSim."""
    sentence_weight: float = 1.0
    """Beyond the thesis: of a query's sentences in the mean of MaxSim; formulas and
    the document have 1."""
    query_parts: QueryParts = "all"
    """What of a topic is asked: only its words or only its formulas have graphs of
    their own (``amr_parsing.query_parts``)."""

    def __post_init__(self) -> None:
        check_range(self, "candidates", "hnsw_ef", "depth", least=1)
        check_range(self, "with_document", least=0)
        check_range(self, "with_question", least=0, most=1)
        check_range(self, "sentence_weight", above=0)
        check_post_types(self.types)
        if self.mixes and self.retrieval == "single":
            raise ConfigurationError(
                "Expected retrieval 'maxsim' or 'rerank' for with_question, "
                "with_document and sentence_weight (got 'single'): they change MaxSim"
            )
        if not self.name:
            object.__setattr__(self, "name", self._describe())

    def check_engine(self, engine: EngineConfig) -> None:
        """Refuse an engine that cannot search like this.

        Raises:
            ConfigurationError: an HNSW graph is asked for that it does not build.
        """
        if self.search != "hnsw":
            return
        space = "all" if self.retrieval == "maxsim" else "doc"
        if engine.engine == "exact":
            remedy = "indexing.engine.engine 'edge' or 'server'"
        elif not getattr(engine.hnsw, f"{space}_m"):
            remedy = f"indexing.engine.hnsw.{space}_m 16"
        else:
            return
        raise ConfigurationError(
            f"Expected HNSW graphs in the index for {self.retrieval!r} by 'hnsw' (got "
            f"engine {engine.engine!r} without); choose {remedy}, or search 'exact'"
        )

    @property
    def needs_documents(self) -> bool:
        """Whether posts need a document vector."""
        return self.retrieval != "maxsim" or self.with_document > 0

    @property
    def mixes(self) -> bool:
        """Whether scores are more than MaxSim."""
        is_weighted = self.sentence_weight != 1
        return self.with_question > 0 or self.with_document > 0 or is_weighted

    def _describe(self) -> str:
        """Return the name of what it does.

        >>> Strategy("rerank", "hnsw", candidates=5000).name
        'rerank-5000-hnsw'
        >>> Strategy(with_question=0.5, sentence_weight=0.3).name
        'maxsim-exact-question-0.5-sentence-0.3'
        """
        middle = f"-{self.candidates}" if self.retrieval == "rerank" else ""
        weights = {
            "question": self.with_question,
            "document": self.with_document,
            "sentence": self.sentence_weight if self.sentence_weight != 1 else 0,
        }
        end = "".join(f"-{part}-{w:g}" for part, w in weights.items() if w)
        end += "" if self.query_parts == "all" else f"-{self.query_parts}"
        return f"{self.retrieval}{middle}-{self.search}{end}"

    def weigh(self, query: PostEntry) -> NDArray[np.float64]:
        """Return the weights of a query's vectors in the mean of MaxSim."""
        is_sentence = np.asarray(query.kinds) == SENTENCE
        weights = np.where(is_sentence, self.sentence_weight, 1.0)
        found: NDArray[np.float64] = weights / weights.sum()
        return found

    @property
    def mode(self) -> SearchMode:
        """How candidates are found."""
        return SearchMode(self.search == "exact", self.hnsw_ef)

    @property
    def types(self) -> PostTypes:
        """Types that may be returned."""
        return frozenset(self.post_types) or None


def find_posts(
    index: VectorIndex, queries: Sequence[PostEntry], strategy: Strategy
) -> list[Hits]:
    """Return the best posts for each query by one comparison (Task 1).

    Scores made of several are those of :func:`search_posts`.
    """
    if not queries:
        return []
    depth, mode, types = strategy.depth, strategy.mode, strategy.types
    if strategy.retrieval == "single":
        documents = [document_vector(q) for q in queries]
        return index.search_documents(documents, depth, mode, types)
    if strategy.retrieval == "rerank":
        return index.search_reranked(queries, strategy.candidates, depth, mode, types)
    return index.search_maxsim([q.vectors for q in queries], depth, mode, types)


def find_formulas(
    index: VectorIndex,
    queries: Sequence[Vectors],
    depth: int = 1000,
) -> list[FormulaHits]:
    """Return the best formulas for each query, each visual id once (Task 2).

    A visual id has the rank of its best instance. Only formulas on the list of
    returnable ones are returned; one of a comment names the post it belongs to.
    """
    results: dict[int, FormulaHits] = {}
    waiting = list(range(len(queries)))
    fetch = 2 * depth
    while waiting:
        found = index.search_formulas([queries[i] for i in waiting], fetch)
        again = []
        for i, hits in zip(waiting, found, strict=True):
            best = hits.first_instances().top(depth)
            owners = [find_owner(key) for key in best.post_ids]
            results[i] = replace(best, post_ids=owners)
            if len(results[i]) < depth and len(hits) == fetch:
                again.append(i)
        waiting, fetch = again, 4 * fetch
    return [results[i] for i in range(len(queries))]


class Questions(dict[PostId, PostId]):
    """The question of each answer, if both are in the index."""

    @cached_property
    def answers(self) -> dict[PostId, list[PostId]]:
        """Answers of each question."""
        found: dict[PostId, list[PostId]] = {}
        for answer, question in self.items():
            found.setdefault(question, []).append(answer)
        return found


def find_questions(
    parents: Iterable[tuple[PostId, PostId]], indexed: Container[PostId]
) -> Questions:
    """Return the question of each answer, if both are in the index."""
    return Questions(
        (post, parent)
        for post, parent in parents
        if parent in indexed and post in indexed
    )


def search_posts(
    index: VectorIndex,
    strategy: Strategy,
    question_of: Mapping[PostId, PostId],
    queries: Sequence[PostEntry],
    depth: int,
) -> list[Hits]:
    """Return the best posts for each query, by MaxSim only or with more.

    Args:
        index: where to search.
        strategy: how to search.
        question_of: question of each answer, if both are in the index; as
            :class:`Questions` its answers are listed once for all calls.
        queries: the topics.
        depth: posts in a list.
    """
    strategy = replace(strategy, depth=depth)
    if not strategy.mixes:
        return find_posts(index, queries, strategy)
    threads = (
        question_of if isinstance(question_of, Questions) else Questions(question_of)
    )
    candidates = _list_candidates(index, strategy, threads, queries)
    return [
        _Mixture(query, index.posts, strategy, threads).rank(keys)
        for query, keys in zip(queries, candidates, strict=True)
    ]


def _list_candidates(
    index: VectorIndex,
    strategy: Strategy,
    questions: Questions,
    queries: Sequence[PostEntry],
) -> list[list[PostId]]:
    """Return the best posts by the strategy, then the answers of the best questions."""
    types = [strategy.post_types]
    if strategy.with_question and "answer" in (strategy.types or ("answer",)):
        types.append(("question",))
    lists = _list_best(index, strategy, types, queries)
    return [
        list(
            dict.fromkeys(
                [
                    *found[0],
                    *(a for best in found[1:] for q in best
                      for a in questions.answers.get(q, ())),
                ]
            )
        )
        for found in lists
    ]  # fmt: skip


def _list_best(
    index: VectorIndex,
    strategy: Strategy,
    types: Sequence[tuple[str, ...]],
    queries: Sequence[PostEntry],
) -> list[list[list[PostId]]]:
    """Return the best posts of each of some types, for each query."""
    if strategy.retrieval == "rerank":
        found = [
            find_posts(index, queries, replace(strategy, post_types=some))
            for some in types
        ]
        return [[hits.ids for hits in each] for each in zip(*found, strict=True)]
    matrices = [q.vectors for q in queries]
    sets = [frozenset(some) or None for some in types]
    return index.list_best(matrices, strategy.depth, strategy.mode, sets)


class _Mixture(NamedTuple):
    """What answers are scored by, together with their questions."""

    query: PostEntry
    posts: PostReader
    strategy: Strategy
    questions: Questions

    def rank(self, keys: Sequence[PostId]) -> Hits:
        """Return the best of some posts in the true order.

        All are scored in single precision; those too near to each other to be ordered
        by that, again in double precision.
        """
        if not keys:
            return Hits([], np.zeros(0))
        strategy, depth = self.strategy, min(self.strategy.depth, len(keys))

        def score(places: Tensor, dtype: str) -> Tensor:
            chosen = [keys[i] for i in places.tolist()]
            return torch.from_numpy(self._compute(chosen, dtype))

        places = torch.arange(len(keys))
        # A sum of n products of vectors of length 1 is off by at most n 2^-24.
        terms = self.query.vectors.shape[1] + 4
        ((best, scores),) = Choice(
            score(places, "float32")[None],
            places,
            depth,
            slack=(1 + strategy.with_document) * terms * 2.0**-24,
            rescore=lambda _, some: score(some, "float64"),
            rank=lambda some: rank_ids([keys[i] for i in some.tolist()]),
        ).finish()
        return Hits([keys[i] for i in best.tolist()], scores)

    def _compute(self, keys: Sequence[PostId], dtype: str) -> NDArray[np.float64]:
        """Return MaxSim and the similarity of documents, with the share of questions.

        Raises:
            ConfigurationError: documents are asked for, and the graphs have none.
        """
        share, weight = self.strategy.with_question, self.strategy.with_document
        asked = [self.questions.get(k, k) for k in keys] if share else keys
        places = {k: n for n, k in enumerate(dict.fromkeys([*keys, *asked]))}
        answer = np.fromiter((places[k] for k in keys), np.int64, len(keys))
        question = np.fromiter((places[k] for k in asked), np.int64, len(keys))
        located = self.posts.locate(list(places))
        nearest = compare_nodes(self.query.vectors, located, dtype)
        weights = self.strategy.weigh(self.query)
        mixed: NDArray[np.float64] = nearest[answer] @ weights
        if share:
            together = np.maximum(nearest[answer], nearest[question]) @ weights
            mixed = (1 - share) * mixed + share * together
        if not weight:
            return mixed
        whole = document_vector(self.query)
        similar = compare_documents(whole, located, dtype)
        similar = (1 - share) * similar[answer] + share * similar[question]
        if np.isnan(similar).any():
            raise ConfigurationError(
                "Expected a document vector for every post for with_document (got "
                "posts without); prepare graphs with preprocessing.graph.structure "
                "'hierarchy' or 'global_maxsim', or search without with_document"
            )
        return mixed + weight * similar
