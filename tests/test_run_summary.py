"""What ``kedro run`` says at its end."""

from __future__ import annotations

from typing import Any

import pytest
from kedro.io import DataCatalog, MemoryDataset

from mathamr_kedro.datasets.reports import ReportDataset
from mathamr_kedro.run_summary import summarise_run
from mathamr_kedro.stages import STAGES

GRAPHS = {"processed": 720, "graphs": 719, "failed": 1}
VALUES: dict[str, Any] = {
    "ingestion_statistics": {
        "posts": {"total": 720}, "formulas_in_texts": 6468, "training_pairs": 244,
        "topics": {"task1": 24, "task2": 24},
        "judgments": {"a": {"judgments": 700}, "b": {"judgments": 38}},
        "failures": {"bad_grade": {"left_out": 3, "kept": 0}},
    },
    "amr_statistics": {
        "parser": {"parser": "builtin"}, "posts": GRAPHS, "topics": GRAPHS,
    },
    "math_graph_statistics": {
        "graphs": 719, "failed_posts": 1, "all": {"nodes_per_graph": 162.9},
    },
    "preprocessing_statistics": {
        "posts": 719, "topics": 48, "comments": 0, "formulas": 49, "failed": 0,
        "train_pairs": 220, "validation_pairs": 24,
    },
    "encoder": {
        "best_loss": 0.5441, "best_epoch": 3, "training_pairs": 220, "start_from": None,
    },
    "index": {"vectors": 10992, "posts": 719, "formulas": 6496, "engine": "edge"},
    "metrics": [
        {"task": 1, "topic_set": "own", "system": system, "measure": measure,
         "mean": mean, "topics": 24}
        for system, mean in (("bm25", 0.8471), ("mathamr_plus", 0.8722))
        for measure in ("nDCG'", "MAP'")
    ],
    "experiment_result": {
        "experiment": "systems", "cells": [], "tables": {"task1_own": ""},
        "tests": {"task1_own": [{"significant": True}, {"significant": False}]},
    },
}  # fmt: skip
REPORTS = ["ingestion", "amr", "math_graph", "preprocessing", "training", "evaluation"]


@pytest.fixture
def catalog(tmp_path):
    reports = {
        f"{name}_report": ReportDataset(filepath=str(tmp_path / f"{name}.md"))
        for name in REPORTS
    }
    last = ReportDataset(filepath=str(tmp_path / "significance/systems/tables.md"))
    values = {name: MemoryDataset(value) for name, value in VALUES.items()}
    return DataCatalog({**values, **reports, "significance_report": last})


def test_a_whole_run_says_what_came_of_every_stage(catalog, tmp_path):
    lines = summarise_run(catalog, list(catalog), 228.6, "demo", {"data_root": "x"})
    assert len(lines) <= 13
    assert lines[0] == "Done in 3 min 49 s"
    assert [line.split()[0] for line in lines[1:9]] == list(STAGES)
    text = "\n".join(lines)
    for part in (
        "720 posts, 6,468 formulas in them, 48 topics, 738 judgments, 244 training",
        "3 records left out",
        "719 of 720 posts and 719 of 720 topics (builtin); 2 failed",
        "best after epoch 3, loss 0.5441",
        "nDCG' of Task 1, own, 24 topics: mathamr_plus 0.872, bm25 0.847",
        "1 table of 'systems'; 1 of 2 differences are significant",
        f"Reports  {tmp_path}: ingestion.md, amr.md",
        "significance/systems/tables.md",
        "Next     mathamr summary --env demo --data-root x",
    ):
        assert part in text


def test_one_stage_leads_to_the_next_with_the_same_settings(catalog, tmp_path):
    made = ["ingestion_statistics", "ingestion_report"]
    params = {"data_root": "x", "ingestion": {"pairs": "all"}}
    head, counts, reports, following = summarise_run(catalog, made, 2, "pool", params)
    assert head == "Done in 2.0 s" and counts.startswith("  ingestion ")
    assert reports == f"Reports  {tmp_path}: ingestion.md"
    assert following == (
        "Next     kedro run --env pool --params data_root=x,ingestion.pairs=all "
        "--pipelines amr_parsing"
    )


def test_some_nodes_alone_say_how_long_they_took(catalog):
    assert summarise_run(catalog, ["tags"], 2, None, {}) == ["Done in 2.0 s"]


def test_a_released_encoder_is_no_training(catalog):
    encoder = {**VALUES["encoder"], "best_loss": None, "start_from": "mathamr_plus"}
    catalog["encoder"] = MemoryDataset(encoder)
    line = summarise_run(catalog, ["encoder"], 2, None, {})[1]
    assert "nothing trained: the released encoder 'mathamr_plus' as it is" in line


def test_several_topic_sets_have_their_best_system(catalog):
    rows = [
        {"task": 1, "topic_set": name, "system": system, "measure": "nDCG'",
         "mean": mean, "topics": 9}
        for name, system, mean in (
            ("ARQMath-1", "bm25", 0.7), ("ARQMath-1", "plus", 0.8),
            ("ARQMath-2", "bm25", 0.9), ("ARQMath-2", "plus", 0.6),
        )
    ]  # fmt: skip
    catalog["metrics"] = MemoryDataset(rows)
    line = summarise_run(catalog, ["metrics"], 2, None, {})[1]
    assert line.endswith("ARQMath-1 0.800 (plus), ARQMath-2 0.900 (bm25)")
    catalog["metrics"] = MemoryDataset([])
    assert "no scores" in summarise_run(catalog, ["metrics"], 2, None, {})[1]


def test_each_task_has_a_line_and_the_stage_is_named_once(catalog):
    rows = [
        {"task": task, "topic_set": "own", "system": "plus", "measure": "nDCG'",
         "mean": 0.5, "topics": 9}
        for task in (1, 2)
    ]  # fmt: skip
    catalog["metrics"] = MemoryDataset(rows)
    _, one, two, *_ = summarise_run(catalog, ["metrics"], 2, None, {})
    assert one.startswith("  evaluation     nDCG' of Task 1, own, 9 topics")
    assert two.startswith("                 nDCG' of Task 2, own, 9 topics")


def test_three_systems_are_named_the_best_first(catalog):
    rows = [
        {"task": 1, "topic_set": "own", "system": f"s{n}", "measure": "nDCG'",
         "mean": n / 10, "topics": 9}
        for n in range(5)
    ]  # fmt: skip
    catalog["metrics"] = MemoryDataset(rows)
    line = summarise_run(catalog, ["metrics"], 2, None, {})[1]
    assert "s4 0.400, s3 0.300, s2 0.200" in line and "s1" not in line


def describe(catalog, name, **changes):
    """Return the lines about one stage, by the dataset in which it counts."""
    catalog[name] = MemoryDataset({**VALUES[name], **changes})
    return summarise_run(catalog, [name], 2, None, {})[1]


def test_counts_of_the_middle_stages_are_told(catalog):
    assert describe(catalog, "math_graph_statistics").endswith(
        "719 math graphs of 163 nodes; 1 post without"
    )
    empty = {"graphs": 0, "failed_posts": 2, "all": {"nodes_per_graph": None}}
    assert describe(catalog, "math_graph_statistics", **empty).endswith(
        "0 math graphs of 0 nodes; 2 posts without"
    )
    assert describe(catalog, "preprocessing_statistics", comments=1200).endswith(
        "719 posts, 48 topics, 1,249 others as arrays; 220 + 24 pairs; 0 failed"
    )
    assert describe(catalog, "index").endswith(
        "10,992 vectors of 719 posts, and 6,496 formulas (engine 'edge')"
    )


def test_training_names_the_encoder_that_it_started_from(catalog):
    assert "220 pairs; best" in describe(catalog, "encoder")
    assert "220 pairs, from 'old'; best" in describe(
        catalog, "encoder", start_from="old"
    )


def test_tables_of_an_experiment_name_its_cells(catalog):
    line = describe(catalog, "experiment_result", cells=["a", "b"])
    assert "1 table of 'systems' from 2 cells; 1 of 2 differences" in line


def test_what_another_process_deleted_has_no_line(catalog):
    catalog["encoder"] = MemoryDataset()
    assert summarise_run(catalog, ["encoder"], 2, None, {}) == [
        "Done in 2.0 s",
        "Next     kedro run --pipelines indexing",
    ]


def test_reports_are_named_from_the_folder_where_one_stands(
    catalog, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path.parent)
    made = [*VALUES, "amr_report", "significance_report"]
    lines = summarise_run(catalog, made, 2, None, {})
    assert lines[-3:] == [
        f"Reports  {tmp_path.name}: amr.md, significance/systems/tables.md",
        "Next     mathamr summary",
        "         mathamr search 'is $\\sqrt p$ irrational for a prime $p$?'",
    ]
