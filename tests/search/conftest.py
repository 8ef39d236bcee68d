"""Random posts with vectors, and the slow twins of search."""

from __future__ import annotations

import numpy as np
import pytest

from mathamr_kedro.search.post_vectors import PostEntry, PostVectors
from mathamr_kedro.search.vectors import VectorStore

WIDTH = 8
ENCODER = "encoder-a"


def draw_post(rng, key, formulas=None, sentences=None, width=WIDTH, visuals=40):
    """A post of a few formulas and sentences; every third key is a question."""
    formulas = int(rng.integers(0, 5)) if formulas is None else formulas
    sentences = int(rng.integers(1, 4)) if sentences is None else sentences
    count = formulas + sentences + 1
    return PostEntry(
        key=str(key),
        post_type="question" if int(key) % 3 == 0 else "answer",
        vectors=rng.standard_normal((count, width)),
        kinds=[0] * formulas + [1] * sentences + [2],
        numbers=[*range(formulas), *range(sentences), 0],
        formula_ids=[f"{key}-{i}" for i in range(formulas)],
        visual_ids=[str(rng.integers(0, visuals)) for _ in range(formulas)],
        returnable=[bool(rng.random() < 0.9) for _ in range(formulas)],
    )


def draw_posts(count, seed=0, start=1, **kwargs):
    rng = np.random.default_rng(seed)
    return [draw_post(rng, start + i, **kwargs) for i in range(count)]


def draw_query(seed=0, formulas=2, sentences=2, width=WIDTH):
    post = draw_post(np.random.default_rng(seed + 999), 1, formulas, sentences, width)
    return PostVectors.of([post._replace(post_type="topic", key="A.1")]).entry(0)


def make_store(folder, posts, dtype="float32", per_commit=7):
    width = posts[0].vectors.shape[1]
    with VectorStore.open(folder, ENCODER, width, dtype) as store:
        for a in range(0, len(posts), per_commit):
            store.commit(PostVectors.of(posts[a : a + per_commit]))
    return VectorStore(folder)


def slow_maxsim(query, document):
    """Eq. 3.4 and 3.7, term by term."""
    total = 0.0
    for q in np.asarray(query, dtype=np.float64):
        total += max(
            sum(float(a) * float(b) for a, b in zip(q, d, strict=True))
            for d in np.asarray(document, dtype=np.float64)
        )
    return total / len(query)


def slow_ranking(scores, depth):
    """Best first; equal to nine decimals: the shorter, then the smaller key."""
    order = sorted(scores, key=lambda k: (-round(scores[k], 9), len(k), k))
    return order[:depth]


@pytest.fixture
def posts():
    return draw_posts(60)


@pytest.fixture
def store(tmp_path, posts):
    return make_store(tmp_path / "vectors", posts)
