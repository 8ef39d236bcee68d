"""The search as a transformer of PyTerrier, and a collection of ir_datasets."""

from __future__ import annotations

import pytest

from mathamr_kedro.base.errors import ConfigurationError
from mathamr_kedro.project.catalog import open_catalog

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(2400),  # the first of them waits for the demo
    pytest.mark.filterwarnings("ignore"),
]


@pytest.fixture
def collection(demo, monkeypatch):
    monkeypatch.chdir(demo)
    return open_catalog("demo").load("collection")


@pytest.fixture
def ir_datasets(tmp_path, monkeypatch):
    monkeypatch.setenv("IR_DATASETS_HOME", str(tmp_path))
    return pytest.importorskip("ir_datasets")


def test_answers_are_documents_and_topics_queries(collection, ir_datasets):
    from mathamr_kedro.integrations import open_dataset

    dataset = open_dataset(collection)
    posts = list(open_catalog("demo").load("posts").records())
    answers = [p.post_id for p in posts if p.post_type == "answer"]
    docs = {doc.doc_id: doc for doc in dataset.docs_iter()}
    assert list(docs) == answers and dataset.docs_count() == len(answers)
    assert "$" in docs["33703"].text and "FORMULA" not in docs["33703"].text
    queries = {query.query_id for query in dataset.queries_iter()}
    judged = {(q.query_id, q.doc_id, q.relevance) for q in dataset.qrels_iter()}
    rows = open_catalog("demo").load("judgments").records()
    assert judged == {
        (j.topic_id, j.doc_id, j.grade) for j in rows if j.task == "task1"
    }
    assert {query for query, _, _ in judged} <= queries
    assert dataset.docs_store().get("33703") == docs["33703"]
    questions = {p.post_id: p.parent_id or "" for p in posts}
    assert docs["33703"].parent_id == questions["33703"] != ""
    assert dataset.docs_lang() == "en"


def test_formulas_are_documents_of_task_2(collection, ir_datasets):
    from mathamr_kedro.integrations import open_dataset

    dataset = open_dataset(collection, task=2)
    found = [doc.doc_id for doc in dataset.docs_iter()]
    docs = {row.visual_id for row in open_catalog("demo").load("formulas").records()}
    assert sorted(found) == sorted(docs)  # each look once
    assert {q.doc_id for q in dataset.qrels_iter() if q.relevance > 1} <= docs
    assert all(q.text.startswith("$") for q in dataset.queries_iter())
    assert len(list(open_dataset(collection, year=1900).queries_iter())) == 0
    with pytest.raises(ConfigurationError, match="Expected task 1 or 2"):
        open_dataset(collection, task=3)


def test_dataset_can_be_registered(collection, ir_datasets):
    from mathamr_kedro.integrations import open_dataset

    ir_datasets.registry.register("arqmath-sample", open_dataset(collection))
    assert ir_datasets.load("arqmath-sample").has_qrels()


def test_retriever_is_a_part_of_pipelines_and_experiments(collection, ir_datasets):
    pt = pytest.importorskip("pyterrier")
    import ir_measures
    import pandas as pd

    from mathamr_kedro.integrations import MathAmrRetriever, open_dataset
    from mathamr_kedro.project.search import open_search

    dataset = open_dataset(collection)
    rows = list(dataset.queries_iter())[:6]
    topics = pd.DataFrame([{"qid": q.query_id, "query": q.text} for q in rows])
    qrels = pd.DataFrame(
        [
            {"qid": q.query_id, "docno": q.doc_id, "label": q.relevance}
            for q in dataset.qrels_iter()
        ]
    )
    searcher = open_search(env="demo")
    retriever = MathAmrRetriever(searcher, top=50)
    found = retriever(topics)
    assert list(found.columns) == ["qid", "query", "docno", "score", "rank"]
    hits, _ = searcher.rank(rows[0].text, 50)
    assert found[found.qid == rows[0].query_id].docno.tolist() == list(hits.ids)
    worst = retriever >> pt.apply.doc_score(lambda row: -row["score"])
    table = pt.Experiment(
        [retriever % 10, worst],
        topics,
        qrels,
        [ir_measures.RR @ 10],
        names=["best", "worst"],
    )
    scores = dict(zip(table["name"], table.iloc[:, 1], strict=True))
    assert scores["best"] > scores["worst"]  # RR needs no trec_eval
    assert retriever(topics[:0]).empty
    searcher.close()
