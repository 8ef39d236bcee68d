"""The exact engine equals loops: filtered, in any precision."""

from __future__ import annotations

import numpy as np
import pytest

from mathamr_kedro.base.errors import ConfigurationError, MissingInputError
from mathamr_kedro.vectors import exact, rescoring
from mathamr_kedro.vectors.exact import ExactIndex
from mathamr_kedro.vectors.post_vectors import PostEntry, PostVectors
from mathamr_kedro.vectors.protocol import SearchMode
from mathamr_kedro.vectors.store import StoreWriter, VectorStore
from tests.vectors.conftest import (
    ENCODER,
    WIDTH,
    SlowIndex,
    check_engine,
    check_hits,
    draw_posts,
    draw_query,
    make_store,
    slow_maxsim,
)

QUERIES = [draw_query(1), draw_query(2, formulas=0), draw_query(3, 0, 0)]


def check_index(index, twin, depth=20):
    matrices = [q.vectors for q in QUERIES]
    documents = [q.document() for q in QUERIES]
    for query, hits in zip(matrices, index.search_maxsim(matrices, depth), strict=True):
        check_hits(hits, twin.maxsim(query, depth))
    found = index.search_documents(documents, depth)
    for query, hits in zip(documents, found, strict=True):
        check_hits(hits, twin.documents(query, depth))
    found = index.search_formulas(documents, depth)
    for query, hits in zip(documents, found, strict=True):
        order, scores = twin.formulas(query, depth)
        assert hits.ids == order
        np.testing.assert_allclose(hits.scores, [scores[k] for k in order], atol=1e-6)


SCANS = ("float32", "int8")  # of so few posts int8 scores all again


@pytest.mark.parametrize("scan", SCANS)
@pytest.mark.parametrize("depth", [1, 20, 1000])
def test_every_search_equals_loops(store, posts, scan, depth):
    check_index(ExactIndex(store, scan=scan), SlowIndex(posts), depth)


def test_posts_that_have_only_a_document_vector_are_found(tmp_path):
    posts = draw_posts(5, formulas=0, sentences=0)
    index, query = ExactIndex(make_store(tmp_path, posts)), QUERIES[0].document()
    (hits,) = index.search_documents([query], 5)
    check_hits(hits, SlowIndex(posts).documents(query, 5))
    assert len(hits) == 5


@pytest.mark.parametrize("scan", SCANS)
@pytest.mark.parametrize("types", [None, frozenset({"answer"})])
def test_both_scores_and_lists_of_the_best_equal_loops(store, posts, scan, types):
    check_engine(ExactIndex(store, scan=scan), SlowIndex(posts), 20, types)


def test_rescoring_finds_most_of_the_best_and_scores_them_truly(tmp_path, monkeypatch):
    """Vectors crowd around centres, as real ones do, only less."""
    monkeypatch.setattr(rescoring, "RESCORED", 20)
    rng, centres = (
        np.random.default_rng(0),
        np.random.default_rng(9).normal(size=(8, 64)),
    )
    posts = draw_posts(400, formulas=3, sentences=2, width=64)
    for post in posts:
        post.vectors[:] = centres[rng.integers(0, 8, 6)] + rng.normal(size=(6, 64))
    store = make_store(tmp_path, posts, per_shard=200)
    truth = ExactIndex(store)
    index = ExactIndex(store, scan="int8")
    queries = [draw_query(n, width=64).vectors + centres[n] for n in range(8)]
    queries = [q / np.linalg.norm(q, axis=1, keepdims=True) for q in queries]
    shares = []
    for query, expected, hits in zip(
        queries,
        truth.search_maxsim(queries, 20),
        index.search_maxsim(queries, 20),
        strict=True,
    ):
        shares.append(len(set(expected.ids) & set(hits.ids)) / 20)
        (again,) = truth.rerank([query], [hits.ids])
        assert hits.ids == again.ids
        np.testing.assert_allclose(hits.scores, again.scores, atol=1e-9)
    assert np.mean(shares) >= 0.95


def test_codes_on_a_gpu_are_refused(store):
    with pytest.raises(ConfigurationError, match="device 'cpu' for scan 'int8'"):
        ExactIndex(store, "cuda", "int8")


def test_the_best_of_several_types_take_one_scan(store, posts, monkeypatch):
    index, scans = ExactIndex(store), []
    scan = exact.ExactSpace.scan
    monkeypatch.setattr(
        exact.ExactSpace, "scan", lambda *args: scans.append(1) or scan(*args)
    )
    types = [frozenset({"answer"}), frozenset({"question"}), None]
    for depth in (1, 7, 500):
        lists = index.list_best([q.vectors for q in QUERIES], depth, types=types)
        for query, found in zip(QUERIES, lists, strict=True):
            for some, ids in zip(types, found, strict=True):
                truth = SlowIndex(posts).maxsim(query.vectors, depth, some)[0]
                assert sorted(ids) == sorted(truth)
    assert len(scans) == 3


def test_ties_at_the_last_place_are_cut_by_their_ids(tmp_path):
    post = draw_posts(1)[0]
    posts = [
        post._replace(key=str(k), formula_ids=[f"{k}-{i}" for i in range(len(post[5]))])
        for k in range(90, 130)
    ]
    index = ExactIndex(make_store(tmp_path, posts))
    ((found,),) = index.list_best([QUERIES[0].vectors], 12)
    assert sorted(found, key=int) == [str(k) for k in range(90, 102)]


def test_equal_posts_stand_in_the_order_of_their_ids(tmp_path):
    post = draw_posts(1)[0]
    keys = [str(k) for k in (100, 9, 11, 10, 99)]
    posts = [
        post._replace(key=k, formula_ids=[f"{k}-{i}" for i in range(len(post[5]))])
        for k in keys
    ]
    index = ExactIndex(make_store(tmp_path, posts))
    (hits,) = index.search_maxsim([QUERIES[0].vectors], 3)
    assert hits.ids == ["9", "10", "11"]
    assert len(set(hits.scores.tolist())) == 1


@pytest.mark.parametrize("together", [1, 8, 9, 100])
def test_shards_are_packed_together(tmp_path, monkeypatch, together):
    monkeypatch.setattr(exact, "_TOGETHER", together)  # of 65,536
    posts = draw_posts(18, 0, 1)
    index = ExactIndex(make_store(tmp_path, posts, per_shard=3))
    check_index(index, SlowIndex(posts))


def test_half_precision_rounds_queries_like_posts(tmp_path, posts):
    index = ExactIndex(make_store(tmp_path, posts, dtype="float16"))
    halves = [
        p._replace(vectors=p.vectors.astype("f2").astype("f4"))
        for p in PostVectors.of(posts).entries()
    ]
    query = QUERIES[0].vectors.astype("f2").astype("f4")
    (hits,) = index.search_maxsim([QUERIES[0].vectors], 1000)
    # PostVectors.of would scale again, so the twin is asked post by post.
    for key, score in zip(hits.ids, hits.scores, strict=True):
        post = next(p for p in halves if p.key == key)
        assert score == pytest.approx(slow_maxsim(query, post.vectors), abs=1e-6)


def test_types_of_posts_can_be_asked_for(store, posts):
    index, twin = ExactIndex(store), SlowIndex(posts)
    answers = frozenset({"answer"})
    query = QUERIES[0]
    (hits,) = index.search_maxsim([query.vectors], 1000, types=answers)
    check_hits(hits, twin.maxsim(query.vectors, 1000, answers))
    (hits,) = index.search_documents([query.document()], 9, types=answers)
    check_hits(hits, twin.documents(query.document(), 9, answers))
    with pytest.raises(ConfigurationError, match="did you mean 'answer'"):
        index.search_maxsim([query.vectors], 5, types=frozenset({"anser"}))


def test_reranked_posts_are_the_given_ones_in_true_order(store, posts):
    index, twin = ExactIndex(store), SlowIndex(posts)
    given = [["5", "1", "40"], [], ["2"]]
    found = index.rerank([q.vectors for q in QUERIES], given)
    for query, keys, hits in zip(QUERIES, given, found, strict=True):
        order, scores = twin.maxsim(query.vectors, 1000)
        check_hits(hits, ([k for k in order if k in keys], scores))
    with pytest.raises(MissingInputError, match="'999'"):
        index.rerank([QUERIES[0].vectors], [["999"]])


def test_posts_without_document_vector_are_found_by_maxsim_alone(tmp_path):
    rng = np.random.default_rng(1)
    bare = PostEntry("7", "answer", rng.standard_normal((2, WIDTH)), [1, 1], [0, 1])
    posts = [*draw_posts(5), bare]
    index = ExactIndex(make_store(tmp_path, posts))
    (hits,) = index.search_maxsim([QUERIES[0].vectors], 10)
    check_hits(hits, SlowIndex(posts).maxsim(QUERIES[0].vectors, 10))
    (hits,) = index.search_documents([QUERIES[0].document()], 10)
    check_hits(hits, SlowIndex(posts[:5]).documents(QUERIES[0].document(), 10))


def test_empty_store_finds_nothing(tmp_path):
    StoreWriter(tmp_path, ENCODER, WIDTH).close()
    index = ExactIndex(VectorStore(tmp_path))
    assert index.search_maxsim([QUERIES[0].vectors], 5)[0].ids == []
    assert index.search_documents([QUERIES[0].document()], 5)[0].ids == []
    assert index.search_formulas([QUERIES[0].document()], 5)[0].ids == []
    assert index.size()[:4] == (0, 0, 0, 0)


@pytest.mark.parametrize(("dtype", "size"), [("float32", 4), ("int8", 1)])
def test_size_is_that_of_the_vectors_that_searches_needed(store, posts, dtype, size):
    index = ExactIndex(store, scan=dtype)
    assert index.size()[2:] == (0, 0, "unknown", size)
    index.search_maxsim([QUERIES[0].vectors], 5)
    expected = WIDTH * sum(len(post.vectors) for post in posts)
    assert index.size()[3:] == (0, "memory", size)
    assert index.size().post_bytes >= size * expected
    index.search_formulas([QUERIES[0].document()], 5)
    expected = WIDTH * sum(len(post.formula_ids) for post in posts)
    assert index.size().formula_bytes >= size * expected


def test_many_queries_are_searched_in_groups(store, posts, monkeypatch):
    monkeypatch.setitem(exact.ExactSpace.search.__globals__["_ROOM"], "cpu", 100)
    check_index(ExactIndex(store), SlowIndex(posts))


def test_approximate_search_is_refused(store):
    with pytest.raises(ConfigurationError, match="'edge' or 'server'"):
        ExactIndex(store).search_maxsim([QUERIES[0].vectors], 5, SearchMode(False))


@pytest.mark.gpu
@pytest.mark.parametrize("width", [8, 32])
@pytest.mark.parametrize("types", [None, frozenset({"answer"})])
def test_a_gpu_finds_what_loops_find(tmp_path, width, types):
    posts = draw_posts(60, width=width)
    index = ExactIndex(make_store(tmp_path, posts), "cuda")
    check_engine(index, SlowIndex(posts), 20, types, width)
