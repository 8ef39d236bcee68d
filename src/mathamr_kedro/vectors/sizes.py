"""How many vectors there are of each type of post, and the bytes that they take.

A task searches a part of an index (thesis Tables 4.20 and 4.22): answers for Task 1,
formulas for Task 2. An engine keeps all types of post together, so the bytes of a part
are computed from its vectors.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from mathamr_kedro.vectors.post_vectors import POST_TYPES
from mathamr_kedro.vectors.store import VectorStore


class TypeCounts(NamedTuple):
    """What an index holds of one type of post."""

    posts: int
    vectors: int
    """In the space ``all``: formulas, sentences and documents."""
    documents: int
    """The document vectors once more, in the space ``doc``."""
    formulas: int
    """In the space ``formula``: those that Task 2 may return."""


def count_by_type(store: VectorStore) -> dict[str, TypeCounts]:
    """Count posts and vectors, part by part; types without posts are skipped."""
    totals = np.zeros((len(POST_TYPES), len(TypeCounts._fields)), dtype=np.int64)
    for posts in store.parts:
        owners = posts.formula_posts[posts.returnable]
        columns = (
            np.ones(len(posts)),
            np.diff(posts.ptr),
            posts.document_rows >= 0,
            np.bincount(owners, minlength=len(posts)),
        )
        for column, counts in enumerate(columns):
            of_type = np.bincount(posts.post_types, counts, len(POST_TYPES))
            totals[:, column] += of_type.astype(np.int64)
    return {
        name: TypeCounts(*map(int, row))
        for name, row in zip(POST_TYPES, totals, strict=True)
        if row[0]
    }


def compute_bytes(
    counts: Mapping[str, TypeCounts], width: int, number_bytes: int
) -> dict[str, tuple[int, int]]:
    r"""Compute what vectors take: those of posts, and those of formulas, by type.

    .. math::
        (\text{vectors} + \text{documents}) \cdot k \cdot b, \quad
        \text{formulas} \cdot k \cdot b

    with :math:`k` numbers of :math:`b` bytes in a vector, for an index with the two
    spaces of thesis 3.5.1 and the one of formulas.

    >>> compute_bytes({"answer": TypeCounts(1, 16, 1, 8)}, width=32, number_bytes=4)
    {'answer': (2176, 1024)}
    """
    size = width * number_bytes
    return {
        name: ((found.vectors + found.documents) * size, found.formulas * size)
        for name, found in counts.items()
    }
