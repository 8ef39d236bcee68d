"""What ``kedro run`` says at its end."""

from __future__ import annotations

import pytest
from kedro.io import DataCatalog, MemoryDataset
from kedro_datasets.text import TextDataset

from mathamr_kedro.run_summary import summarise_run


@pytest.fixture
def catalog(tmp_path):
    files = ("ingestion.md", "significance/systems/tables.md", "scores.csv")
    return DataCatalog({f: TextDataset(filepath=str(tmp_path / f)) for f in files})


def summarise(catalog, env=None, data_root=None) -> list[str]:
    return list(summarise_run(catalog, list(catalog), 228.6, env, data_root))


def test_a_whole_run_ends_with_reports_and_what_is_next(catalog, tmp_path):
    catalog["metrics"] = MemoryDataset([])
    assert summarise(catalog, "demo", "x") == [
        "Done in 3 min 49 s",
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
