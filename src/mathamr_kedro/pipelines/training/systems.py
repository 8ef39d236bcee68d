"""Nodes that fit systems of papers, or a user's own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from kedro.pipeline import Pipeline, node

from mathamr_kedro.base.parameters import read_parameters
from mathamr_kedro.datasets.systems import TABLES, Preparation, collect
from mathamr_kedro.model import ComputeConfig
from mathamr_kedro.pipelines import box
from mathamr_kedro.systems import learns, read_system
from mathamr_kedro.systems.training import Training


def fit_systems(parameters: Mapping[str, Any]) -> Iterator[Pipeline]:
    """Yield a pipeline for each system that learns: a collection in, its model out."""
    for name, values in (parameters.get("systems") or {}).items():
        system = read_system(name, values or {})
        if learns(system):
            yield _fit_system(name, values or {}, system.READS)


def _fit_system(name: str, values: Mapping[str, Any], reads: Sequence[str]) -> Pipeline:
    def prepare(training: Mapping[str, Any], **tables: Any) -> Preparation:
        """Write what the training of a system reads."""
        return Preparation(name, values, int(training["seed"]), collect(tables))

    return box(
        name,
        node(
            prepare,
            inputs={
                "training": "params:training",
                **{part: TABLES[part] for part in reads},
            },
            outputs=f"{name}.prepared",
            name="prepare",
        ),
        node(
            fit,
            inputs={"prepared": f"{name}.prepared", "training": "params:training"},
            outputs=f"{name}.model",
            name="fit",
            tags="gpu",
        ),
    )


def fit(prepared: Training, training: Mapping[str, Any]) -> Training:
    """Train a system, or resume its training, where ``training.compute`` says."""
    values = training.get("compute") or {}
    prepared.compute = read_parameters(ComputeConfig, values, "training.compute")
    prepared.compute.check_machine()
    return prepared
