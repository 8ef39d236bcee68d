"""Searches over many topics; answers with their questions against a loop."""

from __future__ import annotations

import numpy as np
import pytest

from mathamr_kedro.errors import ConfigurationError
from mathamr_kedro.graph import SENTENCE
from mathamr_kedro.hits import Hits
from mathamr_kedro.records import Topic
from mathamr_kedro.runs import topic_search
from mathamr_kedro.runs.topic_search import (
    NamedStrategy,
    Queries,
    run_search,
    search_posts,
)
from mathamr_kedro.search.engines.exact import ExactIndex
from mathamr_kedro.search.strategies import Strategy, find_posts
from tests.search.conftest import (
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
def test_mixed_scores_equal_a_loop(store, retrieval, share, weight, sentences):
    by_key = {p.key: p for p in store.read(list(store.keys())).entries()}
    questions = [k for k, p in by_key.items() if p.post_type == "question"]
    answers = [k for k, p in by_key.items() if p.post_type == "answer"]
    question_of = {a: questions[i % 7] for i, a in enumerate(answers[:-5])}
    strategy = NamedStrategy(
        retrieval,
        candidates=500,
        with_question=share,
        with_document=weight,
        sentence_weight=sentences,
    )
    index = ExactIndex(store)
    found = search_posts(index, store, strategy, question_of, QUERIES, 60)
    for hits, query in zip(found, QUERIES, strict=True):
        scores = {}
        for answer in answers:
            own, asked = by_key[answer], by_key[question_of.get(answer, answer)]
            together = np.concatenate([own.vectors, asked.vectors])
            alike = [float(query.vectors[-1] @ p.vectors[-1]) for p in (own, asked)]
            scores[answer] = (
                (1 - share) * weigh(query, own.vectors, sentences)
                + share * weigh(query, together, sentences)
                + weight * ((1 - share) * alike[0] + share * alike[1])
            )
        assert hits.ids == slow_ranking(scores, 60)
        np.testing.assert_allclose(
            hits.scores, [scores[k] for k in hits.ids], rtol=1e-6
        )


def test_posts_without_document_vectors_are_refused(tmp_path):
    post = draw_posts(2, start=1)[0]
    bare = post._replace(
        vectors=post.vectors[:-1], kinds=post.kinds[:-1], numbers=post.numbers[:-1]
    )
    store = make_store(tmp_path / "bare", [bare])
    strategy = NamedStrategy(with_document=0.5)
    with pytest.raises(ConfigurationError, match="a document vector for every post"):
        search_posts(ExactIndex(store), store, strategy, {}, QUERIES, 5)


def test_no_candidates_give_an_empty_list(tmp_path):
    store = make_store(tmp_path / "questions", draw_posts(1, start=3))
    strategy = NamedStrategy(with_question=0.5, with_document=0.5)
    (hits,) = search_posts(ExactIndex(store), store, strategy, {}, QUERIES[:1], 5)
    assert (hits.ids, len(hits.scores)) == ([], 0)


def test_answers_of_the_best_questions_are_candidates(tmp_path):
    posts = draw_posts(30, seed=4)
    store = make_store(tmp_path / "few", posts)
    index = ExactIndex(store)
    query = draw_query(5)
    alone = find_posts(index, [query], NamedStrategy(depth=100))[0].ids
    asked = find_posts(index, [query], Strategy(post_types=("question",)))[0].ids
    # The worst answer belongs to the best question; both count together.
    strategy = NamedStrategy(with_question=1.0)
    question_of = {alone[-1]: asked[0]}
    (hits,) = search_posts(index, store, strategy, question_of, [query], 1)
    both = store.read([alone[-1], asked[0]]).vectors
    best_answer = find_posts(index, [query], NamedStrategy())[0]
    expected = max(slow_maxsim(query.vectors, both), best_answer.scores[0])
    assert hits.scores[0] == pytest.approx(expected)
    assert alone[-1] not in find_posts(index, [query], NamedStrategy(depth=1))[0].ids


def test_batches_change_nothing():
    def search(queries, depth):
        assert len(queries) <= 2
        return [Hits([q] * depth, np.zeros(depth)) for q in queries]

    run = run_search(1, "x", ["A.1", "A.2", "A.3"], ["a", "b", "c"], search, 2, 2)
    assert {t: found.ids for t, found in run.lists.items()} == {
        "A.1": ["a", "a"], "A.2": ["b", "b"], "A.3": ["c", "c"],
    }  # fmt: skip


@pytest.mark.parametrize("size", [1, 2])
def test_time_of_each_query_is_kept_where_each_goes_alone(size, monkeypatch):
    """A clock of the searches: the first of all takes 100 s, then 1, 2 and 3 s."""
    clock, times = [0.0], {"warm": 100.0, "a": 1.0, "b": 2.0, "c": 3.0}
    monkeypatch.setattr(topic_search.time, "perf_counter", lambda: clock[0])

    def search(queries, depth):
        clock[0] += times.pop("warm", 0) or sum(times[q] for q in queries)
        return [Hits([q], np.zeros(1)) for q in queries]

    topics, queries = ["A.1", "A.2", "A.3"], ["a", "b", "c"]
    run = run_search(1, "x", topics, queries, search, 2, size, "cuda")
    assert run.seconds == 6.0  # without what is loaded once
    each = {"A.1": 1.0, "A.2": 2.0, "A.3": 3.0}
    assert run.query_seconds == (each if size == 1 else {})
    assert run.device == "cuda"
    assert run_search(1, "x", [], [], search, 2, size).lists == {}


def test_topics_and_formulas_without_vectors_are_left_out_aloud(tmp_path, caplog):
    asked = draw_posts(3, start=5, formulas=2)
    store = make_store(tmp_path / "topics", asked)

    def topic(key, formula):
        return Topic(
            key, "task2", 2020, "", (), "", (), formula, None, None, None, None
        )  # fmt: skip

    topics = [topic("5", "5-1"), topic("6", "lost"), topic("B.9", "x")]
    queries = Queries.read(topics, store)
    names, vectors = queries.formulas(topics)
    assert (queries.topics, names, len(vectors)) == (["5", "6"], ["5"], 1)
    np.testing.assert_array_equal(vectors[0], store.read(["5"]).entry(0).vectors[1])
    assert "B.9" in caplog.text
    assert "'lost'" in caplog.text


def test_names_of_strategies():
    assert NamedStrategy("rerank", "hnsw", 5000).name == "rerank-5000-hnsw"
    assert NamedStrategy(with_question=0.25).name == "maxsim-exact-question-0.25"
    mixed = NamedStrategy(with_question=0.5, with_document=0.2)
    assert mixed.name == "maxsim-exact-question-0.5-document-0.2"
    assert NamedStrategy(sentence_weight=0.3).name == "maxsim-exact-sentence-0.3"
    assert NamedStrategy(name="mine").name == "mine"
    alone = NamedStrategy("maxsim", "hnsw", hnsw_walks="per_vector")
    assert alone.name == "maxsim-hnsw-per-vector"
    assert alone.mode.walks == "per_vector"
    plain = Strategy("single", depth=7, post_types=("document",))
    named = NamedStrategy.of(plain)
    assert (named.name, named.depth, named.post_types) == (
        "single-exact", 7, ("document",),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"with_question": 1.5}, "0 to 1"),
        ({"with_question": 0.5}, "'maxsim' or"),
        ({"with_document": -0.1}, "at least 0"),
        ({"with_document": 0.1}, "'maxsim' or"),
        ({"sentence_weight": 0.0}, "positive sentence_weight"),
        ({"sentence_weight": 0.5}, "'maxsim' or"),
    ],
)
def test_impossible_strategies_are_refused(values, message):
    with pytest.raises(ConfigurationError, match=message):
        NamedStrategy("single", **values)
