"""Statements and the links of their proofs."""

from __future__ import annotations

import gzip
import json

import pytest

from mathamr_kedro.base.errors import MissingInputError
from mathamr_kedro.base.records import Judgment, Statement, StatementLink, TrainingPair
from mathamr_kedro.corpus import PremiseCollection, StatementFiles

LINE = {
    "id": "algebra-lemma-b", "tag": "00AB", "type": "lemma", "chapter": "algebra",
    "chapter_title": "Commutative Algebra", "number": "10.2.1", "order": 1, "line": 7,
    "section": "Rings", "name": "Prime avoidance", "slogan": None, "proved": True,
    "text": "Let $R$ be a ring.",
}  # fmt: skip


@pytest.fixture
def folder(tmp_path):
    rows = [LINE | {"id": f"algebra-lemma-{i}", "name": None} for i in "ac"]
    lines = [json.dumps(row) + "\n" for row in [rows[0], LINE, rows[1]]]
    path = tmp_path / "statements.jsonl.gz"
    path.write_bytes(gzip.compress("".join(lines).encode()))
    links = {"train": ("b", "a"), "dev": ("c", "b")}
    for split, (query, premise) in links.items():
        line = f"algebra-lemma-{query}\t0\talgebra-lemma-{premise}\t1\n"
        (tmp_path / f"qrels_{split}.tsv").write_text(line)
    return tmp_path


def open_split(folder, split="dev"):
    return PremiseCollection(folder, StatementFiles(split))


def test_every_statement_is_a_document_and_queries_are_statements(folder):
    collection = open_split(folder)
    posts, (topic,) = list(collection.posts()), collection.topics()
    assert [p.post_id[-1] for p in posts] == ["a", "b", "c"]
    assert {p.post_type for p in posts} == {"document"}
    assert posts[1].title == "Prime avoidance"
    assert (topic.topic_id, topic.question) == ("algebra-lemma-c", LINE["text"])


def test_links_of_the_training_part_are_pairs_and_those_of_the_other_judgments(folder):
    collection = open_split(folder)
    pair = ("algebra-lemma-b", "algebra-lemma-a")
    assert list(collection.pairs()) == [TrainingPair(*pair)]
    assert list(collection.statement_links()) == [StatementLink(*pair)]
    assert list(collection.judgments()) == [
        Judgment("algebra-lemma-c", "algebra-lemma-b", 1, "task1", "qrels_dev.tsv")
    ]


def test_kind_number_name_and_place_are_kept(folder):
    found = list(open_split(folder).statements())
    assert len(found) == 3
    assert found[1] == Statement(
        "algebra-lemma-b", "lemma", "10.2.1", "Prime avoidance", "algebra-lemma-b",
        "Rings", "Commutative Algebra", "algebra.tex", "line 7", True, "",
    )  # fmt: skip


def test_other_links_leave_the_statements_alone(folder):
    before = open_split(folder).checksum("posts")
    (folder / "qrels_train.tsv").write_text("algebra-lemma-c\t0\talgebra-lemma-a\t1\n")
    assert open_split(folder, "train").checksum("posts") == before
    assert open_split(folder).checksum("pairs") != before


def test_links_that_are_there_packed_too_are_read_once(folder):
    plain, packed = folder / "qrels_dev.tsv", folder / "qrels_dev.tsv.gz"
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    (judgment,) = open_split(folder).judgments()
    assert judgment.source == plain.name
    plain.unlink()
    (judgment,) = open_split(folder).judgments()
    assert judgment.source == packed.name


def test_missing_parts_are_named(folder):
    with pytest.raises(MissingInputError, match=r"split 'test'.*there are dev, train"):
        open_split(folder, "test").check_layout()
    with pytest.raises(MissingInputError, match="MATHAMR_STATEMENTS"):
        PremiseCollection(folder / "nowhere").check_layout()


@pytest.mark.shared
def test_the_stacks_project_is_read_whole(shared):
    collection = open_split(shared / "statements")
    assert sum(1 for _ in collection.posts()) == 16_859
    assert sum(1 for _ in collection.topics()) == 1_695
    assert sum(1 for _ in collection.judgments()) == 5_660
    assert sum(1 for _ in collection.pairs()) == 25_654
