"""Benchmarks in the form of BEIR and MTEB, whole and with bad lines."""

from __future__ import annotations

import gzip
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from mathamr_kedro.base.errors import MissingInputError
from mathamr_kedro.base.records import Failure, Judgment, TrainingPair
from mathamr_kedro.corpus import BeirCollection, BeirFiles
from mathamr_kedro.corpus.topics import clean_topic
from tests.pipelines.beir_world import DOCUMENTS, TEST, write_benchmark


@pytest.fixture
def folder(tmp_path):
    return write_benchmark(tmp_path / "mine")


def add_line(folder, name, line):
    with (folder / name).open("a", encoding="utf-8") as file:
        file.write(f"{line}\n")


def failures_of(found):
    return [(f.source, f.place, f.reason) for f in found if isinstance(f, Failure)]


def test_documents_and_the_queries_to_learn_from_are_posts(folder):
    posts = list(BeirCollection(folder).posts())
    assert [(p.post_id, p.post_type) for p in posts] == [
        *((i, "document") for i in DOCUMENTS),
        ("query:q3", "example"),  # d4 is asked too, and is a document
    ]
    assert (posts[0].title, posts[0].body) == DOCUMENTS["d1"]
    assert posts[0].markup == "markdown"
    assert (posts[0].source, posts[0].place) == ("corpus.jsonl", "line 1")


def test_topics_are_the_queries_that_the_split_judges(folder):
    topics = list(BeirCollection(folder).topics())
    assert [t.topic_id for t in topics] == ["q1", "q2", "d4"]
    clean, problems = clean_topic(topics[0], {})
    assert clean.text == "Why is FORMULA_0 irrational?"
    assert clean.formula_map[0].latex == r"\sqrt{2}"
    assert not problems
    other = BeirCollection(folder, BeirFiles(split="train"))
    assert [t.topic_id for t in other.topics()] == ["d4", "q3"]


def test_judgments_and_pairs_are_those_of_their_splits(folder):
    collection = BeirCollection(folder)
    assert list(collection.judgments()) == [
        Judgment(*row, "task1", "qrels/test.tsv") for row in TEST
    ]
    assert list(collection.pairs()) == [
        TrainingPair("query:q3", "d2"),
        TrainingPair("d4", "d5"),
    ]
    without = BeirCollection(folder, BeirFiles(training_split=None))
    assert list(without.pairs()) == []
    assert "query:q3" not in [p.post_id for p in without.posts()]


def test_a_document_of_the_same_id_and_another_text_is_no_query(folder):
    add_line(folder, "corpus.jsonl", json.dumps({"_id": "q3", "text": "Other words."}))
    collection = BeirCollection(folder)
    assert [p.post_id for p in collection.posts()][-2:] == ["q3", "query:q3"]
    assert next(collection.pairs()).question_id == "query:q3"


def test_documents_judged_0_make_no_pair(folder):
    add_line(folder, "qrels/train.tsv", "q3\td1\t0")
    assert ("query:q3", "d1") not in list(BeirCollection(folder).pairs())


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ('{"_id": "d9", "text": ', "bad_json"),
        ("[1, 2]", "bad_record"),
        ('{"text": "no id"}', "bad_record"),
        ('{"_id": "", "text": "no id"}', "bad_record"),
        ('{"_id": ["d9"], "text": "x"}', "bad_record"),
        ('{"_id": "d9", "title": "no text"}', "bad_record"),
        ('{"_id": "d9", "text": [3]}', "bad_record"),
        ('{"_id": "d9", "text": "x", "metadata": {"format": "word"}}', "bad_record"),
        ('{"_id": "d9", "text": "x", "metadata": ["a"]}', "bad_record"),
    ],
)
def test_a_bad_line_is_a_failure_with_its_place(folder, line, reason):
    add_line(folder, "corpus.jsonl", line)
    add_line(folder, "queries.jsonl", line)
    collection = BeirCollection(folder)
    posts, topics = list(collection.posts()), list(collection.topics())
    assert failures_of(posts) == [("corpus.jsonl", "line 6", reason)]
    assert failures_of(topics) == [("queries.jsonl", "line 5", reason)]
    assert len(posts) == len(DOCUMENTS) + 2
    assert len(topics) == 4


def test_bytes_that_are_no_text_cost_one_line(folder):
    with (folder / "corpus.jsonl").open("ab") as file:
        file.write(b'{"_id": "x", "text": "\xff"}\n{"_id": "d7", "text": "fine"}\n')
    posts = list(BeirCollection(folder).posts())
    assert failures_of(posts) == [("corpus.jsonl", "line 6", "bad_json")]
    assert "d7" in {p.post_id for p in posts if not isinstance(p, Failure)}


def test_bad_judgments_are_failures_with_their_lines(folder):
    for line in ("q1\td2", "q1\td5\tgood", "q1\td1\t2", "q1\td3\t1"):
        add_line(folder, "qrels/test.tsv", line)
    assert failures_of(BeirCollection(folder).judgments()) == [
        ("qrels/test.tsv", "line 6", "bad_judgment"),
        ("qrels/test.tsv", "line 7", "bad_grade"),
        ("qrels/test.tsv", "line 8", "repeated_judgment"),
        ("qrels/test.tsv", "line 9", "conflicting_judgment"),
    ]


def test_queries_that_are_twice_or_only_judged_are_told(folder):
    add_line(folder, "queries.jsonl", json.dumps({"_id": "q1", "text": "again"}))
    add_line(folder, "qrels/test.tsv", "q8\td1\t1")
    found = [x for x in BeirCollection(folder).topics() if isinstance(x, Failure)]
    assert [(f.record_id, f.reason, f.kept) for f in found] == [
        ("q1", "duplicate_query_id", False),
        ("q8", "judged_query_unknown", True),
    ]


def test_packed_files_are_read(folder):
    plain = list(BeirCollection(folder).posts()), list(BeirCollection(folder).pairs())
    for name in ("corpus.jsonl", "queries.jsonl", "qrels/test.tsv", "qrels/train.tsv"):
        data = (folder / name).read_bytes()
        (folder / f"{name}.gz").write_bytes(gzip.compress(data))
        (folder / name).unlink()
    packed = BeirCollection(folder)
    assert [p.post_id for p in packed.posts()] == [p.post_id for p in plain[0]]
    assert list(packed.pairs()) == plain[1]
    assert len(list(packed.judgments())) == len(TEST)


def test_a_damaged_file_is_told_once_and_keeps_what_came_before(folder):
    data = gzip.compress((folder / "corpus.jsonl").read_bytes() * 2000)
    (folder / "corpus.jsonl").unlink()
    (folder / "corpus.jsonl.gz").write_bytes(data[: len(data) // 2])
    posts = list(BeirCollection(folder, BeirFiles(training_split=None)).posts())
    assert [f[2] for f in failures_of(posts)] == ["damaged_file"]
    assert len(posts) > 5


def test_forms_of_mteb_are_read(folder):
    rows = [{"query-id": q, "corpus-id": i, "score": float(g)} for q, i, g in TEST]
    lines = [json.dumps(row) + "\n" for row in [*rows, {"query-id": "q1"}]]
    (folder / "qrels" / "test.tsv").unlink()
    (folder / "qrels" / "test.jsonl").write_text("".join(lines))
    names = ["id" if n == "_id" else n for n in ("_id", "title", "text")]
    documents = [dict(zip(names, (i, *t), strict=True)) for i, t in DOCUMENTS.items()]
    (folder / "corpus.jsonl").unlink()
    (folder / "corpus").mkdir()
    pq.write_table(pa.Table.from_pylist(documents), folder / "corpus" / "a.parquet")
    collection = BeirCollection(folder)
    assert [p.post_id for p in collection.posts()][:5] == list(DOCUMENTS)
    *judged, bad = collection.judgments()
    assert [j[:3] for j in judged] == TEST
    assert (bad.place, bad.reason) == ("line 5", "bad_judgment")


def test_parquet_judgments_are_read(folder):
    rows = [{"query-id": q, "corpus-id": i, "score": g} for q, i, g in TEST]
    (folder / "qrels" / "test.tsv").unlink()
    table = pa.Table.from_pylist(rows)
    pq.write_table(table, folder / "qrels" / "test-00000-of-00001.parquet")
    assert [j[:3] for j in BeirCollection(folder).judgments()] == TEST


def test_format_and_tags_of_a_record_count(folder):
    notes = {"format": "text", "tags": ["a", "b"]}
    row = {"_id": "d9", "text": "2 *3* 4", "metadata": notes}
    add_line(folder, "corpus.jsonl", json.dumps(row))
    post = list(BeirCollection(folder).posts())[5]
    assert (post.markup, post.tags) == ("text", ("a", "b"))


def test_what_is_missing_is_named(folder):
    with pytest.raises(MissingInputError, match=r"split 'tset'.*did you mean 'test'"):
        BeirCollection(folder, BeirFiles(split="tset")).check_layout()
    (folder / "queries.jsonl").unlink()
    with pytest.raises(MissingInputError, match=r"queries\.jsonl.*--env beir"):
        BeirCollection(folder).check_layout()


def test_without_judgments_every_query_is_a_topic(folder):
    for file in (folder / "qrels").iterdir():
        file.unlink()
    collection = BeirCollection(folder)
    assert len(list(collection.topics())) == 4
    assert list(collection.judgments()) == []


def test_another_split_leaves_the_documents_alone(folder):
    dev, test = (BeirCollection(folder, BeirFiles(split=s)) for s in ("train", "test"))
    assert dev.checksum("posts") == test.checksum("posts")
    assert dev.checksum("topics") != test.checksum("topics")
    add_line(folder, "qrels/test.tsv", "q1\td5\t1")
    assert BeirCollection(folder).checksum("posts") == dev.checksum("posts")


def test_an_id_of_a_thousand_characters_is_one(folder):
    for length in (1000, 1001):
        add_line(folder, "corpus.jsonl", json.dumps({"_id": "i" * length, "text": "x"}))
    fine, bad = list(BeirCollection(folder).posts())[5:7]
    assert fine.post_id == "i" * 1000
    assert (bad.reason, bad.place, bad.record_id) == (
        "bad_record",
        "line 7",
        "i" * 1000,
    )
    assert "at most 1000 characters" in bad.detail


@pytest.mark.parametrize(
    ("record", "detail"),
    [
        ({"id": True, "text": "x"}, "a text as 'id'"),
        ({"id": 1.5, "text": "x"}, "expected an id"),
        ({"_id": " ", "id": "d9", "text": "x"}, "expected an id, got an empty one"),
        ({"_id": "d9", "text": "x", "title": ["T"]}, "'title'"),
        ({"_id": "d9", "text": "x", "metadata": {"tags": "a"}}, "a list of tags"),
        ({"_id": "d9", "text": None}, "expected a text as 'text'"),
    ],
)
def test_what_is_wrong_with_a_record_is_told(folder, record, detail):
    add_line(folder, "corpus.jsonl", json.dumps(record))
    (bad,) = (x for x in BeirCollection(folder).posts() if isinstance(x, Failure))
    assert (bad.stage, bad.source, bad.place) == ("ingestion", "corpus.jsonl", "line 6")
    assert detail in bad.detail


def test_other_names_of_fields_and_empty_ones_are_read(folder):
    record = {"_id": None, "id": 7, "name": "T", "text": "x", "metadata": None}
    add_line(folder, "corpus.jsonl", "")
    add_line(folder, "corpus.jsonl", json.dumps(record))
    post = list(BeirCollection(folder).posts())[5]
    assert (post.post_id, post.title, post.body, post.tags) == ("7", "T", "x", ())
    assert post.place == "line 7"


def test_a_damaged_file_is_told_with_the_last_line_that_was_read(folder):
    (folder / "corpus.jsonl").unlink()
    packed = gzip.compress(b'{"_id": "d1", "text": "x"}\n')
    (folder / "corpus.jsonl.gz").write_bytes(packed + packed[:-4])
    (folder / "queries.jsonl.gz").write_bytes(packed[:12])
    (folder / "queries.jsonl").unlink()
    collection = BeirCollection(folder, BeirFiles(training_split=None))
    *_, bad = collection.posts()
    assert (bad.place, bad.reason) == ("after line 2", "damaged_file")
    bad = next(x for x in collection.topics() if x.reason == "damaged_file")
    assert (bad.place, bad.record_id) == ("line 1", "queries.jsonl.gz")


def test_rows_of_parquet_are_counted_through(folder):
    rows = [{"id": "d1", "text": "a"}, {"id": "d2"}, {"id": "d3", "text": "c"}]
    (folder / "corpus.jsonl").unlink()
    (folder / "corpus").mkdir()
    pq.write_table(pa.Table.from_pylist(rows), folder / "corpus" / "a.parquet")
    collection = BeirCollection(folder, BeirFiles(training_split=None))
    assert [(p.place, type(p) is Failure) for p in collection.posts()] == [
        ("row 1", False), ("row 2", True), ("row 3", False),
    ]  # fmt: skip
