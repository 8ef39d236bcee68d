"""Qrels, both ways."""

from __future__ import annotations

import pytest

from mathamr_kedro.base.errors import MalformedInputError
from mathamr_kedro.base.records import Failure, Judgment
from mathamr_kedro.trec import (
    ARQMATH,
    NTCIR12,
    TREC,
    Qrels,
    iter_judgments,
    read_qrels,
)


def written(tmp_path, text: str):
    path = tmp_path / "qrels.tsv"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    "text",
    ["A.1\t0\t17\t3\nA.1\t0\t4\t0\n", "A.1 xxx 17 3.0\nA.1 xxx 4 0.0\r\n"],
)
def test_grades_are_whole_numbers_in_any_spelling(tmp_path, text):
    assert read_qrels(written(tmp_path, text)).grades == {"A.1": {"17": 3, "4": 0}}


def test_failures_and_unknowns_are_unjudged(tmp_path):
    qrels = read_qrels(
        written(tmp_path, "A.1 0 17 5\nA.1 0 4 6\nA.1 0 9 2\nA.1 0 8 -1")
    )
    assert qrels.grades == {"A.1": {"9": 2}}
    assert qrels.num_unjudged_lines == 3


def test_ntcir_grades_go_to_four(tmp_path):
    path = written(tmp_path, "NTCIR12-MathWiki-1 xxx Be\u0301zier:1 4.0\n")
    grades = read_qrels(path, NTCIR12).grades
    assert grades == {"NTCIR12-MathWiki-1": {"B\u00e9zier:1": 4}}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("A.1 0 17 3\nA.1 0 4 4\n", r"grade from 0 to 3 \(got '4'\).*line 2"),
        ("A.1 0 17 3\nA.1 0 4 7\n", r"grade from 0 to 3 \(got '7'\).*line 2"),
        ("A.1 0 17 3\nA.1 0 4 1.5\n", r"grade from 0 to 3 \(got '1.5'\).*line 2"),
        ("A.1 0 17 3\nA.1 0 4 good\n", r"grade from 0 to 3 \(got 'good'\).*line 2"),
        ("A.1 0 17 3\nA.1 0 17 2\n", "Two grades for document '17'.*3 and 2.*line 2"),
        ("A.1 17 3\n", r"4 columns.*got 3.*qrels.tsv, line 1"),
        ("", "No judgments in qrels.tsv"),
    ],
)
def test_bad_lines_are_named(tmp_path, text, message):
    with pytest.raises(MalformedInputError, match=message):
        read_qrels(written(tmp_path, text))


def test_the_same_judgment_twice_is_one(tmp_path):
    qrels = read_qrels(written(tmp_path, "A.1 0 17 3\nA.1 0 17 3\n"))
    assert qrels.num_judgments == 1


def test_visual_id_has_the_highest_grade_of_its_instances():
    old = Qrels({"B.1": {"f1": 0, "f2": 2, "f3": 1, "f9": 3}})
    new, unknown = old.judge_visual_ids({"f1": "v1", "f2": "v1", "f3": "v2"})
    assert new.grades == {"B.1": {"v1": 2, "v2": 1}}
    assert unknown == ("f9",)


def judgments(tmp_path, text: str, scale=ARQMATH):
    return list(iter_judgments(written(tmp_path, text), "task1", "q.tsv", scale))


def test_judgments_are_read_line_by_line(tmp_path):
    assert judgments(tmp_path, "A.1\t0\t12\t3\nA.2 0 13 2.0\nA.1\t0\t9\t0\n") == [
        Judgment("A.1", "12", 3, "task1", "q.tsv"),
        Judgment("A.2", "13", 2, "task1", "q.tsv"),
        Judgment("A.1", "9", 0, "task1", "q.tsv"),
    ]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("A.1 0 12", "bad_judgment"),
        ("A.1 0 12 3 4", "bad_judgment"),
        ("A.1 0 12 x", "bad_grade"),
        ("A.1 0 12 4", "bad_grade"),
        ("A.1 0 12 7", "bad_grade"),
        ("A.1 0 12 1.5", "bad_grade"),
        ("A.1 0 12 nan", "bad_grade"),
        ("A.1 0 12 -1", "no_judgment"),
        ("A.1 0 12 5", "no_judgment"),
        ("A.1 0 12 6.0", "no_judgment"),
        ("A.1 0 17 3", "repeated_judgment"),
        ("A.1 0 17 0", "conflicting_judgment"),
    ],
)
def test_a_line_that_is_no_judgment_is_a_failure_with_its_place(tmp_path, line, reason):
    first, found, last = judgments(tmp_path, f"A.1 0 17 3\n\n{line}\nA.1 0 18 1\n")
    assert (first.doc_id, last.doc_id) == ("17", "18")
    assert isinstance(found, Failure)
    assert (found.reason, found.source, found.place, found.kept) == (
        reason, "q.tsv", "line 3", False,
    )  # fmt: skip


def test_a_topic_of_another_task_is_a_failure_and_lines_after_it_count(tmp_path):
    path = written(tmp_path, "A.1 0 12 3\nB.1 0 13 2\nA.2 0 14 1\n")
    first, other, last = iter_judgments(path, "task1", "q.tsv", ARQMATH, "A.")
    assert (first.doc_id, last.doc_id) == ("12", "14")
    assert (other.place, other.record_id) == ("line 2", "B.1")
    assert other.reason == "other_topic"


def test_grades_belong_to_the_collection(tmp_path):
    text = "t 0 1 4\nt 0 2 5\nt 0 3 -1\n"
    assert [getattr(j, "reason", "read") for j in judgments(tmp_path, text)] == [
        "bad_grade", "no_judgment", "no_judgment",
    ]  # fmt: skip
    found = judgments(tmp_path, text, NTCIR12)
    assert [getattr(j, "reason", "read") for j in found] == [
        "read", "bad_grade", "no_judgment",
    ]  # fmt: skip


def test_grades_of_trec_have_two_ways_to_say_that_there_is_none(tmp_path):
    text = "t 0 1 1000\nt 0 2 -1\nt 0 3 -2\nt 0 4 0\n"
    qrels = read_qrels(written(tmp_path, text), TREC)
    assert qrels.grades == {"t": {"1": 1000, "4": 0}}
    assert qrels.num_unjudged_lines == 2
    assert Qrels(qrels.grades).num_unjudged_lines == 0
    with pytest.raises(MalformedInputError, match="got '-3'"):
        read_qrels(written(tmp_path, "t 0 1 -3\n"), TREC)
    with pytest.raises(MalformedInputError, match="from 0 to 1000"):
        read_qrels(written(tmp_path, "t 0 1 1001\n"), TREC)


@pytest.mark.parametrize("scale", [ARQMATH, NTCIR12])
def test_both_readers_take_the_same_lines(tmp_path, scale):
    cells = ["0", "3.0", "4", "5", "6", "-1", "7", "x"]
    for cell in cells:
        text = f"A.1 0 1 {cell}\nA.1 0 2 0\n"
        found = [j for j in judgments(tmp_path, text, scale)]
        taken = {j.doc_id: j.grade for j in found if isinstance(j, Judgment)}
        bad = [f for f in found if isinstance(f, Failure) and f.reason == "bad_grade"]
        if bad:
            with pytest.raises(MalformedInputError, match="line 1"):
                read_qrels(tmp_path / "qrels.tsv", scale)
        else:
            assert read_qrels(tmp_path / "qrels.tsv", scale).grades["A.1"] == taken


def test_judgments_are_counted_over_topics():
    assert Qrels({"A.1": {"17": 3, "4": 0}, "A.2": {"17": 1}}).num_judgments == 3


def test_the_form_of_beir_is_read_by_its_header(tmp_path):
    text = "query-id\tcorpus-id\tscore\nq1\td1\t2\nq1\td2\nq2\td1\t7\nq2\td3\t0\n"
    path = written(tmp_path, text)
    found = list(iter_judgments(path, "task1", "q.tsv", ARQMATH))
    assert [x[:3] for x in found if isinstance(x, Judgment)] == [
        ("q1", "d1", 2), ("q2", "d3", 0),
    ]  # fmt: skip
    assert [(f.place, f.reason) for f in found if isinstance(f, Failure)] == [
        ("line 3", "bad_judgment"), ("line 4", "bad_grade"),
    ]  # fmt: skip
    assert "3 columns 'query-id corpus-id score'" in found[1].detail
    path = written(tmp_path, text.replace("q1\td2\n", ""))
    grades = read_qrels(path, TREC).grades
    assert grades == {"q1": {"d1": 2}, "q2": {"d1": 7, "d3": 0}}


def test_a_file_of_the_header_alone_has_no_judgments(tmp_path):
    path = written(tmp_path, "query-id\tcorpus-id\tscore\n")
    with pytest.raises(MalformedInputError, match="No judgments"):
        read_qrels(path, TREC)


def test_topics_without_a_grade_are_told_and_a_file_without_one_is_refused(tmp_path):
    file = tmp_path / "qrels.txt"
    file.write_text("A.1 0 d1 1\nA.2 0 d1 -1\nA.2 0 d2 -1\n")
    assert read_qrels(file).unjudged_topics == ("A.2",)
    file.write_text("A.1 0 d1 -1\nA.1 0 d2 -1\n")
    with pytest.raises(MalformedInputError, match="2 lines say that there is none"):
        read_qrels(file)
