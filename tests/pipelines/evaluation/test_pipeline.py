"""The evaluation stage on planted vectors: every score is computed by hand."""

from __future__ import annotations

import re
from math import log2
from pathlib import Path

import pytest

from mathamr_kedro.base.records import FormulaMention
from mathamr_kedro.pipelines.evaluation.efficiency import describe_training
from tests.pipelines.evaluation.planted_world import (
    JUDGMENTS,
    MACHINE,
    TOPICS,
    evaluate,
    plant,
    save_table,
)
from tests.pipelines.graph_world import open_catalog


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    plant(folder)
    return folder


@pytest.fixture(scope="module")
def catalog(data: Path):
    return evaluate(
        data,
        baselines=["bm25", "bm25_question", "bm25_graph", "bm25_tuples"],
        fusions=[
            {"name": "both", "method": "rrf", "of": ["mathamr_plus", "bm25"]},
            {"name": "more", "method": "mean", "of": ["both", "bm25_tuples"]},
        ],
    )


def read_lines(catalog, task: int, name: str) -> list[list[str]]:
    file = catalog.load("runs").folder / f"task{task}" / name
    return [line.split("\t") for line in file.read_text().splitlines()]


def scores_of(catalog, system: str, measure: str = "nDCG'") -> dict[str, float]:
    table = catalog.load("scores")
    chosen = table[(table.system == system) & (table.measure == measure)]
    return dict(zip(chosen.topic_id, chosen.score, strict=True))


def test_scores_are_those_computed_by_hand(catalog) -> None:
    ideal = 3 + 2 / log2(3)
    scores = scores_of(catalog, "mathamr_plus")
    assert scores["A.1"] == pytest.approx((3 / log2(3) + 2 / log2(4)) / ideal)
    assert scores["A.2"] == 0.0  # no vectors: a judged topic that counts
    assert scores["A.3"] == 0.0  # not among the topics
    assert scores["A.201"] == 1.0
    # 72 is never returned; 70 has the rank of its better instance.
    ideal = 3 + 2 / log2(3) + 1 / log2(4)
    assert scores["B.1"] == pytest.approx((1 + 3 / log2(3)) / ideal)
    assert scores_of(catalog, "mathamr_plus", "MAP'")["A.1"] == pytest.approx(
        (1 / 2 + 2 / 3) / 2
    )
    assert scores_of(catalog, "mathamr_plus", "P'@10")["B.1"] == pytest.approx(0.1)


def test_scores_have_the_columns_of_the_contract(catalog) -> None:
    table = catalog.load("scores")
    assert list(table.columns) == [
        "task", "topic_set", "system", "topic_id", "measure", "score",
    ]  # fmt: skip
    assert table.task.dtype == "int64"
    sets = set(zip(table.task, table.topic_set, strict=True))
    assert sets == {(1, "ARQMath-1"), (1, "ARQMath-2"), (2, "ARQMath-1")}
    assert "A.202" not in set(table.topic_id)


def test_metrics_are_means_between_floor_and_ceiling(catalog) -> None:
    metrics = catalog.load("metrics")
    table = catalog.load("scores")
    assert set(metrics[0]) == {
        "task", "topic_set", "system", "measure", "mean", "floor", "ceiling", "topics",
    }  # fmt: skip
    for metric in metrics:
        keys = ["task", "topic_set", "system", "measure"]
        chosen = table[(table[keys] == [metric[k] for k in keys]).all(axis=1)]
        assert metric["mean"] == pytest.approx(chosen.score.mean())
        assert metric["topics"] == len(chosen)
        assert metric["floor"] <= metric["ceiling"] <= 1.0
    systems = {m["system"] for m in metrics if m["task"] == 2}
    assert systems == {"mathamr_plus", "bm25", "both", "bm25_tuples", "more"}


def test_run_files_have_the_forms_of_trec_and_of_the_lab(catalog) -> None:
    trec = read_lines(catalog, 1, "ARQMath-1/mathamr_plus.trec")
    assert [line[:4] for line in trec] == [
        ["A.1", "Q0", "2", "1"], ["A.1", "Q0", "3", "2"], ["A.1", "Q0", "4", "3"],
    ]  # fmt: skip
    assert trec[0][5] == "mathamr_plus"
    first, *_ = read_lines(catalog, 1, "ARQMath-1/mathamr_plus.tsv")
    assert (first[:3], first[4]) == (["A.1", "2", "1"], "mathamr_plus")
    # Topics that nobody judged are submitted all the same.
    later = read_lines(catalog, 1, "ARQMath-2/mathamr_plus.tsv")
    assert {line[0] for line in later} == {"A.201", "A.202"}
    formulas = read_lines(catalog, 2, "ARQMath-1/mathamr_plus.tsv")
    assert [line[:4] for line in formulas] == [
        ["B.1", "11", "3", "1"], ["B.1", "12", "3", "2"],
    ]  # fmt: skip
    visual = read_lines(catalog, 2, "ARQMath-1/mathamr_plus.trec")
    assert [line[2] for line in visual] == ["70", "71"]


def test_baselines_find_answers_and_returnable_formulas_alone(catalog) -> None:
    lines = read_lines(catalog, 1, "ARQMath-1/bm25_question.trec")
    # 2 says nothing of the topic, its question does.
    assert [line[2] for line in lines if line[0] == "A.1"] == ["3", "2"]
    graphs = read_lines(catalog, 1, "ARQMath-1/bm25_graph.trec")
    assert [line[2] for line in graphs] == ["3"]
    formulas = read_lines(catalog, 2, "ARQMath-1/bm25.tsv")
    assert {line[1] for line in formulas} == {"10", "12"}


def test_fusions_name_formulas_of_their_first_system(catalog) -> None:
    lines = read_lines(catalog, 2, "ARQMath-1/both.tsv")
    assert [line[1:3] for line in lines] == [["11", "3"], ["12", "3"]]
    lines = read_lines(catalog, 1, "ARQMath-1/both.trec")
    assert [line[2] for line in lines if line[0] == "A.1"] == ["3", "2", "4"]


def test_efficiency_has_the_figures_of_the_tables(catalog) -> None:
    efficiency = catalog.load("efficiency")
    training = efficiency["training"]
    assert (training["seconds_per_epoch"], training["peak_memory_mib"]) == (3.0, 10.0)
    parts = dict(training["parameters"])
    assert parts.pop("total") == sum(parts.values()) > 0
    assert training["machine"] == MACHINE
    rows = {(r["task"], r["system"]): r for r in efficiency["search"]}
    for row in rows.values():
        machine = row["machine"]
        assert (machine["device"], machine["gpu"]) == ("CPU", "")
        assert machine["cpu"] and machine["cores"] > 0
        assert (row["queries_per_batch"], row["query_seconds"]) == (32, {})
    assert rows[1, "mathamr_plus"]["queries"] == 3
    row = rows[2, "both"]
    assert row["queries_per_second"] == pytest.approx(row["queries"] / row["seconds"])


def test_index_has_the_vectors_and_bytes_of_each_task(catalog) -> None:
    index = catalog.load("efficiency")["index"]
    assert index["tasks"]["1"] == {
        "post_types": ["answer"], "posts": 3, "vectors": 7, "bytes": 320,
    }  # fmt: skip
    assert index["tasks"]["2"] == {
        "post_types": ["answer"], "posts": 3, "vectors": 3, "bytes": 96,
    }  # fmt: skip
    assert index["post_types"]["question"]["vectors"] == 2
    assert (index["bytes"], index["bytes_from"]) == (512, "computed")
    report = catalog.load("evaluation_report")
    assert "MiB (GPU memory), on planted (planted processor, 8 cores)" in report
    assert re.search(r"\| 1 +\| answer +\| +3 \| +7 \| +0\.0 \|", report)


def test_each_query_alone_has_its_own_time(data: Path) -> None:
    fusion = {"name": "both", "method": "max", "of": ["mathamr_plus", "bm25"]}
    catalog = evaluate(data, baselines=["bm25"], queries_per_batch=1, fusions=[fusion])
    rows = {
        r["system"]: r for r in catalog.load("efficiency")["search"] if r["task"] == 1
    }
    ours, words, both = (rows[n] for n in ("mathamr_plus", "bm25", "both"))
    assert list(ours["query_seconds"]) == ["A.1", "A.201", "A.202"]
    for row in (ours, words):
        times = row["query_seconds"].values()
        assert min(times) > 0
        assert sum(times) == pytest.approx(row["seconds"], abs=1e-5)
    assert both["query_seconds"]["A.1"] == pytest.approx(
        ours["query_seconds"]["A.1"] + words["query_seconds"]["A.1"], abs=1e-6
    )


def test_training_on_two_machines_has_no_mean_time(caplog) -> None:
    other = MACHINE | {"gpu": "another"}
    history = [
        {"seconds": 2.0, "memory_mib": 10.0, "machine": MACHINE},
        {"seconds": 4.0, "memory_mib": 9.0, "machine": MACHINE},
        {"seconds": 9.0, "memory_mib": 20.0, "machine": other},
        {"seconds": 1.0, "memory_mib": 5.0},  # of an older version
    ]
    found = describe_training(history, {"total": 7})
    assert (found["seconds_per_epoch"], found["peak_memory_mib"]) == (None, None)
    assert [p["seconds_per_epoch"] for p in found["by_machine"]] == [3.0, 9.0, 1.0]
    assert "3 machines" in caplog.text and "another" in caplog.text
    assert "not recorded" in caplog.text


def test_report_shows_systems_anchors_kinds_and_oddities(catalog) -> None:
    report = catalog.load("evaluation_report")
    assert "## Task 1: answers, ARQMath-1" in report
    assert "| mathamr_plus " in report
    assert "*floor" in report
    assert "category: Proof" in report
    assert "2 of 3 judged topics are not in the run" in report
    assert "judged ids are not in the corpus" in report  # post 99, visual id 72
    assert "## Topics that were not searched" in report
    assert "- A.2 (mathamr_plus): has no vectors" in report


def test_report_shows_its_figure_and_the_recorded_cell_does_not(catalog) -> None:
    link = "![Scores by system](evaluation_figure.png)"
    assert link in catalog.load("evaluation_report")
    folder = Path(catalog["evaluation_report"]._describe()["filepath"]).parent
    assert (folder / "evaluation_figure.png").read_bytes().startswith(b"\x89PNG")
    cell = catalog.load("experiment_cells").list()[-1]
    page = (cell.folder / "report.md").read_text()
    assert "png" not in page and "# Evaluation" in page
    assert {"task", "topic_set", "system"} <= {*catalog.load("metrics")[0]}
    shown = repr(catalog.load("runs"))
    assert shown.startswith("<RunFolder: ") and "systems on 3 topic sets" in shown


def test_query_that_shows_nothing_is_not_searched_and_reported(tmp_path: Path) -> None:
    plant(tmp_path)
    mention = FormulaMention("FORMULA_0", "q_1", "", r"\qquad", 0, 9)
    blank = [
        t._replace(formula_map=(mention,), latex=r"\qquad") if t.formula_id else t
        for t in TOPICS
    ]
    save_table(open_catalog(tmp_path), "topics", blank)
    catalog = evaluate(tmp_path, baselines=["bm25", "bm25_tuples"])
    for system in ("mathamr_plus", "bm25", "bm25_tuples"):
        assert scores_of(catalog, system).get("B.1", 0.0) == 0.0
    report = catalog.load("evaluation_report")
    assert "- B.1 (all systems): formula 'q_1' has no tree" in report


def test_strategies_are_systems_of_their_own(data: Path) -> None:
    catalog = evaluate(
        data,
        strategies=[
            {"retrieval": "single"},
            {"retrieval": "rerank", "candidates": 2},
            {"name": "questions", "with_question": 0.5},
        ],
    )
    systems = [e.system for e in catalog.load("runs").entries if e.task == 1]
    assert list(dict.fromkeys(systems)) == [
        "mathamr_plus/single-exact", "mathamr_plus/rerank-2-exact",
        "mathamr_plus/questions",
    ]  # fmt: skip
    assert (
        len(read_lines(catalog, 1, "ARQMath-1/mathamr_plus-rerank-2-exact.trec")) == 2
    )
    # The questions have .3, .3 and .7: only 4 gains, (.1 + .7) / 2.
    lines = read_lines(catalog, 1, "ARQMath-1/mathamr_plus-questions.trec")
    assert [line[2] for line in lines] == ["2", "3", "4"]
    assert [float(line[4]) for line in lines] == pytest.approx([0.9, 0.5, 0.4])


def test_depth_cuts_every_system(data: Path) -> None:
    fusion = {"name": "both", "method": "max", "of": ["mathamr_plus", "bm25"]}
    catalog = evaluate(data, baselines=["bm25"], depth=1, fusions=[fusion])
    entries = catalog.load("runs").entries
    assert {e.system for e in entries} == {"mathamr_plus", "bm25", "both"}
    for entry in entries:
        assert 0 < entry.results <= entry.topics


def test_average_over_topics_with_a_relevant_document(catalog, data: Path) -> None:
    other = evaluate(data, average="relevant", measures=["MAP'"])
    means = {
        average: next(
            (m["topics"], m["mean"])
            for m in found.load("metrics")
            if (m["measure"], m["topic_set"]) == ("MAP'", "ARQMath-1")
        )
        for average, found in (("judged", catalog), ("relevant", other))
    }
    # A.1 scores 7/12, A.2 has no vectors, A.3 no relevant document.
    assert means["judged"] == (3, pytest.approx(7 / 12 / 3))
    assert means["relevant"] == (2, pytest.approx(7 / 12 / 2))


def test_without_judgments_there_are_runs_but_no_scores(data: Path) -> None:
    save_table(open_catalog(data), "judgments", [])
    catalog = evaluate(data)
    save_table(open_catalog(data), "judgments", JUDGMENTS)
    assert len(catalog.load("runs").entries) == 3
    assert catalog.load("metrics") == []
    assert len(catalog.load("scores")) == 0
    assert "Nothing is judged" in catalog.load("evaluation_report")
