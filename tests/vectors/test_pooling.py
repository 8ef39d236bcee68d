"""Pooled vectors against loops over single vectors."""

from __future__ import annotations

import numpy as np
import pytest

from mathamr_kedro.base.errors import ConfigurationError
from mathamr_kedro.base.ragged import RaggedVectors
from mathamr_kedro.vectors.pooling import check_pooling, pool_vectors
from tests.vectors.conftest import slow_maxsim
from tests.vectors.test_scan_torch import unit


def slow_pool(rows, bound):
    """Each vector joins the nearest earlier one that stands for a group, or is one."""
    groups = []
    for row in rows:
        cosines = [float(group[0] @ row) for group in groups]
        if cosines and max(cosines) >= bound:
            groups[cosines.index(max(cosines))].append(row)
        else:
            groups.append([row])
    sums = [np.sum(group, axis=0, dtype=np.float64) for group in groups]
    return np.array([s / np.linalg.norm(s) for s in sums])


def draw_posts(rng):
    """Posts of 1 to 30 vectors around a few directions, one of 300."""
    posts = []
    for count in [*rng.integers(1, 31, 40), 300]:
        centres = unit(rng, 5, 16)
        rows = centres[rng.integers(0, 5, count)] + 0.15 * unit(rng, count, 16)
        posts.append((rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype("f4"))
    return posts


@pytest.mark.parametrize("bound", [0.3, 0.9, 0.97, 1.0])
def test_pooling_equals_loops(bound):
    posts = draw_posts(np.random.default_rng(0))
    pooled = pool_vectors(RaggedVectors.of(posts), bound).posts
    assert len(pooled) == len(posts)
    for place, rows in enumerate(posts):
        mine = pooled.vectors[pooled.ptr[place] : pooled.ptr[place + 1]]
        np.testing.assert_allclose(mine, slow_pool(rows, bound), atol=1e-5)


def test_maxsim_changes_by_no_more_than_the_loss():
    rng = np.random.default_rng(1)
    posts = draw_posts(rng)
    pooled, loss = pool_vectors(RaggedVectors.of(posts), 0.9)
    assert len(pooled.vectors) < 0.5 * sum(map(len, posts))
    assert 0.1 < loss < 0.5
    for place, rows in enumerate(posts):
        mine = pooled.vectors[pooled.ptr[place] : pooled.ptr[place + 1]]
        query = unit(rng, 4, 16)
        assert abs(slow_maxsim(query, rows) - slow_maxsim(query, mine)) <= loss + 1e-6


def test_spare_vectors_and_types_are_kept():
    rows = unit(np.random.default_rng(2), 6, 8).astype("f2")
    rows[3] = rows[2]
    posts = RaggedVectors(rows, np.array([1, 4, 5]))  # the first and the last are spare
    pooled, loss = pool_vectors(posts, 0.999)
    assert pooled.vectors.dtype == np.float16
    assert pooled.ptr.tolist() == [0, 2, 3]
    np.testing.assert_allclose(pooled.vectors, rows[[1, 2, 4]], atol=2e-3)
    assert loss < 2e-3
    assert pool_vectors(posts, None).posts.vectors is rows


@pytest.mark.parametrize("bound", [0.0, -0.5, 1.1])
def test_bounds_that_are_no_cosines_are_refused(bound):
    with pytest.raises(ConfigurationError, match="above 0 and at most 1"):
        check_pooling(bound)
