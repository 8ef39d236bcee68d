"""Queries whose answers are known, over any collection."""

from __future__ import annotations

import gzip
import json

import pytest
from kedro.io import DatasetError

from mathamr_kedro.base.records import Failure, Judgment
from mathamr_kedro.datasets.collections import CollectionDataset

THEOREMS = [
    {"name": "Kraft inequality", "text": "Prefix codes with $l_i$."},
    {"name": "Huffman coding", "text": "Optimal codes."},
]
LEMMA = {
    "name": "Finset.interSubset_left", "kind": "theorem", "doc": "Their meet.",
    "signature": ": s ∩ t ⊆ s", "file": "Mathlib/Basic.lean", "line": 7,
}  # fmt: skip
PAPER = r"""\newtheorem{lem}{Lemma}
\begin{document}
Prose.
\begin{lem}[Snakes]\label{a} Exact. \end{lem}
\begin{lem}\label{b} Longer. \end{lem}
\end{document}"""
SITE = """<posts>
<row Id="1" PostTypeId="1" Title="Why primes?" Body="?" Tags="&lt;prime-numbers&gt;"/>
<row Id="2" PostTypeId="2" ParentId="1" Body="So."/>
<row Id="3" PostTypeId="2" ParentId="1" Body="Thus."/>
<row Id="4" PostTypeId="1" Title="Nobody answers" Body="?" Tags="&lt;sets&gt;"/>
</posts>"""


@pytest.fixture
def ask(tmp_path):
    """Open a collection with queries for it."""

    def ask(queries, /, kind="premises", **settings):
        file = tmp_path / "queries.jsonl"
        file.write_text("".join(json.dumps(query) + "\n" for query in queries))
        given = {"queries": [str(file)]} | settings
        return CollectionDataset(kind=kind, root=str(tmp_path), **given).load()

    return ask


def write_rows(folder, name, rows):
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    (folder / name).write_bytes(gzip.compress(text.encode()))


def make_query(key, *relevant):
    text = f"What is {key}, $x$?"
    return {"id": key, "kind": "question", "text": text, "relevant": relevant}


def test_documents_without_an_id_are_known_by_their_name(ask, tmp_path):
    write_rows(tmp_path, "theorems.jsonl.gz", THEOREMS)
    files = {"documents": "theorems.jsonl*"}
    found = ask([make_query("q1", "Kraft inequality")], files=files)
    assert [p.post_id for p in found.posts()] == ["Kraft_inequality", "Huffman_coding"]
    (topic,) = found.topics()
    assert (topic.topic_id, topic.question) == ("q1", "What is q1, $x$?")
    assert list(found.judgments()) == [
        Judgment("q1", "Kraft_inequality", 1, "task1", "queries.jsonl")
    ]
    assert list(found.pairs()) == []  # nothing is learnt


def test_the_text_of_a_declaration_has_the_words_of_its_name(ask, tmp_path):
    write_rows(tmp_path, "mathlib.jsonl.gz", [LEMMA])
    files = {
        "documents": "mathlib.jsonl*", "text": ["doc", "signature"], "format": "text",
    }  # fmt: skip
    found = ask([make_query("q", LEMMA["name"])], files=files)
    (post,), (statement,) = found.posts(), found.statements()
    assert post.post_id == post.title == LEMMA["name"]
    assert post.body.split("\n\n") == [
        "Finset inter Subset left", LEMMA["doc"], LEMMA["signature"],
    ]  # fmt: skip
    assert (statement.kind, statement.source) == ("theorem", LEMMA["file"])
    assert statement.place == "line 7"


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        (make_query("q2", "Unknown theorem"), "answer_missing"),
        (make_query("q1", "Huffman coding"), "duplicate_query_id"),
        ({"id": "q2", "text": "No answers"}, "bad_record"),
    ],
)
def test_queries_that_cannot_be_scored_are_reported(ask, tmp_path, query, reason):
    write_rows(tmp_path, "statements.jsonl.gz", THEOREMS)
    found = ask([make_query("q1", "Kraft inequality"), query])
    first, failure = found.topics()
    assert first.topic_id == "q1"
    assert isinstance(failure, Failure) and failure.reason == reason
    assert (failure.source, failure.place) == ("queries.jsonl", "line 2")
    assert [j.doc_id for j in found.judgments()] == ["Kraft_inequality"]


def test_statements_are_the_candidates_with_their_names_or_without(ask, tmp_path):
    (tmp_path / "paper.tex").write_text(PAPER)
    query = make_query("q", "paper-a")
    named = ask([query], "own", unit="statement")
    assert [(p.post_id, p.title) for p in named.posts()] == [
        ("paper-a", "Snakes"),
        ("paper-b", ""),
    ]
    hidden = ask([query], "own", unit="statement", names=False)
    assert [p.title for p in hidden.posts()] == ["", ""]
    assert [s.name for s in hidden.statements()] == [None, None]
    assert hidden.checksum("posts") != named.checksum("posts")


def test_tags_and_titles_ask_for_the_answers_below_them(ask, tmp_path):
    (tmp_path / "Posts.xml").write_text(SITE)
    files = {"posts": "Posts.xml"}
    found = ask([], "arqmath", files=files, queries=["tags", "titles"])
    asked = {topic.topic_id: topic.question for topic in found.topics()}
    assert asked == {"tag-prime-numbers": "prime numbers", "title-1": "Why primes?"}
    assert [(j.topic_id, j.doc_id) for j in found.judgments()] == [
        ("tag-prime-numbers", "2"),
        ("tag-prime-numbers", "3"),
        ("title-1", "2"),
        ("title-1", "3"),
    ]


def test_missing_queries_are_named_with_their_variable(ask, tmp_path):
    write_rows(tmp_path, "statements.jsonl.gz", THEOREMS)
    with pytest.raises(DatasetError, match=r"no\.jsonl'; set MATHAMR_QUERIES"):
        ask([], queries=[str(tmp_path / "no.jsonl")])
