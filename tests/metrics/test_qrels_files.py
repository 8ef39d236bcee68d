"""Qrels, both ways."""

from __future__ import annotations

import pytest

from mathamr_kedro.errors import MalformedInputError
from mathamr_kedro.metrics.qrels_files import (
    judge_visual_ids,
    read_qrels,
    write_qrels,
)
from mathamr_kedro.metrics.runs import Qrels


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
    grades = read_qrels(path, highest_grade=4).grades
    assert grades == {"NTCIR12-MathWiki-1": {"B\u00e9zier:1": 4}}
    raw = read_qrels(path, highest_grade=4, names="as_written").grades
    assert raw == {"NTCIR12-MathWiki-1": {"Be\u0301zier:1": 4}}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("A.1 0 17 3\nA.1 0 4 4\n", r"grade from 0 to 3 \(got '4'\).*line 2"),
        ("A.1 0 17 3\nA.1 0 4 1.5\n", r"whole number as grade.*'1.5'.*line 2"),
        ("A.1 0 17 3\nA.1 0 4 good\n", r"whole number as grade.*'good'.*line 2"),
        ("A.1 0 17 3\nA.1 0 17 2\n", "Two grades for document '17'.*3 and 2.*line 2"),
        ("A.1 17 3\n", "Expected qrels with the 4 columns"),
        ("", "No judgments in qrels.tsv"),
    ],
)
def test_bad_lines_are_named(tmp_path, text, message):
    with pytest.raises(MalformedInputError, match=message):
        read_qrels(written(tmp_path, text))


def test_the_same_judgment_twice_is_one(tmp_path):
    qrels = read_qrels(written(tmp_path, "A.1 0 17 3\nA.1 0 17 3\n"))
    assert qrels.num_judgments == 1


def test_what_is_written_is_read_back(tmp_path):
    grades = {"B.1": {"17": 3, "4": 0}, "B.2": {"17": 1}}
    write_qrels(tmp_path / "q.tsv.gz", Qrels(grades))
    assert read_qrels(tmp_path / "q.tsv.gz").grades == grades


def test_visual_id_has_the_highest_grade_of_its_instances():
    old = Qrels({"B.1": {"f1": 0, "f2": 2, "f3": 1, "f9": 3}})
    new, unknown = judge_visual_ids(old, {"f1": "v1", "f2": "v1", "f3": "v2"})
    assert new.grades == {"B.1": {"v1": 2, "v2": 1}}
    assert unknown == ("f9",)
