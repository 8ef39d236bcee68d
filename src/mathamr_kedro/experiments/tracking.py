"""Cells as runs of MLflow, so that its pages show what ours do (optional extra)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from typing import Any

from mathamr_kedro.base.errors import ConfigurationError
from mathamr_kedro.experiments.cells import FinishedCell
from mathamr_kedro.experiments.grid import Cell

_BY_TASK = ("index_megabytes", "index_gigabytes", "vectors")
_MAX_LENGTH = 500
"""MLflow refuses longer values of parameters."""


def log_cells(
    experiment: str, cells: Iterable[tuple[Cell, FinishedCell]], tracking_uri: str
) -> int:
    """Log every cell that is not there yet as a run; return how many were.

    Parameters, means of all measures, efficiency and the history of training go in;
    the folder of the cell comes along as artifacts.

    Raises:
        ConfigurationError: MLflow is not installed.
    """
    mlflow = _import_mlflow()
    mlflow.set_tracking_uri(tracking_uri)
    mlflow.set_experiment(experiment)
    logged = 0
    for cell, done in cells:
        name = done.folder.name
        if len(mlflow.search_runs(filter_string=f"tags.cell = '{name}'")):
            continue
        with mlflow.start_run(run_name=cell.name):
            tags = {"cell": name, "condition": cell.condition, **done.record.versions}
            mlflow.set_tags(tags)
            mlflow.log_params(dict(_flatten(done.record.parameters)))
            mlflow.log_metrics(dict(_list_metrics(done)))
            for epoch in done.history:
                mlflow.log_metrics(dict(_list_numbers(epoch)), step=epoch["epoch"])
            mlflow.log_artifacts(str(done.folder))
        logged += 1
    return logged


def _import_mlflow() -> Any:
    try:
        return import_module("mlflow")
    except ImportError as exc:
        raise ConfigurationError(
            "Expected MLflow to be installed for tracking; run "
            "`pip install 'mathamr-kedro[mlflow]'`"
        ) from exc


def _flatten(values: Mapping[str, Any], place: str = "") -> Iterator[tuple[str, str]]:
    for key, value in values.items():
        name = f"{place}.{key}" if place else str(key)
        if isinstance(value, Mapping):
            yield from _flatten(value, name)
        else:
            yield name, str(value)[:_MAX_LENGTH]


def _list_metrics(done: FinishedCell) -> Iterator[tuple[str, float]]:
    for found in done.metrics:
        place = f"{found['system']}/task{found['task']}/{found['topic_set']}"
        yield _clean(f"{place}/{found['measure']}"), float(found["mean"])
    for task in (1, 2):
        costs = done.costs(task)
        for name, value in costs.figures().items():
            yield _clean(f"{name} task{task}" if name in _BY_TASK else name), value
        for system in costs.systems:
            qps = costs.figures(system).get("QPS", 0.0)
            yield _clean(f"QPS {system} task{task}"), qps


def _list_numbers(epoch: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    for name, value in epoch.items():
        if isinstance(value, int | float) and name != "epoch":
            yield name, float(value)


def _clean(name: str) -> str:
    # MLflow allows letters, digits, spaces and _-./: in names.
    return "".join(c if c.isalnum() or c in "_-. /:" else "_" for c in name)
