"""Topic information."""

from __future__ import annotations

import pytest

from mathamr_kedro.errors import MalformedInputError
from mathamr_kedro.metrics.topic_info import info_of, read_topic_info


def written(tmp_path, text: str):
    path = tmp_path / "info.csv"
    path.write_text(text)
    return path


def test_columns_are_found_by_name(tmp_path):
    path = written(
        tmp_path,
        "Topic,Assessor Id,Dependency,Difficulty,Category\nA.201,2,Text,Low,Proof\n\n",
    )
    assert read_topic_info(path) == {
        "A.201": {"dependency": "Text", "difficulty": "Low", "category": "Proof"}
    }


def test_category_of_2021_has_the_name_of_the_other_years(tmp_path):
    path = written(
        tmp_path, "Topic\tCategory\nA.201\tCalculation\nA.202\tComputation\n"
    )
    info = read_topic_info(path)
    assert info["A.201"] == info["A.202"] == {"category": "Computation"}


def test_formula_topics_share_the_information_of_their_question():
    info = {"A.201": {"category": "Proof"}}
    assert info_of("B.201", info) == {"category": "Proof"}
    assert info_of("B.202", info) == {}


@pytest.mark.parametrize("header", ["Number of topics,Category", "Topic,Length", ""])
def test_a_file_without_the_columns_is_refused(tmp_path, header):
    with pytest.raises(MalformedInputError, match="Expected a column 'Topic'"):
        read_topic_info(written(tmp_path, header + "\nA.1,x\n" if header else ""))
