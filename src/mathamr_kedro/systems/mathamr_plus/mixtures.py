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
(:mod:`~mathamr_kedro.vectors.combination`) with its ``document_weight``.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import torch
from numpy.typing import NDArray

from mathamr_kedro.base.errors import ConfigurationError
from mathamr_kedro.base.hits import Hits
from mathamr_kedro.base.ragged import RaggedVectors
from mathamr_kedro.base.types import PostId
from mathamr_kedro.graph import DOCUMENT
from mathamr_kedro.systems.mathamr_plus.strategies import Strategy, find_posts
from mathamr_kedro.vectors import (
    PostEntry,
    PostReader,
    PostVectors,
    VectorIndex,
)
from mathamr_kedro.vectors.combination import Combination
from mathamr_kedro.vectors.protocol import document_vector
from mathamr_kedro.vectors.rescoring import settle_list

_POSTS_AT_ONCE = 512
"""Posts whose vectors are compared at once: they stay in the cache."""


class Questions(dict[PostId, PostId]):
    """The question of each answer, where both are in the index."""

    @cached_property
    def answers(self) -> dict[PostId, list[PostId]]:
        """Answers of each question."""
        found: dict[PostId, list[PostId]] = {}
        for answer, question in self.items():
            found.setdefault(question, []).append(answer)
        return found


def find_questions(tables: Iterable[pa.Table], indexed: Container[PostId]) -> Questions:
    """Return the question of each answer, where both are in the index.

    Args:
        tables: posts, with the columns ``post_id`` and ``parent_id``.
        indexed: posts in the index.
    """
    columns = ("post_id", "parent_id")
    return Questions(
        (post, parent)
        for table in tables
        for post, parent in zip(*(table[c].to_pylist() for c in columns), strict=True)
        if parent in indexed and post in indexed
    )


def search_posts(
    index: VectorIndex,
    store: PostReader,
    strategy: Strategy,
    question_of: Mapping[PostId, PostId],
    queries: Sequence[PostEntry],
    depth: int,
) -> list[Hits]:
    """Return the best posts for each query, by MaxSim alone or with more.

    Args:
        index: where to search.
        store: vectors of the posts of the index.
        strategy: how to search.
        question_of: question of each answer, where both are in the index; as
            :class:`Questions` its answers are listed once for all calls.
        queries: the topics.
        depth: posts in a list.
    """
    strategy = replace(strategy, depth=depth)
    if not strategy.mixes:
        return find_posts(index, queries, strategy)
    known = question_of if isinstance(question_of, Questions) else None
    threads = Questions(question_of) if known is None else known
    candidates = _list_candidates(index, strategy, threads, queries)
    return [
        _Mixture(query, store, strategy, threads).rank(keys)
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
    store: PostReader
    strategy: Strategy
    questions: Questions

    def rank(self, keys: Sequence[PostId]) -> Hits:
        """Return the best of some posts in the true order.

        All are scored in single precision; those too near to each other to be ordered
        by that, again in double precision.
        """
        if not keys:
            return Hits([], np.zeros(0))
        near = self._compute(keys, torch.float32)
        combine, slack = self._combine(near)
        scores = combine(near)
        depth = min(self.strategy.depth, len(keys))
        last = np.partition(scores, len(scores) - depth)[len(scores) - depth]
        kept = np.flatnonzero(scores >= last - 2 * slack)
        names = [keys[i] for i in kept.tolist()]

        def rescore(places: Sequence[int]) -> list[float]:
            chosen = [names[i] for i in places]
            return combine(self._compute(chosen, torch.float64)).tolist()

        order, exact = settle_list(names, scores[kept], slack, rescore)
        return Hits([names[i] for i in order[:depth]], exact[:depth])

    def _compute(self, keys: Sequence[PostId], dtype: torch.dtype) -> _Parts:
        """Return MaxSim and the similarity of documents, with the share of questions.

        Raises:
            ConfigurationError: documents are asked for, and the graphs have none.
        """
        share = self.strategy.with_question
        asked = [self.questions.get(k, k) for k in keys] if share else keys
        places = {k: n for n, k in enumerate(dict.fromkeys([*keys, *asked]))}
        answer = np.fromiter((places[k] for k in keys), np.int64, len(keys))
        question = np.fromiter((places[k] for k in asked), np.int64, len(keys))
        nearest, similar = _compare(self.query, list(places), self.store, dtype)
        weights = self.strategy.weigh(self.query)
        mixed: NDArray[np.float64] = nearest[answer] @ weights
        if share:
            together = np.maximum(nearest[answer], nearest[question]) @ weights
            mixed = (1 - share) * mixed + share * together
        similar = (1 - share) * similar[answer] + share * similar[question]
        if self._asks_documents and np.isnan(similar).any():
            raise ConfigurationError(
                "Expected a document vector for every post for with_document and "
                "'combined' (got posts without); prepare graphs with "
                "preprocessing.graph.structure 'hierarchy' or 'global_maxsim', or "
                "search by strategy 'maxsim' without with_document"
            )
        return _Parts(mixed, similar)

    @property
    def _asks_documents(self) -> bool:
        strategy = self.strategy
        return strategy.with_document > 0 or strategy.retrieval == "combined"

    def _combine(
        self, candidates: _Parts
    ) -> tuple[Callable[[_Parts], NDArray[np.float64]], float]:
        """Return what makes one score of both, and how far it may be off.

        Single precision is off by at most n 2^-24 in a sum of n products of vectors of
        length 1.
        """
        strategy = self.strategy
        slack = (self.query.vectors.shape[1] + 4) * 2.0**-24
        if strategy.retrieval == "combined":
            both = Combination.of(*candidates, strategy.document_weight)
            return lambda parts: both.add(*parts), both.slack(slack, slack)
        weight = strategy.with_document
        if not weight:
            return lambda parts: parts.mixed, slack
        return lambda parts: parts.mixed + weight * parts.similar, (1 + weight) * slack


class _Parts(NamedTuple):
    mixed: NDArray[np.float64]
    """(N,) MaxSim of posts, with their questions and with weights."""
    similar: NDArray[np.float64]
    """(N,) of document vectors; not a number where one is missing."""


def _compare(
    query: PostEntry, keys: Sequence[PostId], store: PostReader, dtype: torch.dtype
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Compare a query with posts, vector by vector.

    Returns:
        (N, T) the best product of each query vector with the vectors of each post, and
        (N,) the product of the document vectors.
    """
    tokens = torch.from_numpy(query.vectors).to(dtype).T
    kinds = np.asarray(query.kinds)
    whole = np.flatnonzero(kinds == DOCUMENT)[-1:]  # the token, if there is one
    nearest = np.empty((len(keys), len(kinds)))
    similar = np.full(len(keys), np.nan)
    for posts, rows, places in _locate(keys, store):
        nodes = RaggedVectors(posts.vectors, posts.ptr).take(rows)
        products = torch.from_numpy(nodes.vectors).to(dtype) @ tokens
        nearest[places] = torch.segment_reduce(
            products, "max", lengths=torch.from_numpy(nodes.lengths), unsafe=True
        ).numpy()
        documents = posts.document_rows[rows]
        has_both = np.flatnonzero((documents >= 0) & bool(len(whole)))
        row = (documents - posts.ptr[rows] + nodes.ptr[:-1])[has_both]
        similar[places[has_both]] = products.numpy()[row, whole]
    return nearest, similar


def _locate(
    keys: Sequence[PostId], store: PostReader
) -> Iterator[tuple[PostVectors, NDArray[np.int64], NDArray[np.int64]]]:
    """Yield posts, rows of some of them, and the places of their keys, in batches."""
    for posts, rows, places in store.locate(keys):
        for a in range(0, len(rows), _POSTS_AT_ONCE):
            some = slice(a, a + _POSTS_AT_ONCE)
            yield posts, rows[some], places[some]
