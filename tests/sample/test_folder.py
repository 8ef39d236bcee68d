"""A tiny collection written to a folder, read back by other means than ours."""

from __future__ import annotations

import csv
import gzip
import html
from pathlib import Path
from xml.etree import ElementTree

import pytest

from mathamr_kedro.base.errors import MalformedInputError
from tools.sample.collection import build_collection
from tools.sample.contents import Contents
from tools.sample.folder import (
    compare_files,
    read_cells,
    render_files,
    write_files,
)
from tools.sample.mathml import Cells
from tools.sample.threads import Answer, AnswerTopic, FormulaTopic, Thread

CONTENTS = Contents(
    (
        Thread(
            key="area/one",
            title="Is $x<1$ \"small\"?",
            question="Say\n\n$$y & z$$",
            tags=("a-tag", "b-tag"),
            score=4,
            comments=("Try $w$.",),
            related=("area/two",),
            answers=(
                Answer("No, $x<1$.", score=-1),
                Answer("Yes: `a\"b`.", accepted=True, comments=("Fine.",)),
            ),
        ),
        Thread("area/two", "Two", "", ("a-tag",), (), duplicate_of="area/one"),
    ),
    (
        AnswerTopic(
            key="area/topic",
            title="What is $u$?",
            question="Is it $$v$$ or $x<1$?",
            tags=("a-tag", "c-tag"),
            grades={"area/one#1": 3, "area/one#2": 0},
            category="Proof",
            difficulty="Low",
            dependency="Text",
        ),
    ),
    (FormulaTopic("area/topic", "v", {"x<1": 2, "y & z": 3, "w": 0}),),
)  # fmt: skip
COLLECTION = build_collection(CONTENTS)
# y & z and w look the same here: their visual id takes the higher grade.
CELLS = {
    latex: Cells(
        f'<math a="{html.escape(latex)}"><mi>{look}</mi></math>', f"<o>{look}</o>"
    )
    for latex, look in {"x<1": "1", "y & z": "2", "w": "2", "u": "3", "v": "4"}.items()
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_files(tmp_path, render_files(COLLECTION, CELLS))
    return tmp_path


def _rows(path: Path) -> list[dict[str, str]]:
    return [row.attrib for row in ElementTree.parse(path).getroot()]


def _table(path: Path) -> list[dict[str, str]]:
    opened = gzip.open(path, "rt") if path.suffix == ".gz" else path.open()
    with opened as lines:
        return list(csv.DictReader(lines, dialect="excel-tab"))


def _index(folder: Path, family: str) -> list[dict[str, str]]:
    parts = sorted(folder.glob(f"Formulas/{family}_representation_v3/*"))
    return [row for part in parts for row in _table(part)]


def test_posts_carry_what_a_dump_carries(folder):
    posts = {row["Id"]: row for row in _rows(folder / "Posts.V1.3.xml")}
    question = posts[str(COLLECTION.question_ids["area/one"])]
    accepted = posts[question["AcceptedAnswerId"]]
    assert question["Tags"] == "<a-tag><b-tag>"
    assert (question["Score"], question["AnswerCount"], question["CommentCount"]) == (
        "4", "2", "1",
    )  # fmt: skip
    assert accepted["ParentId"] == question["Id"]
    assert accepted["Body"] == '<p>Yes: <code>a"b</code>.</p>'
    assert list(posts) == sorted(posts, key=int)
    assert "AcceptedAnswerId" not in posts[str(COLLECTION.question_ids["area/two"])]


def test_formulas_stand_in_spans_without_dollars_and_keep_line_breaks(folder):
    question = str(COLLECTION.question_ids["area/one"])
    body = next(
        row["Body"] for row in _rows(folder / "Posts.V1.3.xml") if row["Id"] == question
    )
    span = f'<span class="math-container" id="{question}002">y &amp; z</span>'
    assert body == f"<p>Say</p>\n<p>{span}</p>"


def test_the_three_families_have_the_same_rows_in_the_same_order(folder):
    latex, slt, opt = (_index(folder, family) for family in ("latex", "slt", "opt"))
    assert [row["formula"] for row in latex] == [
        latex for latex in ("x<1", "y & z", "w", "x<1")
    ]
    for row, presentation, content in zip(latex, slt, opt, strict=True):
        formula = row.pop("formula")
        assert (
            Cells(presentation.pop("formula"), content.pop("formula")) == CELLS[formula]
        )
        assert row == presentation == content


def test_places_and_comments_are_told_apart(folder):
    rows = _index(folder, "latex")
    comment_ids = {row["Id"] for row in _rows(folder / "Comments.V1.3.xml")}
    assert [row["type"] for row in rows] == ["title", "question", "comment", "answer"]
    assert [row["comment_id"] in comment_ids for row in rows] == [
        False,
        False,
        True,
        False,
    ]
    assert len({row["visual_id"] for row in rows}) == 2


def test_links_tags_and_votes_refer_to_posts(folder):
    one, two = (str(COLLECTION.question_ids[f"area/{name}"]) for name in ("one", "two"))
    links = _rows(folder / "PostLinks.V1.3.xml")
    assert [(r["PostId"], r["RelatedPostId"], r["LinkTypeId"]) for r in links] == [
        (one, two, "1"), (two, one, "3"),
    ]  # fmt: skip
    tags = {row["TagName"]: row["Count"] for row in _rows(folder / "Tags.V1.3.xml")}
    assert tags == {"a-tag": "2", "b-tag": "1"}
    votes = _rows(folder / "Votes.V1.3.xml")
    assert sum(row["VoteTypeId"] == "1" for row in votes) == 1


def test_topics_carry_dollars_and_their_formula(folder):
    topic = ElementTree.parse(folder / "Topics/Task2/Topics_Task2_Sample.xml").find(
        "Topic"
    )
    assert topic.get("number") == "B.1001"
    assert topic.findtext("Formula_Id") == "q_2"
    assert topic.findtext("Latex") == "v"
    assert topic.findtext("Title") == (
        'What is <span class="math-container" id="q_1">$u$</span>?'
    )
    assert topic.findtext("Tags") == "a-tag,c-tag"
    rows = _table(folder / "Topics/Formulas/Topics_Sample_Formulas_Latex.tsv")
    assert [(r["id"], r["topic_id"], r["type"], r["formula"]) for r in rows] == [
        ("q_1", "A.1001", "title", "u"),
        ("q_2", "A.1001", "question", "v"),
        ("q_3", "A.1001", "question", "x<1"),
    ]


def test_judgments_use_post_ids_and_visual_ids(folder):
    task1 = (folder / "Qrels/qrel_task1_sample.tsv").read_text().splitlines()
    first, second = (COLLECTION.answer_ids[f"area/one#{n}"] for n in (1, 2))
    assert task1 == [f"A.1001\t0\t{first}\t3", f"A.1001\t0\t{second}\t0"]
    visual = {row["formula"]: row["visual_id"] for row in _index(folder, "latex")}
    task2 = (folder / "Qrels/qrel_task2_sample.tsv").read_text().splitlines()
    assert set(task2) == {
        f"B.1001\t0\t{visual['x<1']}\t2", f"B.1001\t0\t{visual['w']}\t3",
    }  # fmt: skip


def test_what_was_written_is_current_and_serves_as_cache(folder):
    files = render_files(COLLECTION, CELLS)
    assert compare_files(folder, files) == []
    assert read_cells(folder) == CELLS
    assert write_files(folder, files) == []


def test_changed_missing_and_extra_files_are_found_and_mended(folder):
    files = render_files(COLLECTION, CELLS)
    (folder / "LICENSE").write_text("mine")
    (folder / "Tags.V1.3.xml").unlink()
    (folder / "extra.txt").write_text("")
    part = folder / "Formulas/slt_representation_v3/1.tsv.gz"
    part.write_bytes(gzip.compress(gzip.decompress(part.read_bytes())[:-1]))
    differing = ["Formulas/slt_representation_v3/1.tsv.gz", "LICENSE", "Tags.V1.3.xml",
                 "extra.txt"]  # fmt: skip
    assert compare_files(folder, files) == differing
    assert write_files(folder, files) == differing
    assert compare_files(folder, files) == []


def test_compressed_files_hold_no_time(folder, tmp_path_factory):
    again = tmp_path_factory.mktemp("again")
    write_files(again, render_files(COLLECTION, CELLS))
    name = "Formulas/opt_representation_v3/1.tsv.gz"
    assert (folder / name).read_bytes() == (again / name).read_bytes()


def test_families_of_different_length_are_no_cache(folder):
    path = folder / "Formulas/opt_representation_v3/1.tsv.gz"
    rows = gzip.decompress(path.read_bytes()).splitlines(keepends=True)
    path.write_bytes(gzip.compress(b"".join(rows[:-1])))
    with pytest.raises(MalformedInputError, match="as many rows in each family"):
        read_cells(folder)
