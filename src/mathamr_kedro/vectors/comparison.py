"""Given posts compared with a query, by their vectors as they are stored.

Each engine finds candidates in its own way; their scores are computed here, in double
precision unless single is asked for. Queries are rounded as the stored vectors are.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray

from mathamr_kedro.base.ragged import RaggedVectors
from mathamr_kedro.model.maxsim import match_posts
from mathamr_kedro.vectors.post_vectors import Vectors
from mathamr_kedro.vectors.store import LocatedPosts

_POSTS_AT_ONCE = 512
"""Posts whose vectors are compared at once: they stay in the cache."""


def compare_nodes(
    query: Vectors, located: Sequence[LocatedPosts], dtype: str = "float64"
) -> NDArray[np.float64]:
    """Return (N, T): the best product of each query vector in each post (Eq. 3.5).

    Args:
        query: (T, k).
        located: N posts, as :meth:`VectorStore.locate` finds them.
        dtype: precision of the products.
    """
    nearest = np.empty((_count(located), len(query)))
    for posts, rows, places in located:
        nodes = RaggedVectors(posts.vectors, posts.ptr)
        tokens = torch.from_numpy(query.astype(posts.vectors.dtype).astype(dtype))
        for a in range(0, len(rows), _POSTS_AT_ONCE):
            some = slice(a, a + _POSTS_AT_ONCE)
            taken = nodes.take(rows[some]).to("cpu", tokens.dtype)
            nearest[places[some]] = match_posts(tokens, taken).numpy()
    return nearest


def compare_documents(
    query: Vectors, located: Sequence[LocatedPosts], dtype: str = "float64"
) -> NDArray[np.float64]:
    """Return (N,): the product of the document vectors; NaN for a post without one.

    Args:
        query: (k,).
        located: N posts, as :meth:`VectorStore.locate` finds them.
        dtype: precision of the products.
    """
    similar = np.full(_count(located), np.nan)
    for posts, rows, places in located:
        documents = posts.document_rows[rows]
        is_there = documents >= 0
        theirs = posts.vectors[documents[is_there]].astype(dtype)
        mine = query.astype(posts.vectors.dtype).astype(dtype)
        similar[places[is_there]] = theirs @ mine
    return similar


def _count(located: Sequence[LocatedPosts]) -> int:
    return sum(len(part.rows) for part in located)
