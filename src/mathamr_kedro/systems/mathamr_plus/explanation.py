"""What the score of a post is the sum of: the best partner of each query vector."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from mathamr_kedro.base.types import PostId
from mathamr_kedro.graph import DOCUMENT
from mathamr_kedro.systems.base import Term
from mathamr_kedro.systems.mathamr_plus.strategies import Strategy
from mathamr_kedro.vectors import PostEntry, PostReader
from mathamr_kedro.vectors.protocol import document_vector


def list_terms(
    strategy: Strategy,
    query: PostEntry,
    key: PostId,
    store: PostReader,
    question_of: Mapping[PostId, PostId],
) -> tuple[Term, ...]:
    """Return what the score of a post is the sum of (``mixtures``).

    Empty if it depends on the other candidates too, or on a part of the query.
    """
    if strategy.retrieval == "combined" or strategy.query_parts != "all":
        return ()
    share, weight = strategy.with_question, strategy.with_document
    keys = [key, question_of.get(key, key) if share else key]
    posts = list(store.read(keys).entries())
    if strategy.retrieval == "single":
        return _compare_documents(query, posts[:1], [1.0])
    terms: list[Term] = []
    near = [query.vectors.astype("f8") @ p.vectors.T.astype("f8") for p in posts]
    for row, part in enumerate(strategy.weigh(query).tolist()):
        places = [int(found[row].argmax()) for found in near]
        best = [float(f[row, place]) for f, place in zip(near, places, strict=True)]
        own, beside = (1 - share) * part, share * part
        if best[1] <= best[0]:  # the question has nothing nearer
            own, beside = part, 0.0
        for owner, place, similarity, part_of in zip(
            keys, places, best, (own, beside), strict=True
        ):
            if part_of:
                terms.append(Term(row, owner, place, similarity, part_of))
    if weight:
        both = [weight * (1 - share), weight * share]
        shares = both if keys[1] != key else [weight, 0.0]  # its own question
        terms += _compare_documents(query, posts, shares)
    return tuple(terms)


def _compare_documents(
    query: PostEntry, posts: Sequence[PostEntry], weights: Sequence[float]
) -> tuple[Term, ...]:
    row, mine = list(query.kinds).index(DOCUMENT), document_vector(query)
    return tuple(
        Term(
            row,
            post.key,
            list(post.kinds).index(DOCUMENT),
            float(mine.astype(np.float64) @ document_vector(post)),
            weight,
            "document vectors",
        )
        for post, weight in zip(posts, weights, strict=True)
        if weight
    )
