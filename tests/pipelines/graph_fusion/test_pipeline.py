"""The fusion stage on a tiny collection."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from mathamr_kedro.base.errors import MissingInputError
from mathamr_kedro.base.shards import EndOfShards, Shard
from mathamr_kedro.formula import TreeRow
from tests.pipelines.graph_world import (
    FIRST,
    TOPIC,
    open_catalog,
    run_stage,
    write_inputs,
)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    write_inputs(folder)
    return folder


@pytest.fixture(scope="module")
def catalog(data: Path):
    return run_stage(data, "graph_fusion")


def test_posts_and_topics_have_math_graphs(catalog) -> None:
    records = {r.graph_id: r for r in catalog.load("math_graphs").records()}
    assert list(records) == ["1", "2", "3", "4"]
    assert records["1"].write().graph.splitlines() == [
        "(e / even-01",
        "  :ARG1 (f / FORMULA_0",
        "    :opt (F0o0 / O!SUP :0 (F0o1 / V!𝑥) :1 (F0o2 / N!2))",  # from the store
        "    :slt (F0s0 / V!x :a (F0s1 / N!2)))",
        "  :math (F1 / FORMULA_1",
        "    :opt (F1o0 / U!plus :0 (F1o1 / V!𝑦) :0 (F1o2 / N!1))",  # from LaTeX
        "    :slt (F1s0 / V!y :n (F1s1 / + :n (F1s2 / N!1)))))",
    ]
    assert records["1"].lost == ("FORMULA_1",)
    assert records["1"].formula_map == FIRST[0].formula_map
    (topic,) = catalog.load("topic_math_graphs").records()
    assert topic.graph_id == TOPIC.graph_id
    assert ":slt (F0s0 / V!y" in topic.write().graph
    found = catalog.load("math_graphs").find("1")
    assert found == records["1"]
    assert catalog.load("math_graphs").find("5") is None  # it has no math graph
    assert catalog.load("math_graphs").find("9") is None


def test_what_has_no_graph_is_told_with_its_reason(catalog) -> None:
    (failure,) = catalog.load("math_graph_failures").records()
    assert (failure.record_id, failure.reason, failure.kept) == (
        "5",
        "graph_error",
        False,
    )
    assert failure.place == "posts-1"


def test_statistics_add_up(catalog) -> None:
    statistics = catalog.load("math_graph_statistics")
    assert statistics["posts_processed"] == 6
    assert statistics["graphs"] == 4
    assert statistics["failures"] == {"empty_text": 1, "graph_error": 1}
    assert statistics["all"]["formulas"] == 3
    assert statistics["all"]["lost_formulas"] == 1
    assert statistics["training_pairs"] == 4
    assert "| Posts processed | 6 |" in catalog.load("math_graph_report")
    assert catalog.exists("math_graph_figure")


def test_table_4_3_is_whole(catalog) -> None:
    report = catalog.load("math_graph_report")
    section = report.split("(Table 4.3)")[1].split("##")[0]
    rows = dict(re.findall(r"^\| (.+?) \| (.*?) ?\|$", section, re.MULTILINE))
    file = "`qrel_task1_2022.tsv`"
    assert rows == {
        "Statistic": "Value",
        "*Collection*": "",
        "Total posts": "5",
        "Answer posts": "3",
        "Question posts": "2",
        "Mathematical formulas": "7",
        "*Evaluation topics, judged*": "",
        f"Task 1 topics, {file}": "2",
        "*Relevance judgments*": "",
        f"Task 1 total judgments, {file}": "40",
        f"Task 1 unique judged documents, {file}": "30",
        "*Corpus*": "",
        "Training pairs": "4",
        "Task 1 retrieval index (answers)": "2",
        "Task 2 retrieval index (posts with formulas)": "2",
    }


def test_a_killed_run_goes_on_where_it_stopped(catalog, data: Path) -> None:
    folder = data / "03_primary/math_graphs"
    first, second = folder / "posts-0.facts.json", folder / "posts-1.facts.json"
    before = second.read_bytes()
    listed = json.loads((folder / "_shards.json").read_text())
    del listed["counts"]["posts-1"]
    listed["complete"] = False
    (folder / "_shards.json").write_text(json.dumps(listed))
    second.write_text("half a fac")
    time = first.stat().st_mtime_ns
    run_stage(data, "graph_fusion")
    assert first.stat().st_mtime_ns == time
    assert second.read_bytes() == before


def test_graphs_that_changed_since_are_refused(tmp_path: Path) -> None:
    catalog = write_inputs(tmp_path)
    run_stage(tmp_path, "graph_fusion")
    graphs = open_catalog(tmp_path).load("math_graphs")
    assert len(list(graphs.records())) == 4
    tree = TreeRow("f9", "90", "[V!z]", "[V!𝑧]")
    catalog["formula_trees"].save(Shard("more", "other trees", [tree], {}))
    catalog["formula_trees"].save(EndOfShards("other trees"))
    with pytest.raises(MissingInputError, match=r"formula trees .*\(got others\)"):
        next(graphs.records())
    write_inputs(tmp_path, FIRST[:1])
    graphs = open_catalog(tmp_path).load("math_graphs")
    with pytest.raises(MissingInputError, match="run the stage 'graph_fusion' again"):
        next(graphs.records())
    run_stage(tmp_path, "graph_fusion")
    graphs = open_catalog(tmp_path).load("math_graphs")
    assert [record.graph_id for record in graphs.records()] == ["1", "3", "4"]


def test_texts_of_an_earlier_version_go(catalog, data: Path) -> None:
    folder = data / "03_primary/topic_math_graphs"
    old = folder / "topics-0.amr.txt"
    old.write_text("(t / text)")
    listed = json.loads((folder / "_shards.json").read_text())
    listed |= {"fingerprint": "old", "suffix": ".amr.txt"}
    (folder / "_shards.json").write_text(json.dumps(listed))
    found = run_stage(data, "graph_fusion").load("topic_math_graphs")
    assert not old.exists()
    assert [record.graph_id for record in found.records()] == ["A.1"]


@pytest.mark.slow
def test_two_processes_make_the_same_graphs(
    catalog, tmp_path: Path, data: Path
) -> None:
    write_inputs(tmp_path)
    settings = {"workers": {"workers": 2, "batch_size": 1}}
    run_stage(tmp_path, "graph_fusion", graph_fusion=settings)
    for name in ("posts-0.facts.json", "posts-1.facts.json"):
        file = Path("03_primary/math_graphs") / name
        assert (tmp_path / file).read_bytes() == (data / file).read_bytes()
