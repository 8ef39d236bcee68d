"""Ways to find posts and formulas, against loops written from the thesis."""

from __future__ import annotations

import numpy as np
import pytest

from mathamr_kedro.base.errors import ConfigurationError
from mathamr_kedro.base.parameters import read_parameters
from mathamr_kedro.systems.mathamr_plus import Strategy
from mathamr_kedro.systems.mathamr_plus.strategies import find_formulas, find_posts
from mathamr_kedro.vectors.exact import ExactIndex
from mathamr_kedro.vectors.post_vectors import PostEntry
from tests.vectors.conftest import (
    SlowIndex,
    check_hits,
    draw_posts,
    draw_query,
    make_store,
)

QUERIES = [draw_query(i) for i in range(3)]


@pytest.fixture
def index(store):
    return ExactIndex(store)


def test_single_vector_and_maxsim_equal_loops(index, posts):
    twin = SlowIndex(posts)
    for hits, query in zip(
        find_posts(index, QUERIES, Strategy("single", depth=7, post_types=())),
        QUERIES,
        strict=True,
    ):
        check_hits(hits, twin.documents(query.document(), 7))
    for hits, query in zip(
        find_posts(index, QUERIES, Strategy(depth=7, post_types=())),
        QUERIES,
        strict=True,
    ):
        check_hits(hits, twin.maxsim(query.vectors, 7))


@pytest.mark.parametrize(("candidates", "depth"), [(5, 20), (12, 3), (500, 500)])
def test_reranking_orders_candidates_of_the_document_vector(
    index, posts, candidates, depth
):
    twin = SlowIndex(posts)
    strategy = Strategy("rerank", candidates=candidates, depth=depth, post_types=())
    for hits, query in zip(find_posts(index, QUERIES, strategy), QUERIES, strict=True):
        pool, _ = twin.documents(query.document(), candidates)
        order, scores = twin.maxsim(query.vectors, 1000)
        check_hits(hits, ([k for k in order if k in pool][:depth], scores))


def test_only_asked_types_are_returned(index):
    answers = Strategy("rerank", candidates=10, post_types=("answer",))
    (hits,) = find_posts(index, QUERIES[:1], answers)
    assert len(hits.ids) == 10
    assert all(int(key) % 3 for key in hits.ids)


@pytest.mark.parametrize("depth", [1, 5, 17, 1000])
def test_formulas_come_once_per_visual_id_and_never_unreturnable(index, posts, depth):
    queries = [q.vectors[0] for q in QUERIES]
    for hits, query in zip(find_formulas(index, queries, depth), queries, strict=True):
        order, _ = SlowIndex(posts).formulas(query, depth, distinct=True)
        assert hits.ids == order
        owner = {i: p.key for p in posts for i in p.formula_ids}
        assert hits.post_ids == [owner[i] for i in order]
    hidden = {
        i
        for p in posts
        for i, flag in zip(p.formula_ids, p.returnable, strict=True)
        if not flag
    }
    assert hidden
    assert not hidden.intersection(hits.ids)


def test_search_goes_deeper_until_enough_visual_ids_are_found(tmp_path):
    posts = draw_posts(80, formulas=4, visuals=3)
    index = ExactIndex(make_store(tmp_path, posts))
    (hits,) = find_formulas(index, [QUERIES[0].vectors[0]], depth=3)
    assert len(set(hits.visual_ids)) == len(hits.visual_ids) == 3


def test_query_without_document_vector_is_told_to_use_maxsim(index):
    bare = PostEntry("A.9", "topic", np.eye(8, dtype="f4")[:2], [1, 1], [0, 1])
    assert find_posts(index, [bare], Strategy(depth=2))[0].ids
    with pytest.raises(ConfigurationError, match="only by strategy 'maxsim'"):
        find_posts(index, [bare], Strategy("single"))


def test_no_queries_give_no_lists(index):
    assert find_posts(index, [], Strategy()) == []
    assert find_formulas(index, []) == []


def test_strategies_are_read_from_parameters():
    values = {"retrieval": "rerank", "search": "hnsw", "post_types": ["answer"]}
    found = read_parameters(Strategy, values, "indexing.strategy")
    assert found.types == frozenset({"answer"})
    assert not found.mode.exact
    with pytest.raises(ConfigurationError, match="at least 1"):
        read_parameters(Strategy, {"depth": 0}, "indexing.strategy")
