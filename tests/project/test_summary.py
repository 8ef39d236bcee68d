"""What ``kedro run`` says at its end."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from kedro.io import DataCatalog, MemoryDataset
from kedro_datasets.text import TextDataset

from mathamr_kedro.base.records import FormulaMention, Post
from mathamr_kedro.project.summary import summarise_run


@pytest.fixture
def catalog(tmp_path):
    files = ("ingestion.md", "significance/systems/tables.md", "scores.csv")
    return DataCatalog({f: TextDataset(filepath=str(tmp_path / f)) for f in files})


def summarise(catalog, env=None, data_root=None) -> list[str]:
    return list(summarise_run(catalog, list(catalog), 228.6, env, data_root))


def test_a_whole_run_ends_with_reports_and_what_is_next(catalog, tmp_path):
    catalog["metrics"] = MemoryDataset([])
    mention = FormulaMention("FORMULA_0", "1", "1", r"\sqrt p", 3, 12)
    posts = [
        Post("1", "question", "1", title=title, formula_map=(mention,))
        for title in ("", "Primes", "Is FORMULA_0 in `x`?", "Is FORMULA_0 irrational?")
    ]
    table = SimpleNamespace(records=lambda: iter(posts))
    catalog["posts"] = MemoryDataset(table, copy_mode="assign")
    assert summarise(catalog, "demo", "x") == [
        "Done in 3 min 49 s",
        f"Reports  {tmp_path}: ingestion.md, significance/systems/tables.md",
        "Next     mathamr show summary --env demo --data-root x",
        "         mathamr search 'Is $\\sqrt p$ irrational?' --env demo --data-root x",
        "         mathamr serve --env demo --data-root x",
    ]


def test_a_run_without_scores_ends_with_its_reports(catalog, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path.parent)
    assert summarise(catalog) == [
        "Done in 3 min 49 s",
        f"Reports  {tmp_path.name}: ingestion.md, significance/systems/tables.md",
    ]
    assert summarise(DataCatalog()) == ["Done in 3 min 49 s"]
