"""Random posts with vectors, and the slow twins of search."""

from __future__ import annotations

import numpy as np
import pytest

from mathamr_kedro.vectors.post_vectors import PostEntry, PostVectors
from mathamr_kedro.vectors.store import GraphRange, StoreWriter, VectorStore

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


def make_store(folder, posts, dtype="float32", per_shard=7, encoder=ENCODER):
    width = posts[0].vectors.shape[1]
    with StoreWriter(folder, encoder, width, dtype) as writer:
        for a in range(0, len(posts), per_shard):
            some = posts[a : a + per_shard]
            writer.write(PostVectors.of(some), GraphRange("posts", a, a + len(some)))
        writer.complete()
    return VectorStore(folder)


def slow_maxsim(query, document):
    """Eq. 3.4 and 3.7, one product after another."""
    query, document = (np.asarray(x, dtype=np.float64) for x in (query, document))
    total = 0.0
    for q in query:
        total += max(float(q @ d) for d in document)
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


class SlowIndex:
    """The twin of every engine: loops over posts as they were given."""

    def __init__(self, posts):
        self.posts = list(PostVectors.of(posts).entries())

    def documents(self, query, depth, types=None):
        scores = {
            p.key: slow_maxsim(query[None], p.document()[None])
            for p in self.posts
            if types is None or p.post_type in types
        }
        return slow_ranking(scores, depth), scores

    def maxsim(self, query, depth, types=None):
        scores = {
            p.key: slow_maxsim(query, p.vectors)
            for p in self.posts
            if types is None or p.post_type in types
        }
        return slow_ranking(scores, depth), scores

    def walk_per_vector(self, query, ef, depth, types=None):
        """Thesis 3.5.2: the best ``ef`` posts of each vector, ordered by MaxSim."""
        union = set()
        for row in query:
            union.update(self.maxsim(row[None], ef, types)[0])
        order, scores = self.maxsim(query, len(self.posts), types)
        return [key for key in order if key in union][:depth], scores

    def formulas(self, query, depth, distinct=False):
        """Formula ids of the best instances, or of the best visual ids."""
        scores, visual = {}, {}
        for p in self.posts:
            flags = zip(p.formula_ids, p.visual_ids, p.returnable, strict=True)
            for i, v, returnable in flags:
                if returnable:
                    scores[i] = slow_maxsim(query[None], p.formula(i)[None])
                    visual[i] = v
        order = slow_ranking(scores, len(scores))
        if distinct:
            first: dict[str, str] = {}
            for i in order:
                first.setdefault(visual[i], i)
            order = list(first.values())
        return order[:depth], scores


def check_hits(hits, truth):
    """Same order, and the scores of the double loop."""
    order, scores = truth
    assert hits.ids == order
    np.testing.assert_allclose(hits.scores, [scores[k] for k in order], atol=1e-6)


def check_engine(index, twin, depth=20, types=None, width=WIDTH):
    """Every exact search of an engine against the twin."""
    sizes = ((1, 2, 2), (2, 0, 2), (3, 0, 0))  # seed, formulas, sentences
    queries = [draw_query(*size, width) for size in sizes]
    for query in queries:
        document = query.document()
        (hits,) = index.search_maxsim([query.vectors], depth, types=types)
        check_hits(hits, twin.maxsim(query.vectors, depth, types))
        (hits,) = index.search_documents([document], depth, types=types)
        check_hits(hits, twin.documents(document, depth, types))
        (hits,) = index.search_reranked([query], 9, depth, types=types)
        pool, _ = twin.documents(document, 9, types)
        order, scores = twin.maxsim(query.vectors, 10_000, types)
        check_hits(hits, ([k for k in order if k in pool][:depth], scores))
        (lists,) = index.list_best([query.vectors], depth, types=[types, None])
        for found, wanted in zip(lists, (types, None), strict=True):
            assert {*found} == {*twin.maxsim(query.vectors, depth, wanted)[0]}
        (found,) = index.search_formulas([document], depth)
        order, scores = twin.formulas(document, depth)
        assert found.ids == order
        np.testing.assert_allclose(found.scores, [scores[k] for k in order], atol=1e-6)
