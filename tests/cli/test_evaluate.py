"""``mathamr evaluate`` from the terminal."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from mathamr_kedro.base.errors import MalformedInputError
from mathamr_kedro.cli import group

QRELS = "A.1\t0\t17\t3\nA.1\t0\t4\t0\nA.2\t0\t9\t2\nA.2\t0\t5\t1\n"
RUN = (
    "A.1\t17\t1\t0.9\tme\nA.1\tx\t2\t0.8\tme\nA.2\t5\t1\t0.9\tme\nA.2\t9\t2\t0.8\tme\n"
)
INDEX = "id\tpost_id\tthread_id\ttype\tvisual_id\tformula\n"


@pytest.fixture
def files(tmp_path):
    (tmp_path / "qrels.tsv").write_text(QRELS)
    (tmp_path / "run.tsv").write_text(RUN)
    return tmp_path


def call(folder, *options, run="run.tsv", qrels="qrels.tsv", task="1"):
    arguments = ["evaluate", str(folder / run), "--qrels", str(folder / qrels)]
    return CliRunner().invoke(
        group, [*arguments, "--task", task, *map(str, options)], catch_exceptions=False
    )


def test_help_keeps_the_lines_of_its_examples():
    output = CliRunner().invoke(group, ["evaluate", "--help"]).output
    assert "\n    mathamr evaluate run.tsv --qrels" in output


def test_table_shows_score_and_anchors(files):
    output = call(files).output
    assert "run: task 1, 2 topics, depth 1000" in output
    [line] = [x for x in output.splitlines() if "MAP'" in x]
    cells = [cell.strip() for cell in line.strip("│ ").split("│")]
    # A.1 is perfect, A.2 has its relevant document second
    assert cells == ["MAP'", "0.7500", "0.7500", "0.8750", "1.0000"]


def test_json_holds_everything(files):
    (files / "info.csv").write_text("Topic,Category\nA.1,Proof\nA.2,Concept\n")
    result = call(
        files, "--output", "json", "--per-topic", "--topics-info", files / "info.csv"
    )
    report = json.loads(result.output)
    assert report["measures"]["MAP'"]["score"] == 0.75
    assert report["per_topic"]["A.2"]["MAP'"]["score"] == 0.5
    assert report["groups"][0]["value"] == "Concept"
    assert report["groups"][0]["summaries"]["MAP'"]["score"] == 0.5
    assert report["topics"] == 2


def test_json_is_read_as_it_is_written(files):
    (files / "info.csv").write_text("Topic,Category\nA.1,Größe\nA.2,Größe\n")
    output = call(files, "--output", "json", "--topics-info", files / "info.csv").output
    assert '\n      "value": "Größe"' in output


def test_findings_are_told(files):
    (files / "run.tsv").write_text("A.1 Q0 17 1 0.9 me\nA.1 Q0 17 2 0.8 me\n")
    output = call(files).output
    assert "! 1 of 2 judged topics are not in the run and count as 0 (A.2)" in output
    assert "! 1 results repeat a document" in output


def test_break_down_and_topics_are_shown(files):
    (files / "info.csv").write_text("Topic,Category\nA.1,Proof\nA.2,Concept\n")
    output = call(files, "--topics-info", files / "info.csv", "--per-topic").output
    assert "category Proof" in output
    assert "topic A.2" in output


def test_topics_of_one_kind_are_one_row(files):
    (files / "info.csv").write_text("Topic,Category\nA.1,Proof\nA.2,Proof\n")
    output = call(files, "--topics-info", files / "info.csv").output
    assert output.count("category Proof") == 1


def test_rank_column_and_depth_are_options(files):
    (files / "run.tsv").write_text("A.2 Q0 9 1 0.5 me\nA.2 Q0 5 2 0.9 me\n")
    options = ("--output", "json", "-m", "MAP'", "--average", "relevant")
    by_score = json.loads(call(files, *options).output)
    by_rank = json.loads(call(files, *options, "--use-rank").output)
    cut = json.loads(call(files, *options, "--depth", "1").output)
    everything = json.loads(call(files, *options, "--depth", "0").output)
    scores = [r["measures"]["MAP'"]["score"] for r in (by_score, by_rank, cut)]
    assert scores == [0.25, 0.5, 0.0]
    assert everything["depth"] is None
    assert everything["measures"] == by_score["measures"]


def test_task2_submission_is_scored_by_visual_ids(files):
    rows = ("501\t9\t9\tanswer\t70\tx\n", "502\t9\t9\tanswer\t70\tx\n",
            "503\t9\t9\tanswer\t71\ty\n")  # fmt: skip
    (files / "1.tsv").write_text(INDEX + "".join(rows))
    (files / "qrels.tsv").write_text("B.1 0 70 0\nB.1 0 71 3\n")
    (files / "run.tsv").write_text(
        "B.1\t501\t9\t1\t.9\tme\nB.1\t502\t9\t2\t.8\tme\nB.1\t503\t9\t3\t.7\tme\n"
    )
    options = ("--output", "json", "-m", "MAP'")
    with pytest.raises(Exception, match=r"--visual-ids"):
        call(files, *options, task="2")
    found = call(files, *options, "--visual-ids", files / "1.tsv", task="2")
    assert json.loads(found.output)["measures"]["MAP'"]["score"] == 0.5


def test_ambiguous_form_asks_for_the_option(files):
    (files / "qrels.tsv").write_text("B.1 0 70 3\n")
    (files / "run.tsv").write_text("B.1 501 17 1 0.9 me\n")
    with pytest.raises(MalformedInputError, match="--format"):
        call(files, task="2")
    assert call(files, "--format", "trec", task="2").exit_code == 0


def test_broken_lines_are_an_option_and_names_are_unicode(files):
    (files / "qrels.tsv").write_text(
        "NTCIR12-MathWiki-1 xxx Be\u0301zier:1 4.0\n", encoding="utf-8"
    )
    (files / "run.tsv").write_text(
        "NTCIR12-MathWiki-1 xxx B\u00e9zier:1 1 0.9 me\n"
        "NTCIR12-MathWiki-1 xxx Pi:1 Pi:2 2 0.8 me\n"
        "NTCIR12-MathWiki-1 xxx Pi:3 3 0.7 me\n",
        encoding="utf-8",
    )
    options = ("--output", "json", "-m", "Bpref full")
    with pytest.raises(MalformedInputError, match="line 2"):
        call(files, *options, task="ntcir")
    for bad_lines in ("skip", "as-trec-eval"):
        found = call(files, *options, "--bad-lines", bad_lines, task="ntcir")
        report = json.loads(found.output)
        assert report["measures"]["Bpref full"]["score"] == 1.0
        assert "bad_lines" in {f["code"] for f in report["findings"]}


@pytest.mark.shared
def test_real_run_of_2021_is_broken_down(shared):
    folder = shared / "collection"
    result = CliRunner().invoke(
        group,
        ["evaluate", str(folder / "runs/ARQMath-2_task2/TangentS-2021-visualid.tsv.gz"),
         "--qrels",
         str(folder / "qrels/ARQMath-2/qrel_task2_2021_official_visual_v3.tsv"),
         "--task", "2", "--topics-info",
         str(folder / "topics/ARQMath-2/Task1_ARQMath2_Topic_Information.csv")],
    )  # fmt: skip
    assert "0.5111" in result.output
    assert "dependency Formula" in result.output


BINARY = "1\t0\ta\t1\n1\t0\tb\t1\n2\t0\tc\t1\n"
BINARY_RUN = "1 Q0 x 1 3 me\n1 Q0 a 2 2 me\n2 Q0 c 1 1 me\n"


@pytest.fixture
def binary(tmp_path):
    (tmp_path / "qrels.tsv").write_text(BINARY)
    (tmp_path / "run.tsv").write_text(BINARY_RUN)
    return tmp_path


def test_binary_judgments_by_the_arqmath_protocol_get_a_word(binary):
    output = call(binary).output
    assert "0.0000" in next(x for x in output.splitlines() if "MAP'" in x)
    assert "! no grade of the qrels reaches 2" in output
    assert "--task trec" in output


def test_plain_protocol_by_either_option(binary):
    path = [str(binary / name) for name in ("run.tsv", "qrels.tsv")]
    arguments = ["evaluate", path[0], "--qrels", path[1], "--protocol", "trec"]
    output = CliRunner().invoke(group, arguments, catch_exceptions=False).output
    assert output == call(binary, task="trec").output
    assert "run: TREC protocol, 2 topics, depth 1000" in output
    [line] = [x for x in output.splitlines() if "MAP" in x]
    assert "0.6250" in line
    assert "no grade" not in output
    report = json.loads(call(binary, "--output", "json", task="trec").output)
    assert report["measures"]["MRR"]["score"] == 0.75


def test_judgments_of_beir_are_read(binary):
    lines = ["query-id\tcorpus-id\tscore", "1\ta\t1", "1\tb\t1", "2\tc\t1"]
    (binary / "test.tsv").write_text("\n".join(lines) + "\n")
    assert call(binary, task="trec", qrels="test.tsv").output == (
        call(binary, task="trec").output
    )
