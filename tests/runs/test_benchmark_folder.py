r"""What is written in the form of BEIR: read by its loader, and by ours, as it was."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mathamr_kedro.base.hits import FormulaHits, Hits
from mathamr_kedro.base.records import Topic, TrainingPair
from mathamr_kedro.corpus import BeirCollection, BeirFiles, PostCleaner
from mathamr_kedro.corpus.raw import RawPost, RawTopic
from mathamr_kedro.corpus.topics import clean_topic
from mathamr_kedro.runs import BenchmarkFolder
from mathamr_kedro.trec import Run, read_run
from tests.pipelines.beir_world import DOCUMENTS, QUERIES, TEST, write_benchmark

FILES = ("corpus.jsonl", "queries.jsonl", "qrels/test.tsv", "qrels/train.tsv")


def load_as_beir_does(folder, split="test"):
    """The logic of beir's ``GenericDataLoader``: its lines, keys and header."""
    corpus, queries, qrels = {}, {}, {}
    for line in (folder / "corpus.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        corpus[row["_id"]] = {"text": row.get("text"), "title": row.get("title")}
    for line in (folder / "queries.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        queries[row["_id"]] = row.get("text")
    with (folder / "qrels" / f"{split}.tsv").open(encoding="utf-8") as file:
        reader = csv.reader(file, delimiter="\t", quoting=csv.QUOTE_MINIMAL)
        next(reader)  # the header, whatever it says
        for query, document, score in reader:
            qrels.setdefault(query, {})[document] = int(score)
    return corpus, {i: queries[i] for i in qrels}, qrels


def read_back(folder, split="test"):
    """Posts, topics, judgments and pairs, as the ingestion makes them."""
    collection = BeirCollection(folder, BeirFiles(split))
    clean = PostCleaner()
    posts = [clean(post)[0] for post in collection.posts()]
    raw = (topic for topic in collection.topics() if isinstance(topic, RawTopic))
    topics = [clean_topic(topic, {})[0] for topic in raw]
    grades = {}
    for judgment in collection.judgments():
        grades.setdefault(judgment.topic_id, {})[judgment.doc_id] = judgment.grade
    return posts, topics, grades, list(collection.pairs())


def write_all(folder, posts, topics, grades, pairs):
    written = BenchmarkFolder(folder)
    written.write_corpus(p for p in posts if p.post_type == "document")
    asked = {pair.question_id for pair in pairs}
    written.write_queries(topics, (p for p in posts if p.post_id in asked))
    written.write_qrels("test", grades)
    written.write_pairs("train", pairs)
    return written


@pytest.fixture
def canonical(tmp_path):
    return write_benchmark(tmp_path / "canonical")


def test_a_folder_comes_back_byte_for_byte(canonical, tmp_path):
    written = write_all(tmp_path / "again", *read_back(canonical))
    for name in FILES:
        again = (tmp_path / "again" / name).read_bytes()
        assert again == (canonical / name).read_bytes(), name
    assert written.unfaithful == []


def test_the_loader_of_beir_reads_what_was_written(canonical, tmp_path):
    write_all(tmp_path / "again", *read_back(canonical))
    corpus, queries, qrels = load_as_beir_does(tmp_path / "again")
    assert corpus == {
        i: {"title": title, "text": text} for i, (title, text) in DOCUMENTS.items()
    }
    assert queries == {i: QUERIES[i] for i in ("q1", "q2", "d4")}
    assert [(q, i, g) for q, by_id in qrels.items() for i, g in by_id.items()] == TEST


HARD = {
    "stars": "so 2 *3* 4 is _not_ emphasised",
    "money": "it costs $5 and 6$ or $7",
    "nested": r"<p>let <span class='math-container'>a \text{ if $b$}</span> hold</p>",
    "display": "<p>then $$x^2 = 2.$$ So</p><ul><li>one</li><li>two $y$</li></ul>",
    "code": "<pre><code>a = $b$ * c\n    d</code></pre><p>x &lt; y &amp; z</p>",
    "heading": "# not a heading\n\n1. and a list\n2) of\n- two",
    "glued": "the $n$th power, ($x$), $a$-adic",
    "escapes": r"a \* b \_ c \\ d `code` [link](http://x.y) <b>bold</b>",
}


@pytest.mark.parametrize("name", HARD)
@pytest.mark.parametrize("markup", ["html", "markdown", "text"])
def test_texts_of_any_source_read_back_as_they_are(tmp_path, name, markup):
    raw = RawPost(
        "s", "1", name, "document", None, None, None, None, ("tag",), "On $x$",
        HARD[name], markup,
    )  # fmt: skip
    post, _ = PostCleaner()(raw)
    first = write_all(tmp_path / "a", [post], [], {"q": {name: 1}}, [])
    assert first.unfaithful == []
    (back,), *_ = read_back(tmp_path / "a")
    assert (back.title, back.text, back.tags) == (post.title, post.text, ("tag",))
    latex = [m.latex for m in post.formula_map]
    assert [m.latex for m in back.formula_map] == latex
    write_all(tmp_path / "b", [back], [], {"q": {name: 1}}, [])
    corpora = [(tmp_path / n / "corpus.jsonl").read_bytes() for n in "ab"]
    assert corpora[0] == corpora[1]


@given(st.text(alphabet="ab $\\(){}*_#`<>&;-.,\n1", max_size=40))
def test_what_would_not_read_back_is_told(tmp_path_factory, text):
    raw = RawPost("s", "1", "d", "document", *[None] * 4, (), "", text, "text")
    post, _ = PostCleaner()(raw)
    folder = tmp_path_factory.mktemp("drawn")
    written = write_all(folder, [post], [], {"q": {"d": 1}}, [])
    (back,), *_ = read_back(folder)
    same = (back.text, [m.latex for m in back.formula_map]) == (
        post.text, [m.latex for m in post.formula_map]
    )  # fmt: skip
    assert same == (not written.unfaithful)


def test_formulas_are_documents_by_their_visual_ids(tmp_path):
    folder = BenchmarkFolder(tmp_path)
    topic = Topic("B.1", "task2", 2020, "", (), "x FORMULA_0", (), "q_1", "y^2",
                  None, None, None)  # fmt: skip
    assert folder.write_formulas({"7": "x^2", "8": r"a \text{ if $b$}"}) == 2
    assert folder.write_queries([topic], []) == 1
    folder.write_qrels("test", {"B.1": {"7": 3}})
    corpus, queries, qrels = load_as_beir_does(tmp_path)
    assert corpus["7"]["text"] == "$x^2$"
    assert corpus["8"]["text"] == r"\(a \text{ if $b$}\)"
    assert queries == {"B.1": "$y^2$"}
    assert qrels == {"B.1": {"7": 3}}


def test_runs_are_written_for_trec_eval_and_as_json(tmp_path):
    hits = Hits(["d1", "d2"], np.array([2.0, 1.5]))
    BenchmarkFolder(tmp_path).write_run(Run("bm25", {"q1": hits}, task=1))
    stored = json.loads((tmp_path / "runs" / "bm25.json").read_text())
    assert stored == {"q1": {"d1": 2.0, "d2": 1.5}}
    assert read_run(tmp_path / "runs" / "bm25.trec").lists["q1"].ids == ["d1", "d2"]
    formulas = FormulaHits(["f1"], np.array([1.0]), ["7"], ["p"])
    BenchmarkFolder(tmp_path).write_run(Run("slt", {"B.1": formulas}, task=2))
    assert json.loads((tmp_path / "runs" / "slt.json").read_text()) == {
        "B.1": {"7": 1.0}
    }


def test_what_cannot_be_read_back_is_written_as_text_and_named(tmp_path):
    """No reader keeps two spaces."""
    topic = Topic("A.1", "task1", 2020, "", (), "a  b", (), *[None] * 5)
    folder = BenchmarkFolder(tmp_path)
    assert folder.write_queries([topic], []) == 1
    (line,) = (tmp_path / "queries.jsonl").read_text().splitlines()
    assert json.loads(line) == {
        "_id": "A.1", "text": "a  b", "metadata": {"format": "text"},
    }  # fmt: skip
    assert folder.unfaithful == ["A.1"]


def test_a_folder_tells_how_many_it_wrote(tmp_path):
    raw = RawPost("s", "1", "d1", "document", *[None] * 4, (), "", "für $x$", "text")
    post, _ = PostCleaner()(raw)
    folder = BenchmarkFolder(tmp_path)
    assert folder.write_corpus([post, post._replace(post_id="d2")]) == 2
    assert "für" in (tmp_path / "corpus.jsonl").read_text(encoding="utf-8")
    assert folder.write_qrels("dev", {"q1": {"d1": 3, "d2": 0}, "q2": {"d1": 1}}) == 3
    pairs = [TrainingPair("query:q1", "d1"), TrainingPair("q1", "d2")]
    assert folder.write_pairs("train", pairs) == 2
    header, *rows = (tmp_path / "qrels" / "train.tsv").read_text().splitlines()
    assert (header, rows) == (
        "query-id\tcorpus-id\tscore", ["q1\td1\t1", "q1\td2\t1"],
    )  # fmt: skip


def test_a_question_to_learn_from_is_written_unless_it_is_a_topic(tmp_path):
    topic = Topic("q1", "task1", 2020, "", (), "one", (), *[None] * 5)
    raw = RawPost("s", "1", "", "question", *[None] * 4, (), "", "two", "text")
    post, _ = PostCleaner()(raw._replace(post_id="x"))
    questions = [post._replace(post_id=f"query:{name}") for name in ("q1", "q2")]
    assert BenchmarkFolder(tmp_path).write_queries([topic], questions) == 2
    lines = (tmp_path / "queries.jsonl").read_text().splitlines()
    assert [(json.loads(x)["_id"], json.loads(x)["text"]) for x in lines] == [
        ("q1", "one"), ("q2", "two"),
    ]  # fmt: skip


def test_a_run_is_a_file_whatever_its_name_and_length(tmp_path):
    ids = [f"d{n}" for n in range(1200)]
    hits = Hits(ids, np.arange(1200, 0, -1.0))
    BenchmarkFolder(tmp_path).write_run(Run("ssemb/mixed", {"q1": hits}, task=1))
    names = sorted(file.name for file in (tmp_path / "runs").iterdir())
    assert names == ["ssemb-mixed.json", "ssemb-mixed.trec"]
    assert read_run(tmp_path / "runs" / names[1]).lists["q1"].ids == ids
