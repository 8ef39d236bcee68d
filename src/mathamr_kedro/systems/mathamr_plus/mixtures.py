r"""Posts by more than the MaxSim of their own vectors.

::

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
``with_document`` for :math:`\lambda`, or the standardised sum of ``combined``
(:func:`combine_scores`) with its ``document_weight``.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from mathamr_kedro.base.errors import ConfigurationError
from mathamr_kedro.base.hits import DECIMALS, Hits
from mathamr_kedro.base.types import PostId
from mathamr_kedro.systems.mathamr_plus.strategies import Strategy, find_posts
from mathamr_kedro.vectors import PostEntry, PostReader, VectorIndex
from mathamr_kedro.vectors.comparison import compare_documents, compare_nodes
from mathamr_kedro.vectors.protocol import document_vector
from mathamr_kedro.vectors.rescoring import rescore_candidates


class Questions(dict[PostId, PostId]):
    """The question of each answer, if both are in the index."""

    @cached_property
    def answers(self) -> dict[PostId, list[PostId]]:
        """Answers of each question."""
        found: dict[PostId, list[PostId]] = {}
        for answer, question in self.items():
            found.setdefault(question, []).append(answer)
        return found


def find_questions(tables: Iterable[pa.Table], indexed: Container[PostId]) -> Questions:
    """Return the question of each answer, if both are in the index."""
    columns = ("post_id", "parent_id")
    return Questions(
        (post, parent)
        for table in tables
        for post, parent in zip(*(table[c].to_pylist() for c in columns), strict=True)
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
    if not strategy.mixes and strategy.retrieval != "combined":
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
    if strategy.retrieval in ("single", "rerank"):
        found = [
            find_posts(index, queries, replace(strategy, post_types=some))
            for some in types
        ]
        return [[hits.ids for hits in each] for each in zip(*found, strict=True)]
    sets = [frozenset(some) or None for some in types]
    matrices, mode = [q.vectors for q in queries], strategy.mode
    if strategy.retrieval == "maxsim":
        return index.list_best(matrices, strategy.depth, mode, sets)
    # Whatever either list of ``combined`` has; both scores are computed later.
    depth, documents = strategy.candidates, [document_vector(q) for q in queries]
    similar = [index.search_documents(documents, depth, mode, some) for some in sets]
    return [
        [[*ids, *hits.ids] for ids, hits in zip(near, alike, strict=True)]
        for near, *alike in zip(
            index.list_best(matrices, depth, mode, sets), *similar, strict=True
        )
    ]


class _Mixture(NamedTuple):
    """What answers are scored by, together with their questions."""

    query: PostEntry
    posts: PostReader
    strategy: Strategy
    questions: Questions

    def rank(self, keys: Sequence[PostId]) -> Hits:
        """Return the best of some posts in the true order.

        All are scored in single precision; those too near to each other to be ordered
        by that, again in double precision. Standardised scores, whose errors grow
        where candidates are alike, are computed in double precision from the start.
        """
        if not keys:
            return Hits([], np.zeros(0))
        strategy, depth = self.strategy, min(self.strategy.depth, len(keys))
        if strategy.retrieval == "combined":
            parts = self._compute(keys, "float64")
            scores = combine_scores(*parts, strategy.document_weight)
            return Hits.rank(keys, scores).top(depth)
        scores = self._add(*self._compute(keys, "float32"))
        # A sum of n products of vectors of length 1 is off by at most n 2^-24.
        terms = self.query.vectors.shape[1] + 4
        slack = (1 + strategy.with_document) * terms * 2.0**-24
        last = np.partition(scores, len(scores) - depth)[len(scores) - depth]
        kept = np.flatnonzero(scores >= last - 2 * slack)
        names = [keys[i] for i in kept.tolist()]

        def rescore(places: Sequence[int]) -> list[float]:
            chosen = [names[i] for i in places]
            return self._add(*self._compute(chosen, "float64")).tolist()

        order, exact = rescore_candidates(names, scores[kept], slack, rescore)
        return Hits([names[i] for i in order[:depth]], exact[:depth])

    def _add(
        self, mixed: NDArray[np.float64], similar: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        weight = self.strategy.with_document
        return mixed + weight * similar if weight else mixed

    def _compute(
        self, keys: Sequence[PostId], dtype: str
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return MaxSim and the similarity of documents, with the share of questions.

        Raises:
            ConfigurationError: documents are asked for, and the graphs have none.
        """
        share = self.strategy.with_question
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
        if not self.strategy.with_document and self.strategy.retrieval != "combined":
            return mixed, np.zeros(len(keys))
        whole = document_vector(self.query)
        similar = compare_documents(whole, located, dtype)
        similar = (1 - share) * similar[answer] + share * similar[question]
        if np.isnan(similar).any():
            raise ConfigurationError(
                "Expected a document vector for every post for with_document and "
                "'combined' (got posts without); prepare graphs with "
                "preprocessing.graph.structure 'hierarchy' or 'global_maxsim', or "
                "search by strategy 'maxsim' without with_document"
            )
        return mixed, similar


def combine_scores(
    maxsim: NDArray[np.float64], documents: NDArray[np.float64], weight: float = 1.0
) -> NDArray[np.float64]:
    r"""Add two scores of a query's candidates, each in its own standard deviations.

    ::

        post    MaxSim   standardised    documents   standardised    sum (weight 1)
        a        .62         +1.22          .40          -0.27          +0.96
        b        .50          0             .70          +1.34          +1.34
        c        .38         -1.22          .25          -1.07          -2.29

    .. math::
        \frac{S_d - \bar{S}}{\sigma_S} + \lambda \frac{C_d - \bar{C}}{\sigma_C}

    :math:`S` is MaxSim (Eq. 3.7), :math:`C` the cosine of document vectors,
    :math:`\lambda` the ``document_weight``. Means and deviations are those of the
    candidates, the best posts by either score: only an engine that scans everything
    could tell those of all posts. Scores that are all equal add nothing.

    >>> combine_scores(np.array([0.2, 0.4]), np.array([0.5, 0.5])).round(6).tolist()
    [-1.0, 1.0]
    """
    total = np.zeros(len(maxsim))
    for scores, part in ((maxsim, 1.0), (documents, weight)):
        deviation = float(scores.std())
        if deviation > 10.0**-DECIMALS:  # otherwise only rounding sets them apart
            total += part * (scores - scores.mean()) / deviation
    return total
