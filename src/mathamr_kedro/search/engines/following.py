"""Bringing the collections of an index up to date with the store, and checking them."""

from __future__ import annotations

import itertools
import logging
from collections.abc import Iterator
from typing import TypeAlias

import numpy as np

from mathamr_kedro.errors import MalformedInputError
from mathamr_kedro.progress import report_progress
from mathamr_kedro.search.engines.points import (
    Point,
    PointCollection,
    formula_point_id,
    formula_points,
    in_batches,
    post_point_id,
    post_points,
)
from mathamr_kedro.search.engines.qdrant import Collections
from mathamr_kedro.search.store import VectorStore
from mathamr_kedro.search.store_files import Changes

logger = logging.getLogger(__name__)

Batch: TypeAlias = tuple[PointCollection, list[Point]]
_DELETED_AT_ONCE = 10_000


def list_batches(collections: Collections, changes: Changes) -> Iterator[Batch]:
    """Yield what is to be written, always in the same order."""
    for posts in changes.written():
        for batch in in_batches(post_points(posts)):
            yield collections.posts, batch
        for batch in in_batches(formula_points(posts)):
            yield collections.formulas, batch


def apply_changes(
    collections: Collections, changes: Changes, done: int = 0
) -> Iterator[int]:
    """Delete and write points; yield the number of batches written so far.

    Args:
        collections: where to.
        changes: what to do.
        done: batches that were written before a kill, to be passed over.
    """
    _delete(collections, changes)
    batches = itertools.islice(list_batches(collections, changes), done, None)
    counted = report_progress(batches, "points", lambda batch: len(batch[1]))
    for number, (collection, batch) in enumerate(counted, start=done + 1):
        collection.upsert(batch)
        yield number


def _delete(collections: Collections, changes: Changes) -> None:
    posts = [post_point_id(key) for key in sorted(changes.deleted)]
    formulas = [
        formula_point_id(key, place)
        for key, count in sorted(changes.buried.items())
        for place in range(count)
    ]
    for collection, ids in (
        (collections.posts, posts),
        (collections.formulas, formulas),
    ):
        for a in range(0, len(ids), _DELETED_AT_ONCE):
            collection.delete(ids[a : a + _DELETED_AT_ONCE])


def verify_collections(
    collections: Collections, store: VectorStore, sample: int = 20
) -> None:
    """Compare the counts with the store, and vectors of a sample of posts.

    Raises:
        MalformedInputError: something is missing, doubled or different.
    """
    for name, found, expected in (
        ("posts", collections.posts.count(), len(store)),
        ("formulas", collections.formulas.count(), store.num_formulas()),
    ):
        if found != expected:
            raise MalformedInputError(
                f"Expected {expected} {name} in the index (got {found}); delete the "
                "index and build it anew"
            )
    keys = sorted(store.keys())
    if not keys:
        return
    chosen = np.random.default_rng(0).choice(len(keys), min(sample, len(keys)), False)
    _compare_sample(collections, store, [keys[i] for i in chosen])


def _compare_sample(
    collections: Collections, store: VectorStore, keys: list[str]
) -> None:
    posts = store.read(keys)
    for collection, points, space in (
        (collections.posts, list(post_points(posts)), "all"),
        (collections.formulas, list(formula_points(posts)), "formula"),
    ):
        found = collection.fetch([p.point_id for p in points], space)
        for point, vectors in zip(points, found, strict=True):
            expected = np.asarray(point.vectors[space], dtype=np.float32)
            if not np.allclose(vectors, expected, rtol=0, atol=1e-6):
                raise MalformedInputError(
                    f"Expected the vectors of post {str(point.payload['post'])!r} in "
                    "the index as in the store; delete the index and build it anew"
                )
    logger.info("%d posts read back from the index as they are in the store", len(keys))
