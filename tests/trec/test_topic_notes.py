"""Notes about topics."""

from __future__ import annotations

import pytest

from mathamr_kedro.base.errors import MalformedInputError
from mathamr_kedro.trec import read_topic_notes


def written(tmp_path, text: str):
    path = tmp_path / "info.csv"
    path.write_text(text)
    return path


def test_columns_are_found_by_name(tmp_path):
    path = written(
        tmp_path,
        "Topic,Assessor Id,Dependency,Difficulty,Category\nA.201,2,Text,Low,Proof\n\n",
    )
    notes = {"dependency": "Text", "difficulty": "Low", "category": "Proof"}
    assert read_topic_notes(path) == {"A.201": notes, "B.201": notes}


def test_category_of_2021_has_the_name_of_the_other_years(tmp_path):
    path = written(
        tmp_path, "Topic\tCategory\nA.201\tCalculation\nA.202\tComputation\n"
    )
    info = read_topic_notes(path)
    assert info["A.201"] == info["A.202"] == {"category": "Computation"}


def test_formula_topics_share_the_notes_of_their_question(tmp_path):
    path = written(tmp_path, "Topic,Category\nA.201,Proof\nA.202,x\nB.202,Concept\n")
    notes = read_topic_notes(path)
    assert notes["B.201"] == {"category": "Proof"}
    assert notes["B.202"] == {"category": "Concept"}


@pytest.mark.parametrize("row", ["A.202", " ,Proof", "A.202,Low"])
def test_a_row_that_cannot_be_read_is_named(tmp_path, row):
    header = "Topic,Category,Difficulty" if "Low" in row else "Topic,Category"
    good = "A.201" + ",x" * header.count(",")
    path = written(tmp_path, f"{header}\n{good}\n{row}\n")
    with pytest.raises(MalformedInputError, match=r"info.csv, line 3"):
        read_topic_notes(path)


@pytest.mark.parametrize("header", ["Number of topics,Category", "Topic,Length", ""])
def test_a_file_without_the_columns_is_refused(tmp_path, header):
    with pytest.raises(MalformedInputError, match="Expected a column 'Topic'"):
        read_topic_notes(written(tmp_path, header + "\nA.1,x\n" if header else ""))
