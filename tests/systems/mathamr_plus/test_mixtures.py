"""Answers with their questions, sentences and document vectors, against loops."""

from __future__ import annotations

import numpy as np
import pytest

from mathamr_kedro.base.errors import ConfigurationError
from mathamr_kedro.graph import SENTENCE
from mathamr_kedro.systems.mathamr_plus import Strategy
from mathamr_kedro.systems.mathamr_plus.strategies import (
    Questions,
    find_posts,
    search_posts,
)
from mathamr_kedro.vectors import EngineConfig, build_index, open_index
from mathamr_kedro.vectors import store as stores
from mathamr_kedro.vectors.exact import ExactIndex
from tests.vectors.conftest import (
    draw_posts,
    draw_query,
    make_store,
    slow_maxsim,
    slow_ranking,
)

QUERIES = [draw_query(i) for i in range(3)]


def weigh(query, vectors, sentences):
    """MaxSim, vector by vector of the query; its sentences count ``sentences``."""
    total = weights = 0.0
    for kind, vector in zip(query.kinds, query.vectors, strict=True):
        weight = sentences if kind == SENTENCE else 1.0
        total += weight * slow_maxsim(vector[None], vectors)
        weights += weight
    return total / weights


@pytest.mark.parametrize("sentences", [1.0, 0.25])
@pytest.mark.parametrize("weight", [0.0, 0.2])
@pytest.mark.parametrize("share", [0.0, 0.3])
@pytest.mark.parametrize("retrieval", ["maxsim", "rerank"])
def test_mixed_scores_equal_a_loop(
    store, retrieval, share, weight, sentences, monkeypatch
):
    monkeypatch.setattr(stores, "_POSTS_AT_ONCE", 5)  # several parts
    by_key = {p.key: p for p in store.read(list(store.keys())).entries()}
    questions = [k for k, p in by_key.items() if p.post_type == "question"]
    answers = [k for k, p in by_key.items() if p.post_type == "answer"]
    question_of = {a: questions[i % 7] for i, a in enumerate(answers[:-5])}
    strategy = Strategy(
        retrieval,
        candidates=500,
        with_question=share,
        sentence_weight=sentences,
        with_document=weight,
    )
    index = ExactIndex(store)
    found = search_posts(index, strategy, question_of, QUERIES, 60)
    for hits, query in zip(found, QUERIES, strict=True):
        mixed, similar = {}, {}
        for answer in answers:
            own, asked = by_key[answer], by_key[question_of.get(answer, answer)]
            together = np.concatenate([own.vectors, asked.vectors])
            alike = [float(query.vectors[-1] @ p.vectors[-1]) for p in (own, asked)]
            mixed[answer] = (1 - share) * weigh(query, own.vectors, sentences)
            mixed[answer] += share * weigh(query, together, sentences)
            similar[answer] = (1 - share) * alike[0] + share * alike[1]
        scores = {a: mixed[a] + weight * similar[a] for a in answers}
        assert hits.ids == slow_ranking(scores, 60)
        np.testing.assert_allclose(
            hits.scores, [scores[k] for k in hits.ids], rtol=1e-6, atol=1e-6
        )


def test_posts_without_document_vectors_are_refused(tmp_path):
    post = draw_posts(2, start=1)[0]
    bare = post._replace(
        vectors=post.vectors[:-1], kinds=post.kinds[:-1], numbers=post.numbers[:-1]
    )
    store = make_store(tmp_path / "bare", [bare])
    with pytest.raises(ConfigurationError, match="document vector for every post"):
        search_posts(ExactIndex(store), Strategy(with_document=0.5), {}, QUERIES, 5)


def test_no_candidates_give_an_empty_list(tmp_path):
    store = make_store(tmp_path / "questions", draw_posts(1, start=3))
    strategy = Strategy(with_question=0.5, with_document=0.5)
    (hits,) = search_posts(ExactIndex(store), strategy, {}, QUERIES[:1], 5)
    assert (hits.ids, len(hits.scores)) == ([], 0)


def test_answers_of_the_best_questions_are_candidates(tmp_path):
    posts = draw_posts(30, seed=4)
    store = make_store(tmp_path / "few", posts)
    index = ExactIndex(store)
    query = draw_query(5)
    alone = find_posts(index, [query], Strategy(depth=100))[0].ids
    asked = find_posts(index, [query], Strategy(post_types=("question",)))[0].ids
    # The worst answer belongs to the best question; both count together.
    strategy = Strategy(with_question=1.0)
    question_of = {alone[-1]: asked[0]}
    (hits,) = search_posts(index, strategy, question_of, [query], 1)
    both = store.read([alone[-1], asked[0]]).vectors
    best_answer = find_posts(index, [query], Strategy())[0]
    expected = max(slow_maxsim(query.vectors, both), best_answer.scores[0])
    assert hits.scores[0] == pytest.approx(expected)
    assert alone[-1] not in find_posts(index, [query], Strategy(depth=1))[0].ids


def test_mixing_nothing_is_the_strategy_itself(store):
    """Weights that change next to nothing, so that scores are mixed all the same."""
    index, few = ExactIndex(store), {"candidates": 9, "depth": 15}
    for retrieval in ("maxsim", "rerank"):
        plain = Strategy(retrieval, **few)
        assert not plain.mixes
        mixed = Strategy(retrieval, sentence_weight=1 + 1e-12, **few)
        assert mixed.mixes
        for one, other in zip(
            search_posts(index, plain, {}, QUERIES, 15),
            search_posts(index, mixed, {}, QUERIES, 15),
            strict=True,
        ):
            assert one.ids == other.ids
            np.testing.assert_allclose(one.scores, other.scores, atol=1e-6)


@pytest.mark.parametrize("retrieval", ["maxsim", "rerank"])
def test_engines_mix_alike(tmp_path, store, retrieval):
    posts = store.read(list(store.keys())).entries()
    types = {p.key: p.post_type for p in posts}
    questions = [k for k, kind in types.items() if kind == "question"]
    answers = [k for k, kind in types.items() if kind == "answer"]
    asked = Questions({a: questions[i % 9] for i, a in enumerate(answers)})
    strategy = Strategy(retrieval, candidates=8, with_question=0.5, sentence_weight=0.3)
    exact = search_posts(ExactIndex(store), strategy, asked, QUERIES, 8)
    (folder := tmp_path / "edge").mkdir()
    build_index(EngineConfig("edge"), store, folder)
    with open_index(EngineConfig("edge"), store, folder) as edge:
        found = search_posts(edge, strategy, asked, QUERIES, 8)
    assert [hits.ids for hits in found] == [hits.ids for hits in exact]


def test_answers_are_listed_once():
    asked = Questions({"11": "1", "12": "1", "21": "2"})
    assert asked.answers == {"1": ["11", "12"], "2": ["21"]}
    assert asked.answers is asked.answers
