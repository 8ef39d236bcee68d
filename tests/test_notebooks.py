"""The notebooks run from top to bottom on the embedded sample."""

from __future__ import annotations

import asyncio
from pathlib import Path

import nbformat
import pytest
from kedro.framework.session import KedroSession
from kedro.framework.startup import bootstrap_project
from nbclient import NotebookClient

from mathamr_kedro.experiments.cells import CellStore
from mathamr_kedro.experiments.outcomes import summarise_experiment
from mathamr_kedro.experiments.results import GridResults
from mathamr_kedro.stats import TestConfig
from tests.experiments.cells import PARAMETERS, fill_store
from tests.experiments.test_outcomes import MEANS, MODES

PROJECT = Path(__file__).resolve().parents[1]
NOTEBOOKS = sorted((PROJECT / "notebooks").glob("*.ipynb"))


STAGES = ["ingestion", "amr_parsing", "graph_fusion", "preprocessing"]


@pytest.fixture(scope="module")
def prepared_sample():
    bootstrap_project(PROJECT)
    with KedroSession.create(PROJECT, env="test") as session:
        session.run(pipeline_names=STAGES)


@pytest.fixture(scope="module")
def two_versions(tmp_path_factory):
    """Two results of made-up cells in the catalog."""
    for number, mean in enumerate((0.5, 0.6)):
        store = CellStore(tmp_path_factory.mktemp(f"cells{number}"))
        fill_store(store, MODES, MEANS | {"both": mean})
        grid = GridResults.find(MODES, PARAMETERS, store)
        outcome = summarise_experiment(grid, TestConfig(num_samples=100), None)
        bootstrap_project(PROJECT)
        with KedroSession.create(PROJECT, env="test+formula_modes") as session:
            session.load_context().catalog.save("experiment_result", outcome.describe())


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::RuntimeWarning")
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_runs(path, prepared_sample, two_versions, monkeypatch):
    monkeypatch.setenv("KEDRO_ENV", "test")
    notebook = nbformat.read(path, as_version=4)
    assert all(not cell.get("outputs") for cell in notebook.cells), "strip the outputs"
    client = NotebookClient(
        notebook, timeout=120, resources={"metadata": {"path": str(PROJECT)}}
    )
    asyncio.run(client.async_execute())
