"""The search of a project: what it says before there is an index, and how it ranks."""

from __future__ import annotations

import re
from types import SimpleNamespace

import numpy as np
import pytest

from mathamr_kedro import project_search
from mathamr_kedro.errors import MissingInputError
from mathamr_kedro.graph import FORMULA
from mathamr_kedro.records import FormulaMention, Topic
from mathamr_kedro.search.post_vectors import PostEntry
from mathamr_kedro.stages import STAGES


def test_query_of_a_formula_is_its_node_alone():
    mentions = tuple(
        FormulaMention(f"FORMULA_{n}", f"q_{n}", f"v{n}", "x", 0, 9) for n in (4, 7)
    )
    text = "FORMULA_4 FORMULA_7"
    topic = Topic("B.1", "task2", 2021, "", (), text, mentions, "q_7", *[None] * 4)
    entry = PostEntry(
        "B.1", "topic", np.eye(3), [FORMULA, FORMULA, 2], [4, 7, 0], ["q_4", "q_7"]
    )
    chosen = project_search._choose_formula(entry, topic)
    np.testing.assert_array_equal(chosen.vectors, [[0, 1, 0]])
    assert (list(chosen.kinds), list(chosen.numbers)) == ([FORMULA], [7])
    assert (chosen.formula_ids, chosen.visual_ids) == (["q_7"], ["v7"])


def test_missing_index_names_a_command_with_a_stage_that_exists(monkeypatch):
    catalog = {"index": SimpleNamespace(exists=lambda: False)}
    monkeypatch.setattr(project_search, "open_catalog", lambda *_: catalog)
    with pytest.raises(MissingInputError, match="kedro run --env own") as caught:
        project_search.open_searcher("own")
    (stage,) = re.findall(r"--pipelines ([\w.]+)", str(caught.value))
    assert stage in STAGES


def test_topics_without_vectors_are_named_with_those_that_have_some():
    """Whether they are unknown, or were added after the vectors were made."""
    topics = {name: object() for name in ("A.1", "A.3", "A.4")}
    tables = {
        "topics": SimpleNamespace(find=lambda column, key: topics.get(key)),
        "topic_vectors": SimpleNamespace(
            read=lambda mark: SimpleNamespace(places={"A.1": 0, "A.2": 1, "A.3": 2})
        ),
    }
    project = object.__new__(project_search._Project)
    project.catalog = SimpleNamespace(load=tables.__getitem__)
    project.mark = "m"
    assert project.find_topic("a question") is None
    for asked in ("A.4", "A.2", "A.9"):
        with pytest.raises(MissingInputError) as caught:
            project.find_topic(asked)
        assert f"(got '{asked}'); did you mean" in str(caught.value)
        assert "the index has 3 topics, from A.1 to A.3" in str(caught.value)


@pytest.mark.timeout(2400)
@pytest.mark.parametrize("system", ["mathamr_plus", "bm25_tuples", "mathamr_plus+bm25"])
def test_search_for_a_formula_ranks_as_the_run_of_the_evaluation(
    demo, monkeypatch, system
):
    """Visual ids are what the run names; of each post the first is shown."""
    monkeypatch.chdir(demo)
    catalog = project_search.open_catalog("demo")
    folder = catalog.load("runs")
    records = {t.topic_id: t for t in catalog.load("topics").records()}
    (run,) = [r for e, r in folder if (e.task, e.system) == (2, system)]
    searcher = project_search.open_searcher("demo", system=system, finds="formulas")
    try:
        for topic in list(run.lists)[:3]:
            query = searcher._find_topic(topic)
            record = records[topic]
            latex = {m.formula_id: m.latex for m in record.formula_map}
            latex[record.formula_id] = record.latex
            assert {m.formula_id: m.latex for m in query.clean.formula_map} == latex
            found = searcher.find_formulas._search(query, None)[system].lists[topic]
            assert found.visual_ids == run.lists[topic].ids
            shown = [r.post_id for r in searcher.search_like(topic, top=20).results]
            assert shown == list(dict.fromkeys(found.post_ids))[:20]
    finally:
        searcher.close()


@pytest.mark.timeout(2400)
@pytest.mark.parametrize("system", ["mathamr_plus", "bm25", "mathamr_plus+bm25"])
def test_search_for_a_topic_ranks_as_the_run_of_the_evaluation(
    demo, monkeypatch, system
):
    monkeypatch.chdir(demo)
    folder = project_search.open_catalog("demo").load("runs")
    (run,) = [r for e, r in folder if (e.task, e.system) == (1, system)]
    searcher = project_search.open_searcher("demo", system=system)
    try:
        for topic in ("A.1001", "A.1010", "A.1024"):
            found = searcher.search_like(topic, top=30).results
            assert [r.post_id for r in found] == run.lists[topic].ids[:30]
    finally:
        searcher.close()
