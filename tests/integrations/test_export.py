"""Tables of the demo, read by the packages that they are for."""

from __future__ import annotations

import pyarrow.parquet
import pytest
from click.testing import CliRunner

from mathamr_kedro.base.records import FormulaMention, Judgment, Topic
from mathamr_kedro.cli import group
from mathamr_kedro.integrations import ExportFolder
from mathamr_kedro.project.catalog import open_catalog

pytestmark = [
    pytest.mark.timeout(2400),  # the first of them waits for the demo
    pytest.mark.filterwarnings("ignore"),
]


def export(form: str, demo, tmp_path, monkeypatch):
    monkeypatch.chdir(demo)
    arguments = ["export", form, "--env", "demo", "--output", str(tmp_path / form)]
    result = CliRunner().invoke(group, arguments)
    assert result.exit_code == 0, result.output
    return tmp_path / form


@pytest.mark.slow
def test_hugging_face_reads_all_tables(demo, tmp_path, monkeypatch):
    datasets = pytest.importorskip("datasets")
    folder = export("huggingface", demo, tmp_path, monkeypatch)

    def load(name: str):
        cache = str(tmp_path / "cache")
        return datasets.load_dataset(str(folder), name, split="train", cache_dir=cache)

    posts = {p.post_id: p for p in open_catalog("demo").load("posts").records()}
    corpus = {row["id"]: row for row in load("corpus")}
    assert set(corpus) == set(posts)
    assert not any("FORMULA_" in row["text"] + row["title"] for row in corpus.values())
    assert "$" in corpus["33701"]["title"]
    assert f"${posts['33701'].formula_map[0].latex}$" in corpus["33701"]["text"]
    assert set(load("qrels")["query_id"]) <= set(load("queries")["id"])
    assert load("graphs")[0]["graph"].startswith("(")
    run = load("runs").filter(lambda row: row["rank"] == 1)
    assert set(run["document_id"][:5]) and "bm25" in set(run["system"])


def test_parts_are_written_as_they_fill(tmp_path, monkeypatch):
    # A part has fifty thousand rows.
    monkeypatch.setattr("mathamr_kedro.integrations.export_folder._ROWS", 2)
    folder = ExportFolder(tmp_path / "a")
    rows = [Judgment("A.1", str(n), 2, "task1", "x.tsv") for n in range(5)]
    assert folder.write_qrels(iter(rows)) == 5
    assert len(list((tmp_path / "a/qrels").iterdir())) == 3
    assert folder.write_qrels(iter(rows[:1])) == 1  # replaced, not added to
    assert len(list((tmp_path / "a/qrels").iterdir())) == 1
    folder.write_queries([])
    folder.write_card("Mine")
    card = (tmp_path / "a/README.md").read_text()
    assert "config_name: qrels" in card and "config_name: queries" not in card


def test_a_topic_of_task_2_is_its_formula(tmp_path):
    mention = FormulaMention("FORMULA_0", "q_1", "v1", "x^2", 8, 17)
    text, rest = "What is FORMULA_0?", [None] * 3
    topics = [
        Topic("A.1", "task1", 2022, "", (), text, (mention,), None, None, *rest),
        Topic("B.1", "task2", 2022, "", (), text, (mention,), "q_1", "x^2", *rest),
    ]
    folder = ExportFolder(tmp_path / "a")
    assert folder.write_queries(topics) == 2
    (file,) = (tmp_path / "a/queries").iterdir()
    rows = pyarrow.parquet.read_table(file).to_pylist()
    assert [row["text"] for row in rows] == ["What is $x^2$?", "$x^2$"]
