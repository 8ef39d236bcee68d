"""Searches over many topics: batches, time, topics without vectors."""

from __future__ import annotations

import numpy as np
import pytest

from mathamr_kedro.base.errors import MissingInputError
from mathamr_kedro.base.hits import Hits
from mathamr_kedro.base.records import Topic
from mathamr_kedro.runs import (
    Queries,
    run_search,
    topic_search,
)
from tests.vectors.conftest import (
    draw_posts,
    draw_query,
    make_store,
)

QUERIES = [draw_query(i) for i in range(3)]


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


def test_parts_of_topics_are_asked_under_the_names_of_the_topics(tmp_path, caplog):
    posts = draw_posts(4, start=5)
    keys = ["A.1", "A.2", "A.1:words", "A.9:formulas"]
    posts = [p._replace(key=k) for p, k in zip(posts, keys, strict=True)]
    store = make_store(tmp_path / "topics", posts)
    topics = [
        Topic(key, "task1", 2020, "", (), "", (), None, None, None, None, None)
        for key in ("A.1", "A.2")
    ]
    words = Queries.read(topics, store, "words")
    assert (words.topics, [p.key for p in words.posts]) == (["A.1"], ["A.1"])
    np.testing.assert_array_equal(
        words.posts[0].vectors, store.read(["A.1:words"]).vectors
    )
    assert "no vectors of their words alone and count as 0, e.g. A.2" in caplog.text
    with pytest.raises(MissingInputError, match=r"query_parts \[formulas\]"):
        Queries.read(topics, store, "formulas")
    assert Queries.read([], store, "formulas").topics == []
