"""A system asked for many topics: batches, times, topics that cannot be asked."""

from __future__ import annotations

import numpy as np
import pytest

from mathamr_kedro.base.errors import MissingInputError
from mathamr_kedro.base.hits import FormulaHits, Hits
from mathamr_kedro.base.records import FormulaInstance, FormulaMention, Topic
from mathamr_kedro.formula import trees_from_latex
from mathamr_kedro.graph import FusedRecord, read_math_graph
from mathamr_kedro.runs import (
    find_blank_queries,
    list_unsearched,
    read_queries,
    run_system,
    topic_runs,
)
from mathamr_kedro.systems import Query, Rankings
from mathamr_kedro.systems.mathamr_plus import MathAMRPlusIndex, Strategy
from mathamr_kedro.trec import Run
from tests.vectors.conftest import draw_posts, make_store

QUERIES = [Query(key) for key in "abc"]


def topic(key, latex, formula_id="q_1", task="task2"):
    mention = FormulaMention("FORMULA_0", "q_1", "x1", latex, 0, 9)
    return Topic(
        key, task, 2022, "", (), "FORMULA_0", (mention,), formula_id, latex, None, None,
        None,
    )  # fmt: skip


def read(formula):
    return trees_from_latex(formula.latex)


def run(rank, queries=QUERIES, device="cpu", **options):
    index = Rankings({"posts": {"x": rank}})
    index.device = device
    return run_system(index, "x", queries, **options)


def test_batches_change_nothing():
    def rank(queries, depth):
        assert len(queries) <= 2
        return [Hits([q.key] * depth, np.zeros(depth)) for q in queries]

    lists = run(rank, depth=2, batch_size=2).lists
    assert {t: h.ids for t, h in lists.items()} == {key: [key] * 2 for key in "abc"}


@pytest.mark.parametrize("size", [1, 2])
def test_time_of_each_query_is_kept_if_each_goes_alone(size, monkeypatch):
    """A clock of the searches: the first of all takes 100 s, then 1, 2 and 3 s."""
    clock, times = [0.0], {"warm": 100.0, "a": 1.0, "b": 2.0, "c": 3.0}
    monkeypatch.setattr(topic_runs.time, "perf_counter", lambda: clock[0])

    def rank(queries, depth):
        clock[0] += times.pop("warm", 0) or sum(times[q.key] for q in queries)
        return [Hits([q.key], np.zeros(1)) for q in queries]

    found = run(rank, depth=2, batch_size=size, device="cuda")
    assert found.seconds == 6.0  # without what is loaded once
    each = {"a": 1.0, "b": 2.0, "c": 3.0}
    assert found.query_seconds == (each if size == 1 else {})
    assert (found.device, found.task) == ("cuda", 1)


def test_a_query_that_is_a_document_is_excluded_from_its_own_results():
    asked = []

    def rank(queries, depth):
        asked.append(depth)
        ids = ["a", "b", "c", "d"][:depth]
        return [Hits(ids, np.arange(len(ids), 0, -1.0)) for _ in queries]

    found = run(rank, [Query(k) for k in "bxz"], depth=3, documents={"b", "z"}).lists
    assert {k: hits.ids for k, hits in found.items()} == {
        "b": ["a", "c", "d"], "x": ["a", "b", "c"], "z": ["a", "b", "c"],
    }  # fmt: skip
    assert asked[1:] == [4]
    run(rank, [Query("x")], depth=2, documents={"b"})
    assert asked[-1] == 2  # one more only if a query may be among the results


def test_topics_become_queries_of_what_they_ask_for():
    topics = [topic("A.1", "x", None, "task1"), topic("B.1", "x"), topic("B.2", "")]
    graph = FusedRecord("A.1", read_math_graph("(p / prime)"), "topic")
    found = read_queries(topics, read, {"A.1": graph}.get)
    (question,), (formula,) = found["posts"], found["formulas"]
    assert question.graph.atoms == ["prime"]
    assert (formula.key, formula.asked_formula.latex) == ("B.1", "x")
    assert not formula.trees.is_blank
    assert formula.graph is None


@pytest.mark.parametrize("latex", ["", r"\qquad", r"\,", "{}", r"\text{}"])
def test_query_that_shows_nothing_is_refused_with_its_reason(latex):
    found = find_blank_queries([topic("B.301", latex), topic("B.302", "x")], read)
    assert list(found) == ["B.301"]
    assert "'q_1' has no tree" in found["B.301"]


def test_topics_that_were_not_searched_are_listed_with_their_reason():
    hits = FormulaHits([], np.zeros(0), [], [])
    topics = [topic("B.1", "x"), topic("B.2", ""), topic("B.3", "x", "q_9"),
              topic("B.4", "x")]  # fmt: skip
    runs = [
        Run("vectors", {"B.1": hits}, task=2),
        Run("bm25", {"B.1": hits, "B.3": hits, "B.4": hits}, task=2),
        Run("posts", {}, task=1),
    ]
    found = list_unsearched(runs, topics, {"B.2": "has no tree"})
    assert [(key, systems) for key, systems, _ in found] == [
        ("B.2", "all systems"), ("B.3", "vectors"), ("B.4", "vectors"),
    ]  # fmt: skip
    reasons = [reason for *_, reason in found]
    assert reasons[0] == "has no tree"
    assert "'q_9' is not in its question" in reasons[1]
    assert "has no vectors" in reasons[2]


def open_vectors(store, **strategy):
    return MathAMRPlusIndex(None, {"x": Strategy(**strategy)}, dict, store)


def test_topics_and_formulas_without_vectors_are_skipped_aloud(tmp_path, caplog):
    store = make_store(tmp_path / "topics", draw_posts(3, start=5, formulas=2))
    wanted = {"5": "5-1", "6": "lost", "B.9": "x"}
    queries = [
        Query(key, formula=FormulaInstance(name, "", key, ""))
        for key, name in wanted.items()
    ]
    (query,) = open_vectors(store).prepare(queries)
    np.testing.assert_array_equal(query.entry.vectors, store.read(["5"]).vectors)
    assert "B.9" in caplog.text
    assert "'lost'" in caplog.text


def test_parts_of_topics_are_asked_under_the_names_of_the_topics(tmp_path, caplog):
    keys = ["A.1", "A.2", "A.1:words", "A.9:formulas"]
    posts = [
        p._replace(key=k) for p, k in zip(draw_posts(4, start=5), keys, strict=True)
    ]
    store = make_store(tmp_path / "topics", posts)
    queries = [Query("A.1"), Query("A.2")]
    (query,) = open_vectors(store, query_parts="words").prepare(queries)
    assert (query.key, query.entry.key) == ("A.1", "A.1")
    np.testing.assert_array_equal(
        query.entry.vectors, store.read(["A.1:words"]).vectors
    )
    assert "no vectors of only their words and count as 0, e.g. A.2" in caplog.text
    with pytest.raises(MissingInputError, match=r"query_parts \[formulas\]"):
        open_vectors(store, query_parts="formulas").prepare(queries)
    assert open_vectors(store, query_parts="formulas").prepare([]) == []
