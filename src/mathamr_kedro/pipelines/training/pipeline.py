"""Wiring of the training stage."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from kedro.pipeline import Pipeline

from mathamr_kedro.base.parameters import read_parameters
from mathamr_kedro.datasets.artefact import TABLES, collect
from mathamr_kedro.model import ComputeConfig
from mathamr_kedro.pipelines import box, make_node
from mathamr_kedro.pipelines.training import nodes
from mathamr_kedro.systems import learns, list_systems, read_system
from mathamr_kedro.systems.registry import OWN
from mathamr_kedro.systems.training import Prepared, Training


def create_pipeline(parameters: Mapping[str, Any]) -> Pipeline:
    """Return the stage: what systems learn from in, their models out.

    Args:
        parameters: of the environment.
    """
    return box(
        "training",
        *fit_systems(parameters),
        make_node(
            nodes.report_training,
            ["training_history", "training_report", "training_figure"],
            model="mathamr_plus.model",
        ),
    )


def fit_systems(parameters: Mapping[str, Any]) -> Iterator[Pipeline]:
    """Yield a pipeline for each system that learns: a collection in, its model out."""
    for name, values in list_systems(parameters).items():
        system = read_system(name, values)
        if learns(system):
            yield _fit_system(name, values, system.training_reads)


def _fit_system(name: str, values: Mapping[str, Any], reads: Sequence[str]) -> Pipeline:
    def prepare(
        parameters: Mapping[str, Any], folders: Mapping[str, str], **tables: Any
    ) -> Prepared:
        """Write what the training of a system reads, or find it."""
        base, seed = Path(folders["prepared"]) / name, int(parameters["seed"])
        return Prepared.make(base, name, values, seed, collect(tables))

    def fit(
        prepared: Any, parameters: Mapping[str, Any], folders: Mapping[str, str]
    ) -> Training:
        """Train a system, or resume its training, where ``training.compute`` says."""
        stated = parameters.get("compute") or {}
        compute = read_parameters(ComputeConfig, stated, "training.compute")
        compute.check_machine()
        base, seed = Path(folders["models"]) / name, int(parameters["seed"])
        training = Training.begin(base, name, values, seed, prepared)
        training.train(compute)
        return training

    fitted = make_node(fit, f"{name}.model", tags="gpu", prepared=f"{name}.prepared")
    if name == OWN:  # its graphs are prepared in a stage of their own
        return box(name, fitted)
    inputs = {part: TABLES[part] for part in reads}
    return box(name, make_node(prepare, f"{name}.prepared", **inputs), fitted)
