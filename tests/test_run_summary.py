"""What ``kedro run`` says at its end."""

from __future__ import annotations

from typing import Any

import pytest
from kedro.io import DataCatalog, MemoryDataset
from kedro_datasets.text import TextDataset

from mathamr_kedro.run_summary import summarise_run


def score(system: str, mean: float, task: int = 1, name: str = "own") -> dict[str, Any]:
    return {
        "task": task, "topic_set": name, "system": system, "measure": "nDCG'",
        "mean": mean, "topics": 24,
    }  # fmt: skip


@pytest.fixture
def catalog(tmp_path):
    files = ("ingestion.md", "significance/systems/tables.md", "scores.csv")
    return DataCatalog(
        {file: TextDataset(filepath=str(tmp_path / file)) for file in files}
    )


def summarise(catalog, metrics=None, env=None, data_root=None) -> list[str]:
    if metrics is not None:
        catalog["metrics"] = MemoryDataset(metrics)
    return list(summarise_run(catalog, list(catalog), 228.6, env, data_root))


def test_a_whole_run_ends_with_scores_reports_and_what_is_next(catalog, tmp_path):
    metrics = [score("bm25", 0.8471), score("mathamr_plus", 0.8722)]
    metrics.append({**metrics[0], "measure": "MAP'"})
    assert summarise(catalog, metrics, "demo", "x") == [
        "Done in 3 min 49 s",
        "nDCG' of Task 1, own, 24 topics: mathamr_plus 0.872, bm25 0.847",
        f"Reports  {tmp_path}: ingestion.md, significance/systems/tables.md",
        "Next     mathamr show summary --env demo --data-root x",
        "         mathamr search 'is $\\sqrt p$ irrational for a prime $p$?' "
        "--env demo --data-root x",
    ]


def test_a_run_without_scores_ends_with_its_reports(catalog, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path.parent)
    assert summarise(catalog) == [
        "Done in 3 min 49 s",
        f"Reports  {tmp_path.name}: ingestion.md, significance/systems/tables.md",
    ]
    assert summarise(DataCatalog()) == ["Done in 3 min 49 s"]


def test_several_topic_sets_have_their_best_system():
    means = {"ARQMath-1": (0.7, 0.8), "ARQMath-2": (0.9, 0.6)}
    metrics = [
        score(system, mean, name=name)
        for name, both in means.items()
        for system, mean in zip(("bm25", "plus"), both, strict=True)
    ]
    line = summarise(DataCatalog(), metrics)[1]
    assert line.endswith("ARQMath-1 0.800 (plus), ARQMath-2 0.900 (bm25)")


def test_each_task_has_a_line_with_its_three_best_systems():
    metrics = [score(f"s{n}", n / 10, task) for task in (1, 2) for n in range(5)]
    lines = summarise(DataCatalog(), metrics)[1:3]
    assert [line.split(",")[0] for line in lines] == [
        "nDCG' of Task 1", "nDCG' of Task 2",
    ]  # fmt: skip
    assert all(line.endswith("s4 0.400, s3 0.300, s2 0.200") for line in lines)


def test_no_judgments_are_no_scores():
    assert "no scores" in summarise(DataCatalog(), [])[1]


def test_what_another_process_deleted_has_no_line():
    catalog = DataCatalog({"metrics": MemoryDataset()})
    assert summarise(catalog)[1].startswith("Next ")
