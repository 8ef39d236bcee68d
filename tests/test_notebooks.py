"""The notebooks run from top to bottom on the embedded sample."""

from __future__ import annotations

import asyncio
from pathlib import Path

import nbformat
import pytest
from kedro.framework.session import KedroSession
from kedro.framework.startup import bootstrap_project
from nbclient import NotebookClient

PROJECT = Path(__file__).resolve().parents[1]
NOTEBOOKS = sorted((PROJECT / "notebooks").glob("*.ipynb"))


STAGES = ["ingestion", "amr_parsing", "graph_fusion", "preprocessing"]


@pytest.fixture(scope="module")
def prepared_sample():
    bootstrap_project(PROJECT)
    with KedroSession.create(PROJECT, env="test") as session:
        session.run(pipeline_names=STAGES)


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::RuntimeWarning")
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_runs(path, prepared_sample, monkeypatch):
    monkeypatch.setenv("KEDRO_ENV", "test")
    notebook = nbformat.read(path, as_version=4)
    assert all(not cell.get("outputs") for cell in notebook.cells), "strip the outputs"
    client = NotebookClient(
        notebook, timeout=120, resources={"metadata": {"path": str(PROJECT)}}
    )
    asyncio.run(client.async_execute())
