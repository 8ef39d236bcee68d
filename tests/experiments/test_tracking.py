"""Tracking with a stand-in for MLflow that keeps what it is given."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from types import SimpleNamespace

import pytest

from mathamr_kedro.base.errors import ConfigurationError
from mathamr_kedro.experiments.cells import CellStore
from mathamr_kedro.experiments.grid import Experiment
from mathamr_kedro.experiments.results import GridResults
from mathamr_kedro.experiments.tracking import log_cells
from tests.experiments.cells import PARAMETERS, fill_store


def make_mlflow():
    runs: list[dict] = []

    @contextmanager
    def start_run(run_name):
        runs.append({"name": run_name, "metrics": {}, "steps": []})
        yield

    def log_metrics(values, step=None):
        runs[-1]["metrics"].update(values)
        runs[-1]["steps"].append(step)

    return runs, SimpleNamespace(
        set_tracking_uri=lambda uri: None,
        set_experiment=lambda name: None,
        search_runs=lambda filter_string: [
            r for r in runs if filter_string == f"tags.cell = '{r['tags']['cell']}'"
        ],
        start_run=start_run,
        set_tags=lambda tags: runs[-1].update(tags=tags),
        log_params=lambda values: runs[-1].update(params=values),
        log_metrics=log_metrics,
        log_artifacts=lambda folder: runs[-1].update(folder=folder),
    )


@pytest.fixture
def cells(tmp_path):
    experiment = Experiment("mine", {"a": {}}, "a", seeds=(1, 2))
    fill_store(CellStore(tmp_path), experiment, {"a": 0.5})
    return GridResults.find(experiment, PARAMETERS, CellStore(tmp_path)).finished


def test_cells_are_logged_once(cells, monkeypatch):
    runs, mlflow = make_mlflow()
    monkeypatch.setitem(sys.modules, "mlflow", mlflow)
    assert log_cells("mine", cells, "sqlite://") == 2
    assert log_cells("mine", cells, "sqlite://") == 0
    first = runs[0]
    assert first["name"] == "a, seed 1"
    assert first["params"]["training.loss.beta"] == "1.0"
    assert first["metrics"]["mathamr_plus/task1/own/nDCG_"] > 0
    assert first["metrics"]["train_loss"] == 0.5
    assert first["steps"] == [None, 1]


def test_missing_mlflow_says_what_to_install(cells, monkeypatch):
    monkeypatch.setitem(sys.modules, "mlflow", None)
    with pytest.raises(ConfigurationError, match=r"mathamr-kedro\[mlflow\]"):
        log_cells("mine", cells, "sqlite://")
