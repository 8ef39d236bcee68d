import numpy as np
import pyarrow as pa
import pytest

from mathamr_kedro.base.errors import MalformedInputError
from mathamr_kedro.base.records import Failure, Judgment
from mathamr_kedro.corpus.formula_index import VisualIndex
from mathamr_kedro.corpus.judgments import (
    check_formula_ids,
    read_judgments,
    unknown_posts,
)


def read(tmp_path, text, task="task1"):
    file = tmp_path / "qrel.tsv"
    file.write_text(text)
    return list(read_judgments(file, "qrel.tsv", task))


def test_grades_are_read_as_integers(tmp_path):
    found = read(tmp_path, "A.1\t0\t12\t3\nA.1 0 13 2.0\n")
    assert found == [
        Judgment("A.1", "12", 3, "task1", "qrel.tsv"),
        Judgment("A.1", "13", 2, "task1", "qrel.tsv"),
    ]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("A.1 0 12", "bad_judgment"),
        ("A.1 0 12 x", "bad_grade"),
        ("A.1 0 12 4", "bad_grade"),
        ("A.1 0 12 7", "bad_grade"),
        ("A.1 0 12 5", "no_judgment"),
        ("A.1 0 12 1.5", "bad_grade"),
    ],
)
def test_bad_line_is_a_failure_with_its_place(tmp_path, line, reason):
    (found,) = read(tmp_path, f"\n{line}\n")
    assert isinstance(found, Failure)
    assert (found.reason, found.place) == (reason, "line 2")


def test_topics_of_another_task_are_refused(tmp_path):
    with pytest.raises(MalformedInputError, match=r"line 2: topic 'A\.1'.*'task2'"):
        read(tmp_path, "\nA.1\t0\t12\t3\n", task="task2")


def test_grades_of_ntcir_go_to_four(tmp_path):
    (found,) = read(tmp_path, "NTCIR12-MathWiki-1 xxx Zeta:7 4.0\n", task="ntcir12")
    assert found.grade == 4


def test_second_judgment_of_a_document_is_reported(tmp_path):
    found = read(tmp_path, "A.1 0 5 3\nA.1 0 5 3\nA.1 0 5 1\n")
    assert found[0] == Judgment("A.1", "5", 3, "task1", "qrel.tsv")
    assert [(f.reason, f.place) for f in found[1:]] == [
        ("repeated_judgment", "line 2"),
        ("conflicting_judgment", "line 3"),
    ]


def test_judged_post_that_is_not_here_is_noted():
    judgments = [
        Judgment("A.1", "5", 3, "task1", "f"),
        Judgment("A.1", "6", 0, "task1", "f"),
        Judgment("B.1", "7", 0, "task2", "g"),
    ]
    found = list(unknown_posts(judgments, {"5"}, "task1"))
    assert [(f.record_id, f.reason, f.kept) for f in found] == [
        ("6", "judged_document_unknown", True)
    ]


@pytest.fixture
def index():
    """1,000 formulas; formula ids near 20 million, visual ids near 5 million."""
    ids = np.arange(20_000_000, 20_001_000)
    columns = {
        "formula_id": [str(i) for i in ids],
        "visual_id": [str(5_000_000 + 7 * (i % 600)) for i in ids],
    }
    return VisualIndex.build([pa.table(columns)])


def judge(ids, task="task2"):
    return [Judgment("B.1", str(i), 1, task, "qrel.tsv") for i in ids]


def test_visual_ids_pass(index):
    check_formula_ids(judge(range(5_000_000, 5_000_700, 7)), index)


def test_formula_ids_in_place_of_visual_ids_are_refused(index):
    with pytest.raises(MalformedInputError, match=r"qrel\.tsv.*100 of.*formula ids"):
        check_formula_ids(judge(range(20_000_000, 20_000_100)), index)


def test_visual_ids_in_place_of_formula_ids_are_refused(index):
    ids = range(5_000_000, 5_000_700, 7)
    with pytest.raises(MalformedInputError, match="list it under 'task2'"):
        check_formula_ids(judge(ids, "task2_formulas"), index)


def test_numbering_of_2020_is_refused(index):
    with pytest.raises(MalformedInputError, match="own numbering of 2020"):
        check_formula_ids(judge(range(1, 1000)), index)


def test_index_finds_visual_ids(index, tmp_path):
    index.save(tmp_path / "index")
    for found in (index, VisualIndex.load(tmp_path / "index")):
        assert len(found) == 1000
        assert found("20000003") == "5001421"
        assert found("q_3") is None
        assert found("7") is None
        assert found("99999999") is None


def test_index_of_unordered_tables_is_ordered():
    columns = {"formula_id": ["9", "2"], "visual_id": ["90", "20"]}
    index = VisualIndex.build([pa.table(columns), pa.table(columns).slice(0, 0)])
    assert (index("2"), index("9")) == ("20", "90")


def test_index_of_a_collection_without_formulas_is_empty():
    index = VisualIndex.build([])
    assert len(index) == 0
    assert index("1") is None
