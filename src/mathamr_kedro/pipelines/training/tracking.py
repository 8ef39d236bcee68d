"""Tracking of trainings by MLflow."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from mathamr_kedro.experiments.trainings import TrackingConfig

_RUN = "mlflow_run.json"
"""Beside a training that was tracked: a training is tracked once per place."""
_EXPERIMENT = "mathamr_plus"
_PLAIN = (int, float)


class Tracker:
    """Writes trainings to MLflow, if that is asked for.

    Raises:
        ConfigurationError: the package is missing; raised before the training.
    """

    def __init__(self, config: TrackingConfig) -> None:
        config.check_machine()
        self._config = config

    def track(
        self,
        described: Mapping[str, Any],
        history: Sequence[Mapping[str, Any]],
        folder: Path,
        model_dir: Path,
    ) -> None:
        """Write parameters, the measures of each epoch and the model, once."""
        place = self._config.mlflow
        if place is None:
            return
        note = folder / _RUN
        known = json.loads(note.read_text(encoding="utf-8")) if note.is_file() else {}
        if place in known:
            return
        mlflow = import_module("mlflow")
        mlflow.set_tracking_uri(place)
        mlflow.set_experiment(_EXPERIMENT)
        with mlflow.start_run(run_name=folder.name) as run:
            mlflow.log_params(_flatten(described))
            for record in history:
                measures = {k: v for k, v in record.items() if isinstance(v, _PLAIN)}
                mlflow.log_metrics(measures, step=int(record["epoch"]))
            mlflow.log_artifacts(str(model_dir), artifact_path="model")
            known[place] = run.info.run_id
        note.write_text(json.dumps(known, indent=2) + "\n", encoding="utf-8")


def _flatten(values: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Return nested settings under dotted names.

    >>> _flatten({"loss": {"beta": 0.3}, "seed": 1})
    {'loss.beta': 0.3, 'seed': 1}
    """
    flat: dict[str, Any] = {}
    for key, value in values.items():
        if isinstance(value, Mapping):
            flat |= _flatten(value, f"{prefix}{key}.")
        else:
            flat[f"{prefix}{key}"] = value
    return flat
