"""Whether the collections of an index hold what its store holds."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import numpy as np

from mathamr_kedro.base.errors import DamagedFileError
from mathamr_kedro.vectors.points import (
    Collections,
    formula_points,
    post_points,
)
from mathamr_kedro.vectors.post_vectors import PostVectors
from mathamr_kedro.vectors.protocol import IndexSize
from mathamr_kedro.vectors.store import VectorStore

logger = logging.getLogger(__name__)


def verify_collections(
    collections: Collections, store: VectorStore, sample: int = 20
) -> None:
    """Compare the counts with the store, and vectors of a sample of posts.

    Raises:
        DamagedFileError: something is missing, doubled or different.
    """
    posts, formulas = (collection.count() for collection in collections)
    IndexSize(posts, formulas, 0, 0, "unknown").check(len(store), store.num_formulas())
    for posts_of_segment in _draw_sample(store, sample):
        _compare_sample(collections, posts_of_segment)
    logger.debug(  # on every opening, also for one question
        "%d posts read back from the index as they are in the store",
        min(sample, len(store)),
    )


def _draw_sample(store: VectorStore, sample: int) -> Iterator[PostVectors]:
    """Yield some posts of the store, chosen by chance but always the same."""
    total = len(store)
    chosen = np.random.default_rng(0).choice(total, min(sample, total), False)
    first = 0
    for segment in store.segments():
        last = first + len(segment.alive)
        inside = np.sort(chosen[(chosen >= first) & (chosen < last)])
        if len(inside):
            yield segment.posts.take(segment.alive[inside - first])
        first = last


def _compare_sample(collections: Collections, posts: PostVectors) -> None:
    for collection, points, space in (
        (collections.posts, list(post_points(posts)), "all"),
        (collections.formulas, list(formula_points(posts)), "formula"),
    ):
        found = collection.fetch([p.point_id for p in points], space)
        for point, vectors in zip(points, found, strict=True):
            expected = np.asarray(point.vectors[space], dtype=np.float32)
            if vectors.shape != expected.shape or not np.allclose(
                vectors, expected, rtol=0, atol=1e-6
            ):
                raise DamagedFileError(
                    f"Expected the vectors of post {point.name('post')!r} in the index "
                    "as in the store; run `kedro run --pipelines indexing` with the "
                    "--env of your run: it builds the index again"
                )
