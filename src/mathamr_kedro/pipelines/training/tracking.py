"""Tracking of trainings by MLflow, for those who compare many of them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from mathamr_kedro.errors import ConfigurationError
from mathamr_kedro.experiments.trainings import TrackingConfig

RUN = "mlflow_run.json"
"""Beside a training that was tracked: a training is tracked once per place."""
_PLAIN = (int, float)


def flatten(values: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Return nested settings under dotted names.

    >>> flatten({"loss": {"beta": 0.3}, "seed": 1})
    {'loss.beta': 0.3, 'seed': 1}
    """
    flat: dict[str, Any] = {}
    for key, value in values.items():
        if isinstance(value, Mapping):
            flat |= flatten(value, f"{prefix}{key}.")
        else:
            flat[f"{prefix}{key}"] = value
    return flat


def check_tracking(settings: TrackingConfig) -> None:
    """Refuse tracking without its package, before a training spends hours."""
    if settings.mlflow is not None and find_spec("mlflow") is None:
        raise ConfigurationError(
            "Expected the package mlflow for training.tracking.mlflow; "
            'pip install "mathamr-kedro[mlflow]", or set it to null'
        )


def track_training(
    settings: TrackingConfig,
    described: Mapping[str, Any],
    history: Sequence[Mapping[str, Any]],
    folder: Path,
    model_dir: Path,
) -> None:
    """Write parameters, the measures of each epoch and the model to MLflow, once."""
    if settings.mlflow is None:
        return
    check_tracking(settings)
    note = folder / RUN
    known = json.loads(note.read_text(encoding="utf-8")) if note.is_file() else {}
    if settings.mlflow in known:
        return
    mlflow = import_module("mlflow")
    mlflow.set_tracking_uri(settings.mlflow)
    mlflow.set_experiment(settings.experiment)
    with mlflow.start_run(run_name=folder.name) as run:
        mlflow.log_params(flatten(described))
        for record in history:
            measures = {k: v for k, v in record.items() if isinstance(v, _PLAIN)}
            mlflow.log_metrics(measures, step=int(record["epoch"]))
        mlflow.log_artifacts(str(model_dir), artifact_path="model")
        known[settings.mlflow] = run.info.run_id
    note.write_text(json.dumps(known, indent=2) + "\n", encoding="utf-8")
