"""Other topics and judgments leave what was made from the posts as it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from mathamr_kedro.corpus import ArqmathCollection, ArqmathFiles

pytestmark = pytest.mark.slow


def times(catalog, name: str) -> dict[str, int]:
    return {f.name: f.stat().st_mtime_ns for f in catalog.load(name).files()}


def test_new_topics_do_not_redo_posts(ingest, raw: Path) -> None:
    before = ingest()
    tables = ("posts", "comments", "formulas")
    known = {name: times(before, name) for name in tables}
    trees = before.load("formula_trees").made_from
    topics = raw / "Topics/Task1/Topics_Task1.xml"
    topics.write_text(topics.read_text().replace("A.1", "A.2"))
    for file in (raw / "Topics/Task1").glob("*Formulas*.tsv"):
        text = file.read_text().replace("A.1", "A.2")
        file.write_text(text.replace("x^2", "z^3").replace("<m/>", ""))
    (raw / "Qrels/qrel_task1.tsv").write_text("A.2\t0\t3\t1\n")
    after = ingest()
    assert {name: times(after, name) for name in tables} == known
    assert [t.topic_id for t in after.load("topics").records()] == ["A.2"]
    judged = [j for j in after.load("judgments").records() if j.task == "task1"]
    assert [(j.topic_id, j.doc_id, j.grade) for j in judged] == [("A.2", "3", 1)]
    store = after.load("formula_trees")
    assert store.made_from == trees
    (formula,) = after.load("topic_formulas").records()
    assert store.trees(formula.visual_id) is not None


def test_new_posts_are_read(ingest, raw: Path) -> None:
    ingest()
    posts = raw / "Posts.V1.3.xml"
    posts.write_text(posts.read_text().replace("Yes.", "Perhaps."))
    texts = [post.text for post in ingest().load("posts").records()]
    assert "Perhaps." in texts


def test_topics_may_lie_outside_of_the_collection(raw: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere" / "Topics.xml"
    elsewhere.parent.mkdir()
    elsewhere.write_text((raw / "Topics/Task1/Topics_Task1.xml").read_text())
    files = ArqmathFiles("Posts.V1.3.xml", topics=(f"{tmp_path}/else*/*.xml",))
    collection = ArqmathCollection(raw, files)
    (topic,) = collection.topics()
    assert (topic.topic_id, topic.source) == ("A.1", elsewhere.as_posix())
    before = collection.checksum("topics"), collection.checksum("posts")
    elsewhere.write_text(elsewhere.read_text() + "\n")
    assert collection.checksum("topics") != before[0]
    assert collection.checksum("posts") == before[1]
