"""Answers scored together with their questions as they once were: the slow twin.

Candidates are found by two searches in the true order, and the vectors of each query's
candidates are read from the store with all that belongs to them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from mathamr_kedro.base.errors import ConfigurationError
from mathamr_kedro.base.hits import Hits
from mathamr_kedro.base.types import PostId
from mathamr_kedro.graph import SENTENCE
from mathamr_kedro.systems.mathamr_plus import Strategy
from mathamr_kedro.systems.mathamr_plus.strategies import find_posts
from mathamr_kedro.vectors import PostEntry, PostReader, VectorIndex


def search_slowly(
    index: VectorIndex,
    strategy: Strategy,
    question_of: Mapping[PostId, PostId],
    queries: Sequence[PostEntry],
    depth: int,
) -> list[Hits]:
    """Return what ``mathamr_kedro.systems.mathamr_plus.search_posts`` returns."""
    strategy = replace(strategy, depth=depth)
    results = []
    candidates = _list_candidates(index, strategy, question_of, queries)
    for query, keys in zip(queries, candidates, strict=True):
        scores = _mix_scores(query, keys, index.posts, strategy, question_of)
        results.append(Hits.rank(keys, scores).top(depth))
    return results


def _list_candidates(
    index: VectorIndex,
    strategy: Strategy,
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
    store: PostReader,
    strategy: Strategy,
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
