"""Records of graph shards."""

from __future__ import annotations

from pathlib import Path

import penman
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mathamr_kedro.base.errors import GraphError, MalformedInputError
from mathamr_kedro.base.records import FormulaMention, Post, Topic
from mathamr_kedro.graph.penman_records import (
    GraphRecord,
    RecordFile,
)

SERIES = GraphRecord(
    "255",
    "(c / converge-01\n  :polarity -\n  :ARG1 (s / series\n    :mod (f / FORMULA_0)))",
    "question",
    (
        FormulaMention("FORMULA_0", "2618", "4097", r"\sum \frac1n", 20, 29),
        FormulaMention("FORMULA_1", "2619", "8", "n", 40, 49),
    ),
    ("FORMULA_1",),
)
LINES = r"""# ::id 255
# ::post_type question
# ::missing FORMULA_1
# ::formula_map {"FORMULA_0": {"formula_id": "2618", "visual_id": "4097", "latex": "\\sum \\frac1n", "start": 20, "end": 29}, "FORMULA_1": {"formula_id": "2619", "visual_id": "8", "latex": "n", "start": 40, "end": 49}}
(c / converge-01
  :polarity -
  :ARG1 (s / series
    :mod (f / FORMULA_0)))

"""  # noqa: E501


def test_a_record_is_readable_text() -> None:
    assert SERIES.format() == LINES
    assert GraphRecord.read(LINES.strip()) == SERIES


def test_penman_reads_a_file_of_records(tmp_path: Path) -> None:
    path = tmp_path / "posts-00000.amr.txt"
    RecordFile(path).write([SERIES, GraphRecord("256", "(m / map)")])
    first, second = penman.load(path)
    assert first.metadata["id"] == "255"
    assert first.metadata["missing"] == "FORMULA_1"
    assert second.top == "m"


def test_a_file_gives_its_records_back_and_finds_one(tmp_path: Path) -> None:
    path = tmp_path / "posts-00000.amr.txt"
    other = GraphRecord("25", "(m / map)")
    RecordFile(path).write([SERIES, other])
    assert list(RecordFile(path)) == [SERIES, other]
    assert RecordFile(path).find("25") == other
    assert RecordFile(path).find("255") == SERIES
    assert RecordFile(path).find("2") is None


def test_an_empty_file_has_no_records(tmp_path: Path) -> None:
    path = tmp_path / "posts-00000.amr.txt"
    RecordFile(path).write([])
    assert list(RecordFile(path)) == []


@settings(max_examples=300)
@given(st.text(), st.text(), st.text())
def test_any_id_and_any_latex_come_back(graph_id: str, latex: str, visual: str) -> None:
    mention = FormulaMention("FORMULA_0", graph_id, visual, latex, 0, 9)
    record = GraphRecord(graph_id, "(f / FORMULA_0)", "document", (mention,))
    text = record.format()
    assert text.count("\n") == 5
    text.encode("utf-8")
    assert GraphRecord.read(text.removesuffix("\n\n")) == record


def test_a_graph_with_an_empty_line_is_refused() -> None:
    with pytest.raises(GraphError, match="without empty lines for '7'"):
        GraphRecord("7", "(a / b\n\n  :c d)").format()


@pytest.mark.parametrize(
    "block", ["", "(a / b)", "# ::id 7", "# ::id 7\n# ::formula_map {\n(a / b)"]
)
def test_a_broken_record_is_refused(block: str) -> None:
    with pytest.raises(MalformedInputError, match="record"):
        GraphRecord.read(block)


def test_the_file_of_a_broken_record_is_named(tmp_path: Path) -> None:
    path = tmp_path / "posts-00003.amr.txt"
    path.write_text("(a / b)\n")
    with pytest.raises(MalformedInputError, match=r"posts-00003\.amr\.txt"):
        list(RecordFile(path))


def test_records_of_posts_and_topics_carry_their_formulas() -> None:
    mentions = SERIES.formula_map
    post = Post(
        "255", "question", "255", None, None, None, None, (), "", "t", mentions
    )  # fmt: skip
    assert GraphRecord.of(post, SERIES.graph, ["FORMULA_1"]) == SERIES
    topic = Topic(
        "A.1", "task1", 2020, "", (), "t", mentions, None, None, None, None, None
    )  # fmt: skip
    record = GraphRecord.of(topic, "(m / map)")
    assert (record.graph_id, record.post_type) == ("A.1", "topic")
    assert record.formula_map == mentions
